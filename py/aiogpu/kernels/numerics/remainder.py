"""Floor division and remainder of float32, as the Array API's ``floor_divide`` and ``remainder``.

Infinities follow the standard, where NumPy goes by the remainder: inf // 2 is inf, 1 // -inf is -0.

Both stand on the exact remainder of truncated division, found by long division of the mantissas:
a rounded quotient is whole where the true one is not, and then the sign of the remainder is wrong.
"""

from aiogpu.kernels.numerics.function import parse

FUNCTIONS = parse(
    """
// The remainder with the sign of a: eight bits of the quotient a turn, at most 32 turns.
fn ag_fmod(a: f32, b: f32) -> f32 {
  let ba = bitcast<u32>(a);
  let aa = ba & 0x7fffffffu;
  let ab = bitcast<u32>(b) & 0x7fffffffu;
  if (aa >= 0x7f800000u || ab > 0x7f800000u || ab == 0u) {
    let kept = select(0x7fc00000u, ba | 0x00400000u, aa > 0x7f800000u);
    return bitcast<f32>(select(kept, ab | 0x00400000u, ab > 0x7f800000u));
  }
  if (aa < ab) {
    return a;
  }
  let ea = max(aa >> 23u, 1u);
  let eb = max(ab >> 23u, 1u);
  let mb = (ab & 0x007fffffu) | select(0u, 0x00800000u, ab >= 0x00800000u);
  var m = (aa & 0x007fffffu) | select(0u, 0x00800000u, aa >= 0x00800000u);
  m = m % mb;
  var left = ea - eb;
  while (left > 0u && m != 0u) {
    let turn = min(left, 8u);
    m = (m << turn) % mb;
    left = left - turn;
  }
  // m * 2^(eb - 150): the leading bit goes up to place 23, or as far as the exponent allows.
  let up = min(countLeadingZeros(m | 1u) - 8u, eb - 1u);
  m = m << up;
  let magnitude = select(m, (m & 0x007fffffu) | ((eb - up) << 23u), m >= 0x00800000u);
  return bitcast<f32>(magnitude | (ba & 0x80000000u));
}

fn ag_mod_f32(a: f32, b: f32) -> f32 {
  let r = ag_fmod(a, b);
  let br = bitcast<u32>(r);
  let bb = bitcast<u32>(b);
  let moved = select(r, r + b, ((br ^ bb) & 0x80000000u) != 0u);
  let result = select(moved, bitcast<f32>(bb & 0x80000000u), (br & 0x7fffffffu) == 0u);
  return select(result, r, (br & 0x7fffffffu) > 0x7f800000u);
}

fn ag_floordiv_f32(a: f32, b: f32) -> f32 {
  let q = ag_div_f32(a, b);
  let r = ag_fmod(a, b);
  let br = bitcast<u32>(r);
  let opposite = ((br ^ bitcast<u32>(b)) & 0x80000000u) != 0u && (br & 0x7fffffffu) != 0u;
  let exact = ag_div_f32(a - r, b) - select(0.0, 1.0, opposite);
  let whole = floor(exact);
  let rounded = whole + select(0.0, 1.0, exact - whole > 0.5);
  let zero = bitcast<f32>(bitcast<u32>(q) & 0x80000000u);
  let result = select(rounded, zero, (bitcast<u32>(exact) & 0x7fffffffu) == 0u);
  // With an infinity the quotient is infinite, a zero or NaN, and as whole as it gets.
  let unusual = ag_isnan(r) || ag_isinf(b) || (bitcast<u32>(b) & 0x7fffffffu) == 0u;
  return select(result, q, unusual);
}
"""
)
