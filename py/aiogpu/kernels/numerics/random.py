"""Random words by Philox4x32-10, and numbers made of them.

J. Salmon, M. Moraes, R. Dror and D. Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011): a
word is a function of its number in a stream, so every element computes its own. Element ``i`` has
word ``i`` of those that follow a position, which counts blocks of four words. All is integer
arithmetic but for the last step, so adapters agree to the bit.
"""

from aiogpu.kernels.numerics.function import parse

FUNCTIONS = parse(
    """
fn ag_mul_high_u32(a: u32, b: u32) -> u32 {
  let ah = a >> 16u;
  let al = a & 0xffffu;
  let bh = b >> 16u;
  let bl = b & 0xffffu;
  let cross = ah * bl + ((al * bl) >> 16u);
  let middle = al * bh + (cross & 0xffffu);
  return ah * bh + (cross >> 16u) + (middle >> 16u);
}

fn ag_philox(counter: vec4<u32>, key: vec2<u32>) -> vec4<u32> {
  var c = counter;
  var k = key;
  for (var turn = 0u; turn < 10u; turn++) {
    let high = vec2<u32>(
      ag_mul_high_u32(0xcd9e8d57u, c.z), ag_mul_high_u32(0xd2511f53u, c.x));
    c = vec4<u32>(high.x ^ c.y ^ k.x, 0xcd9e8d57u * c.z, high.y ^ c.w ^ k.y, 0xd2511f53u * c.x);
    k = k + vec2<u32>(0x9e3779b9u, 0xbb67ae85u);
  }
  return c;
}

// The four words among which word i is; the position has two words, the lower first.
fn ag_random_block(i: u32, k0: u32, k1: u32, p0: u32, p1: u32) -> vec4<u32> {
  let low = p0 + (i >> 2u);
  let high = p1 + select(0u, 1u, low < p0);
  return ag_philox(vec4<u32>(low, high, 0u, 0u), vec2<u32>(k0, k1));
}

fn ag_random_bits(i: u32, k0: u32, k1: u32, p0: u32, p1: u32) -> u32 {
  let block = ag_random_block(i, k0, k1, p0, p1);
  let pair = select(block.xy, block.zw, (i & 2u) != 0u);
  return select(pair.x, pair.y, (i & 1u) != 0u);
}

// In [0, 1), a multiple of 2^-24.
fn ag_random_unit(bits: u32) -> f32 {
  return f32(bitcast<i32>(bits >> 8u)) * 0x1p-24;
}

// In [0, count), or any word where count is 0, which stands for 2^32.
fn ag_random_below(bits: u32, count: u32) -> u32 {
  return select(ag_mul_high_u32(bits, count), bits, count == 0u);
}

// Nothing is fused or reassociated across a zero that the compiler cannot know.
fn ag_random_between(zero: u32, unit: f32, low: f32, high: f32) -> f32 {
  let width = ag_opaque(high - low, zero);
  return low + ag_opaque(width * unit, zero);
}

// In (0, 1): the leading 24 bits from the first one on, so that it is a float.
fn ag_random_open(bits: u32) -> f32 {
  let leading = bits & ~(0xffu >> min(countLeadingZeros(bits), 31u));
  return select(ag_u32_to_f32(leading) * 0x1p-32, 0x1p-33, bits == 0u);
}

// G. Box and M. Muller, "A note on the generation of random normal deviates" (1958): two words give
// two numbers, the cosine to the even element and the sine to the odd one. The angle is a whole
// number of 2^-24 turns, so its quadrant and the rest are exact.
fn ag_random_normal(i: u32, k0: u32, k1: u32, p0: u32, p1: u32) -> f32 {
  let block = ag_random_block(i, k0, k1, p0, p1);
  let pair = select(block.xy, block.zw, (i & 2u) != 0u);
  let radius = ag_sqrt(-2.0 * ag_log(ag_random_open(pair.x)));
  let turns = bitcast<i32>(pair.y >> 8u);
  let quadrant = (turns + 0x200000) >> 22u;
  let both = ag_sin_cos(f32(turns - (quadrant << 22u)) * 3.7450704e-7);
  let n = bitcast<u32>(quadrant) + 3u * (i & 1u);
  let y = bitcast<u32>(radius * select(both.y, both.x, (n & 1u) != 0u));
  return bitcast<f32>(y ^ (((n + 1u) << 30u) & 0x80000000u));
}
"""
)
