"""sin, cos, tan, sinh, cosh, tanh of complex64 and their inverses, with C99's cuts and specials.

The hyperbolic functions are written out; the circular ones are they with real and imaginary part
exchanged. asin and acos are made of the roots of 1 - z and 1 + z, in whose products nothing
cancels, and atanh of one logarithm and one arc tangent (W. Kahan, "Branch cuts for complex
elementary functions, or much ado about nothing's sign bit", 1987). Far out asin and acos are
logarithms. The special values are those of ISO/IEC 9899:1999, annex G.6.
"""

from aiogpu.kernels.numerics.function import parse

FUNCTIONS = parse(
    """
// cosh(a) and sinh(a) for a in [0, 88].
fn ag_cosh_sinh(a: f32) -> vec2f {
  let half = ag_exp_scaled(a, -1);
  let inverse = 0.25 / half;
  return vec2f(half + inverse, select(half - inverse, ag_sinh_near(a), a < 1.0));
}

// cosh(x) times f.x and sinh(x) times f.y.
fn ag_times_cosh_sinh(x: f32, f: vec2f) -> vec2f {
  let a = abs(x);
  let near = ag_cosh_sinh(min(a, 88.0)) * f;
  let both = select(near, ag_times_cexp(f, a, -1), bitcast<u32>(a) > 0x42b00000u);
  return vec2f(both.x, bitcast<f32>(bitcast<u32>(both.y) ^ (bitcast<u32>(x) & 0x80000000u)));
}

// w, sinh or cosh of z, where x is finite or infinite and y finite; else what both have in common.
fn ag_chyperbolic_special(z: vec2f, w: vec2f, infinite: f32) -> vec2f {
  let other = vec2f(select(ag_nan(), infinite, ag_isinf(z.x)), ag_nan());
  return select(other, w, !ag_isnan(z.x) && ag_isfinite(z.y));
}

// On either axis the imaginary part is a 0, also beside what has no sine.
fn ag_ccosh(z: vec2f) -> vec2f {
  let w = ag_times_cosh_sinh(z.x, ag_cis(z.y, 0.0));
  let special = ag_chyperbolic_special(z, w, ag_inf());
  let zero = bitcast<f32>((bitcast<u32>(z.x) ^ bitcast<u32>(z.y)) & 0x80000000u);
  let lost = ag_isnan(special.y) && (ag_iszero(z.x) || ag_iszero(z.y));
  return vec2f(special.x, select(special.y, zero, lost));
}

// A real argument keeps its 0; an imaginary one gives a 0 also beside what has no cosine.
fn ag_csinh(z: vec2f) -> vec2f {
  let w = ag_times_cosh_sinh(z.x, ag_cis(z.y, 0.0).yx).yx;
  let special = ag_chyperbolic_special(z, w, ag_copysign(ag_inf(), z.x));
  let lost = ag_iszero(z.x) && !ag_isfinite(z.y);
  return select(special, z, vec2<bool>(lost, ag_iszero(z.y)));
}

// (sinh(x) cosh(x) + i sin(y) cos(y)) / (sinh(x)^2 + cos(y)^2); from 44 on 1 and a 0.
fn ag_ctanh(z: vec2f) -> vec2f {
  let circle = ag_cis(z.y, 0.0);
  let hyperbola = ag_cosh_sinh(min(abs(z.x), 44.0));
  let norm = hyperbola.y * hyperbola.y + circle.x * circle.x;
  let turn = circle.x * circle.y;
  let re = ag_copysign(ag_div_f32(hyperbola.x * hyperbola.y, norm), z.x);
  let near = vec2f(re, ag_div_f32(turn, norm));
  let side = select(z.y, turn, ag_isfinite(z.y));
  let far = vec2f(ag_copysign(1.0, z.x), ag_copysign(0.0, side));
  let bits = bitcast<u32>(z.x) & 0x7fffffffu;
  let end = bits >= 0x42300000u && (ag_isfinite(z.y) || bits == 0x7f800000u);
  let w = select(near, far, end);
  let special = select(w, vec2f(ag_nan(), ag_nan()), bits > 0x7f800000u
    || (!ag_isfinite(z.y) && bits < 0x7f800000u));
  return select(special, z, vec2<bool>(ag_iszero(z.x), ag_iszero(z.y)));
}

fn ag_csin(z: vec2f) -> vec2f {
  return ag_csinh(z.yx).yx;
}

fn ag_ccos(z: vec2f) -> vec2f {
  return ag_ccosh(vec2f(bitcast<f32>(bitcast<u32>(z.y) ^ 0x80000000u), z.x));
}

fn ag_ctan(z: vec2f) -> vec2f {
  return ag_ctanh(z.yx).yx;
}

// Whether asin and acos are logarithms: from 2^30 on, and of what is not finite.
fn ag_is_far(z: vec2f) -> bool {
  return ag_cmagnitudes(z).x >= 0x4e800000u;
}

fn ag_casin(z: vec2f) -> vec2f {
  if (ag_is_far(z)) {
    let w = vec2f(ag_atan2(z.x, abs(z.y)), ag_copysign(ag_log_abs(z, 1.0), z.y));
    return vec2f(select(w.x, z.x, ag_iszero(z.x)), w.y);
  }
  let p = ag_csqrt(vec2f(1.0 - z.x, z.y));
  let q = ag_csqrt(vec2f(1.0 + z.x, z.y));
  let slope = p.x * q.x + abs(p.y * q.y);
  let height = p.x * abs(q.y) + abs(p.y) * q.x;
  return vec2f(ag_atan2(z.x, slope), ag_copysign(ag_asinh(height), z.y));
}

fn ag_cacos(z: vec2f) -> vec2f {
  let below = bitcast<f32>(bitcast<u32>(z.y) ^ 0x80000000u);
  if (ag_is_far(z)) {
    let re = ag_atan2(abs(z.y), z.x);
    return vec2f(select(re, 1.5707964, ag_iszero(z.x)), ag_copysign(ag_log_abs(z, 1.0), below));
  }
  let p = ag_csqrt(vec2f(1.0 - z.x, z.y));
  let q = ag_csqrt(vec2f(1.0 + z.x, z.y));
  let height = p.x * abs(q.y) + abs(p.y) * q.x;
  return vec2f(2.0 * ag_atan2(p.x, q.x), ag_copysign(ag_asinh(height), below));
}

fn ag_casinh(z: vec2f) -> vec2f {
  return ag_casin(z.yx).yx;
}

fn ag_cacosh(z: vec2f) -> vec2f {
  let w = ag_cacos(z);
  return vec2f(abs(w.y), ag_copysign(w.x, z.y));
}

// atanh from 2^60 on, and of what is not finite: pi / 2 and the real part of 1 / z.
fn ag_catanh_far(z: vec2f) -> vec2f {
  let infinite = ag_cisinf(z);
  let near = select(ag_cdiv(vec2f(1.0, 0.0), z).x, 0.0, infinite);
  let re = select(near, z.x, ag_iszero(z.x));
  let valid = infinite || ag_cisfinite(z);
  let im = ag_copysign(select(ag_nan(), 1.5707964, valid && !ag_isnan(z.y)), z.y);
  return vec2f(ag_copysign(re, z.x), im);
}

// log1p(4x / ((1 - x)^2 + y^2)) / 4 for x >= 0, and at x = 1 by the logarithm of y, whose square
// may vanish; the imaginary part is half the argument of 1 - |z|^2 + 2iy.
fn ag_catanh(z: vec2f) -> vec2f {
  if (ag_cmagnitudes(z).x >= 0x5d800000u) {
    return ag_catanh_far(z);
  }
  let x = abs(z.x);
  let gap = 1.0 - x;
  let near = 0.25 * ag_log1p(ag_div_f32(4.0 * x, gap * gap + z.y * z.y));
  let pole = 0.5 * (0.6931472 - ag_log(abs(z.y)));
  let re = select(near, pole, x == 1.0 && abs(z.y) < 0x1p-20);
  let im = 0.5 * ag_atan2(2.0 * z.y, gap * (1.0 + x) - z.y * z.y);
  return vec2f(ag_copysign(re, z.x), im);
}

fn ag_catan(z: vec2f) -> vec2f {
  return ag_catanh(z.yx).yx;
}
"""
)
