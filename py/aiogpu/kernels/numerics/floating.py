"""Bits and specials of float32: tests, signs, neighbours, extremes and rounding.

All tests are made on bits: a compiler may assume that no NaN exists and fold ``x != x``.
"""

from aiogpu.kernels.numerics.function import parse

FUNCTIONS = parse(
    """
fn ag_isnan(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

fn ag_isinf(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) == 0x7f800000u;
}

fn ag_isfinite(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) < 0x7f800000u;
}

fn ag_iszero(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) == 0u;
}

// A variable, because a constant expression that gives NaN or infinity is a shader-creation error.
fn ag_nan() -> f32 {
  var bits = 0x7fc00000u;
  return bitcast<f32>(bits);
}

fn ag_inf() -> f32 {
  var bits = 0x7f800000u;
  return bitcast<f32>(bits);
}

fn ag_signbit(x: f32) -> bool {
  return bitcast<i32>(x) < 0;
}

fn ag_copysign(x: f32, y: f32) -> f32 {
  return bitcast<f32>((bitcast<u32>(x) & 0x7fffffffu) | (bitcast<u32>(y) & 0x80000000u));
}

// An integer that orders as the floats do, -0 below +0, positive NaN above everything.
fn ag_order(x: f32) -> i32 {
  let bits = bitcast<i32>(x);
  return bits ^ ((bits >> 31u) & 0x7fffffff);
}

fn ag_nextafter(x: f32, y: f32) -> f32 {
  let bx = bitcast<u32>(x);
  let by = bitcast<u32>(y);
  let ax = bx & 0x7fffffffu;
  let ay = by & 0x7fffffffu;
  let outward = (ag_order(x) < ag_order(y)) == (bx < 0x80000000u);
  var bits = select(bx - 1u, bx + 1u, outward);
  bits = select(bits, (by & 0x80000000u) | 1u, ax == 0u);
  bits = select(bits, by, bx == by || (ax | ay) == 0u);
  bits = select(bits, bx | 0x00400000u, ax > 0x7f800000u);
  return bitcast<f32>(select(bits, by | 0x00400000u, ay > 0x7f800000u));
}

// Among the float16 numbers: x and y are of them.
fn ag_nextafter_f16(x: f32, y: f32) -> f32 {
  let half = ag_f32_to_f16(x);
  let outward = (ag_order(x) < ag_order(y)) == (half < 0x8000u);
  var bits = select(half - 1u, half + 1u, outward);
  bits = select(bits, ((bitcast<u32>(y) >> 16u) & 0x8000u) | 1u, x == 0.0);
  let next = ag_f16_to_f32(bits);
  let same = bitcast<u32>(x) == bitcast<u32>(y) || (x == 0.0 && y == 0.0);
  return select(select(select(next, y, same), x, ag_isnan(x)), y, ag_isnan(y));
}

fn ag_max_f32(a: f32, b: f32) -> f32 {
  let larger = select(b, a, ag_order(a) > ag_order(b));
  return select(select(larger, b, ag_isnan(b)), a, ag_isnan(a));
}

fn ag_min_f32(a: f32, b: f32) -> f32 {
  let smaller = select(b, a, ag_order(a) < ag_order(b));
  return select(select(smaller, b, ag_isnan(b)), a, ag_isnan(a));
}

fn ag_sign_f32(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let magnitude = bits & 0x7fffffffu;
  let one = bitcast<f32>((bits & 0x80000000u) | 0x3f800000u);
  return select(select(one, 0.0, magnitude == 0u), x, magnitude > 0x7f800000u);
}

// The four roundings: above 2^23 every float is whole, and so are infinities and NaN kept. The sign
// is put back because -0.25 rounds to -0.
fn ag_keep_whole(rounded: f32, x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let whole = bitcast<f32>(bitcast<u32>(rounded) | (bits & 0x80000000u));
  return select(whole, x, (bits & 0x7fffffffu) >= 0x4b000000u);
}

fn ag_floor(x: f32) -> f32 {
  return ag_keep_whole(floor(x), x);
}

fn ag_ceil(x: f32) -> f32 {
  return ag_keep_whole(ceil(x), x);
}

fn ag_trunc(x: f32) -> f32 {
  return ag_keep_whole(trunc(x), x);
}

fn ag_round(x: f32) -> f32 {
  return ag_keep_whole(round(x), x);
}
"""
)
