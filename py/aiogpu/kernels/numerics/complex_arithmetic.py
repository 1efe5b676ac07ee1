"""Arithmetic of complex64: a ``vec2f``, the real part in x, the imaginary one in y.

Products are by the textbook, as NumPy's are, also where that gives NaN for infinities. Quotients
and roots first take the operands' exponents off, so that they are finite wherever the true result
is; infinities and zero divisors give what C99 recommends (ISO/IEC 9899:1999, G.5.1).
"""

from aiogpu.kernels.numerics.function import parse

FUNCTIONS = parse(
    """
// x * 2^n for n within a thousand of 0; 0 where that is below the normal floats.
fn ag_ldexp(x: f32, n: i32) -> f32 {
  let bits = bitcast<u32>(x);
  let magnitude = bits & 0x7fffffffu;
  let k = ag_normalized(magnitude);
  let e = (k >> 23u) + n;
  var r = select(bitcast<u32>((k & 0x007fffff) | (e << 23u)), 0x7f800000u, e > 254);
  r = select(r, 0u, e < 1 || magnitude == 0u);
  r = select(r, magnitude, magnitude >= 0x7f800000u);
  return bitcast<f32>(r | (bits & 0x80000000u));
}

fn ag_cldexp(z: vec2f, n: i32) -> vec2f {
  return vec2f(ag_ldexp(z.x, n), ag_ldexp(z.y, n));
}

// The magnitude bits of the larger part, and of the smaller one.
fn ag_cmagnitudes(z: vec2f) -> vec2u {
  let bits = bitcast<vec2u>(z) & vec2u(0x7fffffffu);
  return vec2u(max(bits.x, bits.y), min(bits.x, bits.y));
}

// The exponent of the larger part, also where it is subnormal; z is finite.
fn ag_cexponent(z: vec2f) -> i32 {
  return (ag_normalized(ag_cmagnitudes(z).x) >> 23u) - 127;
}

fn ag_cisnan(z: vec2f) -> bool {
  return ag_cmagnitudes(z).x > 0x7f800000u;
}

fn ag_cisinf(z: vec2f) -> bool {
  return ag_isinf(z.x) || ag_isinf(z.y);
}

fn ag_cisfinite(z: vec2f) -> bool {
  return ag_cmagnitudes(z).x < 0x7f800000u;
}

fn ag_ceq(a: vec2f, b: vec2f) -> bool {
  return a.x == b.x && a.y == b.y && !ag_cisnan(a) && !ag_cisnan(b);
}

fn ag_cne(a: vec2f, b: vec2f) -> bool {
  return !ag_ceq(a, b);
}

fn ag_conj(z: vec2f) -> vec2f {
  return vec2f(z.x, bitcast<f32>(bitcast<u32>(z.y) ^ 0x80000000u));
}

fn ag_cabs(z: vec2f) -> f32 {
  return ag_hypot(z.x, z.y);
}

fn ag_cmul(a: vec2f, b: vec2f) -> vec2f {
  return vec2f(ag_sub_f32(a.x * b.x, a.y * b.y), ag_add_f32(a.x * b.y, a.y * b.x));
}

// Mesa makes x (y + y) of xy + yx and of xy + xy, which overflows too early: doubled by its bits.
fn ag_csquare(z: vec2f) -> vec2f {
  return vec2f(ag_sub_f32(z.x * z.x, z.y * z.y), ag_ldexp(z.x * z.y, 1));
}

// Infinity times x: NaN for 0.
fn ag_times_inf(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let invalid = (bits & 0x7fffffffu) - 1u >= 0x7f800000u;
  return select(ag_copysign(ag_inf(), x), ag_nan(), invalid);
}

// Infinite parts become 1, all others 0, with their signs.
fn ag_cbox(z: vec2f) -> vec2f {
  return vec2f(
    ag_copysign(select(0.0, 1.0, ag_isinf(z.x)), z.x),
    ag_copysign(select(0.0, 1.0, ag_isinf(z.y)), z.y),
  );
}

// Quotients of what is not finite, or by 0.
fn ag_cdiv_special(a: vec2f, b: vec2f) -> vec2f {
  if (ag_cmagnitudes(b).x == 0u) {
    let sign = ag_copysign(1.0, b.x);
    return vec2f(ag_times_inf(sign * a.x), ag_times_inf(sign * a.y));
  }
  let p = ag_cbox(a);
  let q = ag_cbox(b);
  if (ag_cisinf(a) && ag_cisfinite(b)) {
    return vec2f(ag_times_inf(p.x * b.x + p.y * b.y), ag_times_inf(p.y * b.x - p.x * b.y));
  }
  if (ag_cisinf(b) && ag_cisfinite(a)) {
    return vec2f(
      ag_copysign(0.0, a.x * q.x + a.y * q.y),
      ag_copysign(0.0, a.y * q.x - a.x * q.y),
    );
  }
  return vec2f(ag_nan(), ag_nan());
}

fn ag_cdiv(a: vec2f, b: vec2f) -> vec2f {
  let most = ag_cmagnitudes(b).x;
  if (most - 1u >= 0x7f7fffffu || !ag_cisfinite(a)) {
    return ag_cdiv_special(a, b);
  }
  let ka = ag_cexponent(a);
  let kb = ag_cexponent(b);
  let p = ag_cldexp(a, -ka);
  let q = ag_cldexp(b, -kb);
  let norm = q.x * q.x + q.y * q.y;
  let re = ag_div_f32(p.x * q.x + p.y * q.y, norm);
  let im = ag_div_f32(p.y * q.x - p.x * q.y, norm);
  return ag_cldexp(vec2f(re, im), ka - kb);
}

fn ag_creciprocal(z: vec2f) -> vec2f {
  return ag_cdiv(vec2f(1.0, 0.0), z);
}

// z / |z|. One infinite part alone gives the direction, as in NumPy; two do not.
fn ag_csign(z: vec2f) -> vec2f {
  let bits = ag_cmagnitudes(z);
  if (bits.x > 0x7f800000u || bits.y == 0x7f800000u) {
    return vec2f(ag_nan(), ag_nan());
  }
  if (bits.x == 0x7f800000u) {
    return ag_cbox(z);
  }
  if (bits.x == 0u) {
    return vec2f(0.0, 0.0);
  }
  let p = ag_cldexp(z, -ag_cexponent(z));
  let modulus = ag_root(p.x * p.x + p.y * p.y);
  return vec2f(ag_div_f32(p.x, modulus), ag_div_f32(p.y, modulus));
}

// Roots of what is not finite.
fn ag_csqrt_special(z: vec2f) -> vec2f {
  if (ag_isinf(z.y)) {
    return vec2f(ag_inf(), z.y);
  }
  if (!ag_isinf(z.x)) {
    return vec2f(ag_nan(), ag_nan());
  }
  let zero = ag_copysign(0.0, z.y);
  let infinite = ag_copysign(ag_inf(), z.y);
  let negative = bitcast<i32>(z.x) < 0;
  let re = select(ag_inf(), select(0.0, z.y, ag_isnan(z.y)), negative);
  return vec2f(re, select(select(zero, z.y, ag_isnan(z.y)), infinite, negative));
}

// The larger part of the root is sqrt((|x| + |z|) / 2), the other follows from y without
// cancellation. The scale has an even exponent.
fn ag_csqrt(z: vec2f) -> vec2f {
  let most = ag_cmagnitudes(z).x;
  if (most >= 0x7f800000u) {
    return ag_csqrt_special(z);
  }
  if (most == 0u) {
    return vec2f(0.0, z.y);
  }
  let k = ag_cexponent(z) >> 1u;
  let p = abs(ag_cldexp(z, -2 * k));
  let modulus = select(ag_root(p.x * p.x + p.y * p.y), p.x, p.y == 0.0);
  let large = ag_ldexp(ag_root(0.5 * (p.x + modulus)), k);
  let small = ag_div_f32(abs(z.y), 2.0 * large);
  let negative = bitcast<i32>(z.x) < 0;
  return vec2f(select(large, small, negative), ag_copysign(select(small, large, negative), z.y));
}
"""
)
