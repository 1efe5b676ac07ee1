"""Exponentials, logarithms and powers.

Exponentials reduce by n * ln 2 in two parts (Cody and Waite, "Software Manual for the Elementary
Functions", 1980), logarithms by taking the exponent off the bits; both end in minimax polynomials
(Remez' exchange, coefficients rounded to float32 one after another). The result is scaled by adding
to its exponent bits, so neither overflow nor a subnormal ever goes through an operation.

A ``max`` with a bound that is never reached stands where a sum is exact and must stay as written:
compilers of shaders reassociate, but do not look through it.
"""

from aiogpu.kernels.numerics.function import parse

FUNCTIONS = parse(
    """
// exp(x + tail) = 2^n * (1 + p) for |x| below 2^15 and a small tail: gives p and n.
fn ag_exp_parts(x: f32, tail: f32) -> vec2<f32> {
  let n = round(x * 1.442695);
  // ln 2 in 15 bits, so that n times it is exact, and the rest.
  let r = max(x - n * 0.69314575, -1.0) - (n * 1.4286068e-6 - tail);
  let q = 0.49999994 + r * (0.16666509 + r * (0.041668005 + r * (0.008370006 + r * 0.0013847998)));
  return vec2<f32>(r + r * r * q, n);
}

// exp(x) * 2^k while that is a normal float.
fn ag_exp_scaled(x: f32, k: i32) -> f32 {
  let parts = ag_exp_parts(x, 0.0);
  return bitcast<f32>(bitcast<i32>(1.0 + parts.x) + ((i32(parts.y) + k) << 23u));
}

// y * 2^n for n <= 0; 0 where that is subnormal.
fn ag_scaled_down(y: f32, n: i32) -> f32 {
  let bits = bitcast<u32>(y);
  let normal = bitcast<i32>((bits >> 23u) & 0xffu) + n > 0;
  return bitcast<f32>(select(bits & 0x80000000u, bits + bitcast<u32>(n << 23u), normal));
}

// factor * 2^n * (1 + p) for n <= 0, one rounding less than the product; 0 where it is subnormal.
fn ag_times_exp(factor: f32, parts: vec2<f32>) -> f32 {
  return ag_scaled_down(factor + factor * parts.x, i32(parts.y));
}

fn ag_exp(x: f32) -> f32 {
  let inside = ag_exp_scaled(clamp(x, -88.0, 89.0), 0);
  let above = select(bitcast<u32>(inside), 0x7f800000u, x > 88.72283);
  let y = bitcast<f32>(select(above, 0u, x < -87.33654));
  return select(y, x, ag_isnan(x));
}

// 2^f * 2^n for f in [-0.5, 0.5], while that is a normal float.
fn ag_exp2_parts(f: f32, n: i32) -> f32 {
  let q = 0.6931472 + f * (0.24022594 + f * (0.055503663 + f * (0.009625421 + f * (0.0013387832
    + f * 0.00013348878))));
  return bitcast<f32>(bitcast<i32>(1.0 + f * q) + (n << 23u));
}

fn ag_exp2(x: f32) -> f32 {
  let c = clamp(x, -150.0, 150.0);
  let n = round(c);
  let inside = ag_exp2_parts(c - n, i32(n));
  let above = select(bitcast<u32>(inside), 0x7f800000u, x >= 128.0);
  let y = bitcast<f32>(select(above, 0u, x < -126.0));
  return select(y, x, ag_isnan(x));
}

// 2^n * (p + 1 - 2^-n) with p = exp(r) - 1, which keeps p whole where n is 0.
fn ag_expm1(x: f32) -> f32 {
  let c = clamp(x, -20.0, 89.0);
  let n = round(c * 1.442695);
  let r = max(c - n * 0.69314575, -1.0) - n * 1.4286068e-6;
  let q = 0.5 + r * (0.16666634 + r * (0.041666504 + r * (0.00834171 + r * (0.0013931533
    + r * 0.00015041417))));
  let p = r + r * r * q;
  let inverse = bitcast<f32>((127 - min(i32(n), 126)) << 23u);
  let sum = p + max(1.0 - inverse, -0x1p30);
  let scaled = bitcast<f32>(bitcast<i32>(sum) + (i32(n) << 23u));
  let y = select(scaled, sum, n == 0.0);
  let above = select(bitcast<u32>(y), 0x7f800000u, x > 88.72283);
  let tiny = (bitcast<u32>(x) & 0x7fffffffu) < 0x33000000u;
  return select(bitcast<f32>(above), x, tiny || ag_isnan(x));
}

// x = 2^e * m with m in [sqrt(1/2), sqrt(2)): gives m - 1 and e, for positive x, also subnormal.
fn ag_log_parts(bits: u32) -> vec2<f32> {
  let k = ag_normalized(bits);
  let e = (k - 0x3f3504f3) >> 23u;
  return vec2<f32>(bitcast<f32>(k - (e << 23u)) - 1.0, f32(e));
}

// log(1 + f) - f for f in [sqrt(1/2) - 1, sqrt(2) - 1].
fn ag_log_rest(f: f32) -> f32 {
  let q = 0.3333333 + f * (-0.2500084 + f * (0.20001282 + f * (-0.16622664 + f * (0.14199895
    + f * (-0.1316539 + f * (0.127776 + f * -0.076403506))))));
  let z = f * f;
  return f * z * q - 0.5 * z;
}

// y where x is positive and finite, else what every logarithm gives: -inf, inf or NaN.
fn ag_log_specials(x: f32, y: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let invalid = select(bits, bits | 0x7fc00000u, bits > 0x80000000u);
  let special = select(invalid, 0xff800000u, (bits & 0x7fffffffu) == 0u);
  return select(bitcast<f32>(special), y, bits - 1u < 0x7f7fffffu);
}

fn ag_log(x: f32) -> f32 {
  let parts = ag_log_parts(bitcast<u32>(x));
  let rest = ag_log_rest(parts.x) + parts.y * 1.4286068e-6;
  return ag_log_specials(x, parts.y * 0.69314575 + (parts.x + rest));
}

fn ag_log2(x: f32) -> f32 {
  let parts = ag_log_parts(bitcast<u32>(x));
  let rest = ag_log_rest(parts.x) * 1.442695 + max(parts.x * 0.44269504, -1.0);
  return ag_log_specials(x, parts.y + (parts.x + rest));
}

// log10(2) and log10(e) each in a part of few bits and the rest: powers of ten come out whole.
fn ag_log10(x: f32) -> f32 {
  let parts = ag_log_parts(bitcast<u32>(x));
  let small = ag_log_rest(parts.x) * 0.4342945 + (parts.x * 0.00070073193 + parts.y * 4.605039e-6);
  return ag_log_specials(x, parts.y * 0.3010254 + (parts.x * 0.43359375 + small));
}

// log((1 + x) * 2^k) for finite x > -1. The bits of 1 + x serve only to find the exponent e;
// m - 1 = x * 2^-e + (2^-e - 1) then rounds once.
fn ag_log1p_scaled(x: f32, k: f32) -> f32 {
  let sum = bitcast<i32>(1.0 + x);
  let e = (sum - 0x3f3504f3) >> 23u;
  let scale = bitcast<f32>((127 - clamp(e, -30, 30)) << 23u);
  let near = x * scale + max(scale - 1.0, -1.0);
  let f = select(near, bitcast<f32>(sum - (e << 23u)) - 1.0, e > 30);
  let n = f32(e) + k;
  return n * 0.69314575 + (f + (ag_log_rest(f) + n * 1.4286068e-6));
}

fn ag_log1p(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let end = select(bits | 0x7fc00000u, 0xff800000u, bits == 0xbf800000u);
  let y = select(ag_log1p_scaled(x, 0.0), bitcast<f32>(end), bits >= 0xbf800000u);
  let kept = (bits & 0x7fffffffu) < 0x33000000u || bitcast<i32>(bits) >= 0x7f800000;
  return select(y, x, kept);
}

fn ag_logaddexp(a: f32, b: f32) -> f32 {
  let equal = bitcast<u32>(a) == bitcast<u32>(b);
  let gap = select(abs(a - b), 0.0, equal);
  let y = ag_max_f32(a, b) + ag_log1p(ag_exp(-gap));
  return select(select(y, b, ag_isnan(b)), a, ag_isnan(a));
}
"""
)
