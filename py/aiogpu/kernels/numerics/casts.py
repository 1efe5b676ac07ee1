"""Casts between the element types, the same on every adapter.

Float to integer truncates and saturates at the ends, NaN gives 0. float16 and bfloat16 are packed
and rounded to by integer code: WGSL's ``pack2x16float`` gives NaN for what overflows, and naga
refuses to bitcast between f16 and u32.
"""

from aiogpu.kernels.numerics.function import parse

FUNCTIONS = parse(
    """
// The ends are compared as floats, since 2^31 - 1 and 2^32 - 1 are not floats.
fn ag_f32_to_i32(x: f32) -> i32 {
  let inside = i32(clamp(x, -2147483648.0, 2147483520.0));
  return select(select(inside, 0x7fffffff, x >= 2147483648.0), 0, ag_isnan(x));
}

fn ag_f32_to_u32(x: f32) -> u32 {
  let inside = u32(clamp(x, 0.0, 4294967040.0));
  return select(select(inside, 0xffffffffu, x >= 4294967296.0), 0u, ag_isnan(x));
}

// True but for 0 and -0; a comparison may take NaN or what is subnormal for 0.
fn ag_truth(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) != 0u;
}

fn ag_f32_to_u8(x: f32) -> u32 {
  return select(u32(clamp(x, 0.0, 255.0)), 0u, ag_isnan(x));
}

fn ag_f32_to_u16(x: f32) -> u32 {
  return select(u32(clamp(x, 0.0, 65535.0)), 0u, ag_isnan(x));
}

fn ag_f32_to_i8(x: f32) -> i32 {
  return select(i32(clamp(x, -128.0, 127.0)), 0, ag_isnan(x));
}

fn ag_f32_to_i16(x: f32) -> i32 {
  return select(i32(clamp(x, -32768.0, 32767.0)), 0, ag_isnan(x));
}

fn ag_i32_to_f32(a: i32) -> f32 {
  return f32(a);
}

// In halves, which are exact: SwiftShader rounds one in twelve wrongly when it converts the whole.
fn ag_u32_to_f32(a: u32) -> f32 {
  return f32(a >> 16u) * 65536.0 + f32(a & 0xffffu);
}

// float16 in the low half. Both roundings add just under half of the last place kept, and one more
// when that place is odd: to nearest, ties to even; a carry runs into the exponent, as it should.
fn ag_f32_to_f16(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let magnitude = bits & 0x7fffffffu;
  let normal = (magnitude + 0xfffu + ((magnitude >> 13u) & 1u) - 0x38000000u) >> 13u;
  let mantissa = (magnitude & 0x007fffffu) | 0x00800000u;
  let shift = clamp(126u - min(magnitude >> 23u, 112u), 14u, 25u);
  let odd = (mantissa >> shift) & 1u;
  let subnormal = (mantissa + (1u << (shift - 1u)) - 1u + odd) >> shift;
  var half = select(min(normal, 0x7c00u), subnormal, magnitude < 0x38800000u);
  half = select(half, 0x7e00u, magnitude > 0x7f800000u);
  return half | ((bits >> 16u) & 0x8000u);
}

fn ag_f16_to_f32(half: u32) -> f32 {
  let magnitude = half & 0x7fffu;
  let exponent = select(0x38000000u, 0x70000000u, magnitude >= 0x7c00u);
  let normal = (magnitude << 13u) + exponent;
  let subnormal = bitcast<u32>(f32(magnitude) * 0x1p-24f);
  let bits = select(normal, subnormal, magnitude < 0x0400u);
  return bitcast<f32>(bits | ((half & 0x8000u) << 16u));
}

// The nearest float16, ties to even, as a float32; from 65520 on it is infinite. Below 2^-14 more
// places are dropped, up to all 23 in [2^-24, 2^-23): there the last bit of the exponent, 1, stands
// for the leading bit. Below 2^-24 there are only 0 and, past the tie, 2^-24.
fn ag_round_f16(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let magnitude = bits & 0x7fffffffu;
  let drop = clamp(126u - min(magnitude >> 23u, 113u), 13u, 23u);
  let last = (1u << drop) - 1u;
  let near = (magnitude + (last >> 1u) + ((magnitude >> drop) & 1u)) & ~last;
  let least = select(0u, 0x33800000u, magnitude > 0x33000000u);
  var half = select(near, least, magnitude < 0x33800000u);
  half = select(half, 0x7f800000u, near >= 0x47800000u);
  half = select(half, 0x7fc00000u, magnitude > 0x7f800000u);
  return bitcast<f32>(half | (bits & 0x80000000u));
}

// bfloat16 in the low half; NaN is made quiet, lest its payload be rounded away to infinity.
fn ag_f32_to_bf16(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let rounded = (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
  return select(rounded, (bits >> 16u) | 0x40u, ag_isnan(x));
}

fn ag_bf16_to_f32(half: u32) -> f32 {
  return bitcast<f32>(half << 16u);
}
"""
)
