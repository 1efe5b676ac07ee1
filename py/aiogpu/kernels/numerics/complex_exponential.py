"""Exponentials, logarithms and powers of complex64, with the special values of C99, annex G.

exp(x) is multiplied into the exponent bits last, so the result is finite wherever the true one is,
also where exp(x) alone is not. The logarithm of the modulus comes from |z|^2 - 1 in two floats, so
that it does not cancel next to the unit circle (W. Kahan, "Branch cuts for complex elementary
functions, or much ado about nothing's sign bit", 1987, has the same care). A power needs the
logarithm with eight bits more than float32 has: modulus and argument are each carried in two
floats, by the means of ``power``.
"""

from aiogpu.kernels.numerics.function import parse

FUNCTIONS = parse(
    """
// cos(y + tail) and sin(y + tail) for a tail that is small beside y.
fn ag_cis(y: f32, tail: f32) -> vec2f {
  let bits = bitcast<u32>(y);
  let sign = bits & 0x80000000u;
  let magnitude = bits & 0x7fffffffu;
  let reduced = ag_reduce(magnitude);
  let both = ag_sin_cos(reduced.x + bitcast<f32>(bitcast<u32>(tail) ^ sign));
  let n = u32(reduced.y);
  let odd = (n & 1u) != 0u;
  let c = bitcast<u32>(select(both.y, both.x, odd)) ^ (((n + 1u) << 30u) & 0x80000000u);
  let s = bitcast<u32>(select(both.x, both.y, odd)) ^ ((n << 30u) & 0x80000000u) ^ sign;
  let invalid = select(0u, 0x7fc00000u, magnitude >= 0x7f800000u);
  return bitcast<vec2f>(vec2u(c, s) | vec2u(invalid));
}

// c * 2^(n + k) * (1 + p), from p and n. The sum would lose the sign of -0.
fn ag_ctimes_exp(c: vec2f, parts: vec2f, k: i32) -> vec2f {
  let w = ag_cldexp(c + c * parts.x, i32(parts.y) + k);
  return vec2f(ag_copysign(w.x, c.x), ag_copysign(w.y, c.y));
}

// c * exp(x) * 2^k.
fn ag_times_cexp(c: vec2f, x: f32, k: i32) -> vec2f {
  return ag_ctimes_exp(c, ag_exp_parts(clamp(x, -250.0, 250.0), 0.0), k);
}

// exp(x + iy) where x or y is not finite. An imaginary part that is 0 stays.
fn ag_cexp_special(x: f32, y: f32) -> vec2f {
  let circle = ag_isfinite(y);
  let end = ag_isinf(x);
  let vanishes = end && bitcast<i32>(x) < 0;
  let re = select(ag_nan(), select(ag_inf(), 0.0, vanishes), end);
  let im = select(select(ag_nan(), ag_copysign(0.0, y), vanishes), y, ag_iszero(y));
  return select(vec2f(re, im), ag_times_cexp(ag_cis(y, 0.0), x, 0), end && circle);
}

fn ag_cexp(z: vec2f) -> vec2f {
  if (!ag_cisfinite(z)) {
    return ag_cexp_special(z.x, z.y);
  }
  return ag_times_cexp(ag_cis(z.y, 0.0), z.x, 0);
}

// By s = sin(y / 2): (exp(x) - 1) (1 - 2 s^2) - 2 s^2 is the real part.
fn ag_cexpm1(z: vec2f) -> vec2f {
  if (!ag_cisfinite(z) || z.x > 30.0) {
    let w = ag_cexp(z);
    return vec2f(w.x - 1.0, w.y);
  }
  let half = ag_cis(0.5 * z.y, 0.0);
  let versine = 2.0 * half.y * half.y;
  let sine = select(2.0 * half.y * half.x, z.y, abs(z.y) < 0x1p-13);
  let growth = ag_expm1(z.x);
  let re = (growth - growth * versine) - versine;
  // Of either zero the standard wants a positive one.
  let real = select(growth, 0.0, ag_iszero(z.x));
  return vec2f(select(re, real, ag_iszero(z.y)), ag_exp(z.x) * sine);
}

// a + b and what its rounding lost.
fn ag_two_sum(a: f32, b: f32) -> vec2f {
  let swapped = abs(a) < abs(b);
  let large = select(a, b, swapped);
  let small = select(b, a, swapped);
  let sum = max(large + small, -0x1p126);
  return vec2f(sum, small - max(sum - large, -0x1p126));
}

// (1 + f)^2 + n^2 - 1 in two floats, for f > -0.6 and n below 2^30, n >= 0.
fn ag_norm_parts(f: f32, n: f32) -> vec2f {
  let f_head = ag_head(f);
  let f_tail = max(f - f_head, -1.0);
  let n_head = ag_head(n);
  let n_tail = max(n - n_head, -1.0);
  let rest = f_tail * (f + f_head) + n_tail * (n + n_head);
  let first = ag_two_sum(2.0 * f, n_head * n_head);
  let second = ag_two_sum(first.x, f_head * f_head);
  return ag_two_sum(second.x, first.y + second.y + rest);
}

// |z| = 2^e |m + in| with m in [0.66, 1.32), m >= n >= 0: gives m, n and e, for finite z but 0.
fn ag_cscaled(z: vec2f) -> vec3f {
  let bits = ag_cmagnitudes(z);
  let k = ag_normalized(bits.x);
  let e = (k - 0x3f28f5c3) >> 23u;
  return vec3f(bitcast<f32>(k - (e << 23u)), ag_ldexp(bitcast<f32>(bits.y), -e), f32(e));
}

// log|z| = l + e * ln 2: gives l and e.
fn ag_log_abs_parts(z: vec2f) -> vec2f {
  let scaled = ag_cscaled(z);
  let norm = ag_norm_parts(max(scaled.x - 1.0, -1.0), scaled.y);
  return vec2f(0.5 * ag_log1p_scaled(norm.x, 0.0), scaled.z);
}

// y where z is finite and not 0, else the logarithm of its modulus: -inf, inf or NaN.
fn ag_log_abs_specials(z: vec2f, y: f32) -> f32 {
  let bits = ag_cmagnitudes(z).x;
  let special = select(ag_nan(), ag_inf(), ag_cisinf(z));
  return select(select(special, -ag_inf(), bits == 0u), y, bits - 1u < 0x7f7fffffu);
}

// log(|z| * 2^k).
fn ag_log_abs(z: vec2f, k: f32) -> f32 {
  let parts = ag_log_abs_parts(z);
  let e = parts.y + k;
  return ag_log_abs_specials(z, e * 0.69314575 + (parts.x + e * 1.4286068e-6));
}

fn ag_clog(z: vec2f) -> vec2f {
  return vec2f(ag_log_abs(z, 0.0), ag_atan2(z.y, z.x));
}

fn ag_clog2(z: vec2f) -> vec2f {
  let parts = ag_log_abs_parts(z);
  let re = ag_log_abs_specials(z, parts.y + parts.x * 1.442695);
  return vec2f(re, ag_atan2(z.y, z.x) * 1.442695);
}

fn ag_clog10(z: vec2f) -> vec2f {
  let parts = ag_log_abs_parts(z);
  let y = parts.y * 0.3010254 + (parts.x * 0.4342945 + parts.y * 4.605039e-6);
  return vec2f(ag_log_abs_specials(z, y), ag_atan2(z.y, z.x) * 0.4342945);
}

// Left of -1/2, where 1 + x is exact or large, and far out it is the logarithm of 1 + z.
fn ag_clog1p(z: vec2f) -> vec2f {
  let shifted = vec2f(1.0 + z.x, z.y);
  if (ag_cmagnitudes(z).x >= 0x4e800000u || z.x < -0.5) {
    return ag_clog(shifted);
  }
  let norm = ag_norm_parts(z.x, abs(z.y));
  return vec2f(0.5 * ag_log1p_scaled(norm.x, 0.0), ag_atan2(z.y, shifted.x));
}

// log(|z|^2) in two floats: as in ag_pow_positive, the nearest of c = 1, 1.25 and 0.78125 is taken
// off the mantissa, and log(m / c) = 2 (s + s^3 / 3 + ...) with s = (m - c) / (m + c).
fn ag_log_norm_parts(scaled: vec3f) -> vec2f {
  let norm = ag_norm_parts(max(scaled.x - 1.0, -1.0), scaled.y);
  let e = (bitcast<i32>(1.0 + norm.x) - 0x3f3504f3) >> 23u;
  let scale = bitcast<f32>((127 - e) << 23u);
  let f = ag_two_sum(norm.x * scale, scale - 1.0);
  let upper = f.x > 0.118;
  let lower = f.x < -0.116;
  let centre = select(select(0.0, 0.25, upper), -0.21875, lower);
  let log_centre = select(select(0.0, 0.22314453, upper), -0.24682617, lower);
  let log_remainder = select(select(0.0, -9.7993575e-7, upper), -3.3906057e-5, lower);
  let f_rest = f.y + norm.y * scale;
  let g = ag_two_sum(f.x, -centre);
  let offset = 2.0 + centre;
  let d_head = ag_head(f.x + offset);
  let d_tail = f.x - max(d_head - offset, -1.0);
  let inverse = 1.0 / (f.x + offset);
  let s_head = ag_head(g.x * inverse);
  let residual = max(g.x - s_head * d_head, -1.0) - s_head * (d_tail + f_rest);
  let s_tail = (residual + (f_rest + g.y)) * inverse;
  let s = s_head + s_tail;
  let z = s * s;
  let series = z * s * (0.33333334 + z * (0.19999073 + z * 0.14506763));
  let n = f32(e) + 2.0 * scaled.z;
  let base = ag_two_sum(n * 0.69314575, log_centre);
  let sum = ag_two_sum(base.x, 2.0 * s_head);
  let rest = (2.0 * (s_tail + series) + log_remainder) + n * 1.4286068e-6;
  return vec2f(sum.x, base.y + sum.y + rest);
}

// The argument of z in two floats, z = 2^e (m + in) but for signs and order: the nearest quarter
// c is taken off the slope, atan(n / m) = atan(c) + atan(t) with t = (n - cm) / (m + cn).
fn ag_argument_parts(z: vec2f, m: f32, n: f32) -> vec2f {
  let k = round(4.0 * n * (1.0 / m));
  let m_head = ag_head(m);
  let m_tail = max(m - m_head, -1.0);
  let n_head = ag_head(n);
  let n_tail = max(n - n_head, -1.0);
  let first = ag_two_sum(4.0 * n, -k * m_head);
  let g = ag_two_sum(first.x, -k * m_tail);
  let d = 4.0 * m + k * n;
  let d_head = ag_head(d);
  let d_tail = max(max(4.0 * m - d_head, -16.0) + k * n_head, -16.0) + k * n_tail;
  let inverse = 1.0 / d;
  let t_head = ag_head(g.x * inverse);
  let residual = max(g.x - t_head * d_head, -16.0) - t_head * d_tail;
  let t_tail = (residual + (g.y + first.y)) * inverse;
  let t = t_head + t_tail;
  let u = t * t;
  let series = t * u * (-0.33333334 + u * (0.2 + u * (-0.14285715 + u * (0.11111111
    + u * -0.09090909))));
  var arc = vec2f(0.0, 0.0);
  arc = select(arc, vec2f(0.24487305, 0.00010561625), k > 0.5);
  arc = select(arc, vec2f(0.46362305, 2.4562125e-5), k > 1.5);
  arc = select(arc, vec2f(0.6435547, -5.3578708e-5), k > 2.5);
  arc = select(arc, vec2f(0.7854004, -2.2272275e-6), k > 3.5);
  let steep = (bitcast<u32>(z.y) & 0x7fffffffu) > (bitcast<u32>(z.x) & 0x7fffffffu);
  let back = bitcast<i32>(z.x) < 0;
  var turn = select(vec2f(0.0, 0.0), vec2f(3.1416016, -8.90891e-6), back);
  turn = select(turn, vec2f(1.5708008, -4.454455e-6), steep);
  let sign = select(-1.0, 1.0, steep == back);
  let sum = ag_two_sum(turn.x + sign * arc.x, sign * t_head);
  let angle = vec2f(sum.x, sum.y + (sign * (arc.y + (t_tail + series)) + turn.y));
  return select(angle, -angle, bitcast<i32>(z.y) < 0);
}

// p times a number in two floats: the exact product of the heads, and the rest.
fn ag_times_parts(p: f32, parts: vec2f) -> vec2f {
  let p_head = ag_head(p);
  let head = ag_head(parts.x);
  let tail = (parts.x - head) + parts.y;
  return vec2f(p_head * head, p_head * tail + (p - p_head) * (head + tail));
}

// exp(w log z) for finite z but 0 and finite w.
fn ag_cpow_general(z: vec2f, w: vec2f) -> vec2f {
  let scaled = ag_cscaled(z);
  let modulus = 0.5 * ag_log_norm_parts(scaled);
  let argument = ag_argument_parts(z, scaled.x, scaled.y);
  // Past 2^100 only the signs matter.
  let p = clamp(w.x, -0x1p100, 0x1p100);
  let q = clamp(w.y, -0x1p100, 0x1p100);
  let a = ag_times_parts(p, modulus);
  let b = ag_times_parts(q, argument);
  let c = ag_times_parts(p, argument);
  let d = ag_times_parts(q, modulus);
  let re = ag_two_sum(a.x, -b.x);
  let im = ag_two_sum(c.x, d.x);
  let x = ag_two_sum(re.x, re.y + (a.y - b.y));
  let y = ag_two_sum(im.x, im.y + (c.y + d.y));
  let inside = abs(x.x) < 250.0;
  let parts = ag_exp_parts(clamp(x.x, -250.0, 250.0), select(0.0, x.y, inside));
  return ag_ctimes_exp(ag_cis(y.x, y.y), parts, 0);
}

// Small whole powers are products, as in NumPy: so Gaussian integers stay whole.
fn ag_cpow(z: vec2f, w: vec2f) -> vec2f {
  let small = ag_cisfinite(w) && w.y == 0.0 && w.x >= 0.0 && w.x <= 4.0;
  if (small && w.x == floor(w.x)) {
    let square = ag_csquare(z);
    let low = select(vec2f(1.0, 0.0), z, w.x == 1.0);
    let high = ag_cmul(square, select(z, square, w.x == 4.0));
    return select(select(low, square, w.x == 2.0), high, w.x >= 3.0);
  }
  if (!ag_cisfinite(z) || !ag_cisfinite(w) || ag_cmagnitudes(z).x == 0u) {
    return ag_cexp(ag_cmul(w, ag_clog(z)));
  }
  return ag_cpow_general(z, w);
}
"""
)
