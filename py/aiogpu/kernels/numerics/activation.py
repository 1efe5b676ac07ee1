"""The error function and the activations of neural networks.

The tail of the normal distribution is exp(-x^2 / 2) times a slowly varying factor, which times
a + 17/32 is fitted as a polynomial (Remez) in (a - 3) / (a + 3), after M. M. Shepherd and
J. G. Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc(x)" (1981). So gelu and erfc
keep their relative accuracy where 1 + erf would cancel.
"""

from aiogpu.kernels.numerics.function import parse

FUNCTIONS = parse(
    """
// erf(x) for |x| <= 1; where x * q would be subnormal, and so lost, a single product.
fn ag_erf_inner(x: f32) -> f32 {
  let z = x * x;
  let q = 0.12837917 + z * (-0.37612626 + z * (0.11283579 + z * (-0.026853347 + z * (0.005187162
    + z * (-0.0007997853 + z * 7.806904e-5)))));
  return select(x + x * q, x * 1.1283792, abs(x) < 0x1p-60);
}

// From 1 on 1 - exp of a polynomial fitted to log(erfc); 1 from 3.92 on.
fn ag_erf(x: f32) -> f32 {
  let a = min(abs(x), 4.0);
  let log_tail = -0.00034152647 + a * (-1.1270891 + a * (-0.63814497 + a * (-0.10310658
    + a * (0.021837952 + a * (-0.0029476217 + a * 0.0001863744)))));
  let outer = 1.0 - ag_exp_scaled(log_tail, 0);
  return select(ag_copysign(select(outer, ag_erf_inner(a), a < 1.0), x), x, ag_isnan(x));
}

// 1 / x to 1.5 units: one step of Newton's on the adapter's.
fn ag_inverse(x: f32) -> f32 {
  let inverse = 1.0 / x;
  return inverse * (2.0 - x * inverse);
}

// The distribution function of the normal distribution less 1/2, over x, for z = x * x <= 0.45.
fn ag_normal_centre(z: f32) -> f32 {
  return 0.3989423 + z * (-0.06649063 + z * (0.0099748215 + z * (-0.0011881167
    + z * 0.00010923417)));
}

// Its upper tail at a + rest over exp(-a^2 / 2), times factor, for a in [0.65, 13.35], as a float
// and what its rounding lost. The numerator q is nearly constant.
fn ag_normal_tail(a: f32, rest: f32, factor: f32) -> vec2<f32> {
  let t = (a - 3.0) / (a + 3.0);
  let q = 0.42909613 + t * (0.00022446527 + t * (-0.07419416 + t * (0.066826485 + t * (-0.025598545
    + t * (-0.00020144295 + t * (0.0034329044 + t * (-0.00019521966 + t * -0.0004713755)))))));
  let p = max(factor * q, 0.0);
  let b = a + 0.53125;
  let lost = a - max(b - 0.53125, 0.0) + rest;
  let inverse = 1.0 / b;
  let y = max(p * inverse, 0.0);
  // The residual of the quotient p / (b + lost), as in ag_quotient.
  let y_head = ag_head(y);
  let y_tail = max(y - y_head, 0.0);
  let b_head = ag_head(b);
  let b_tail = max(b - b_head, 0.0);
  let residual = max(p - y_head * b_head, -0x1p100) - y_head * b_tail - (y_tail * b + y * lost);
  return vec2<f32>(y, residual * inverse);
}

// exp(-a^2 * scale), scale 1 or 1/2, in parts: the square is an exact part and the rest.
fn ag_exp_square(a: f32, scale: f32) -> vec2<f32> {
  let head = ag_head(a);
  let tail = max(a - head, 0.0) * (a + head);
  return ag_exp_parts(-(head * head) * scale, -tail * scale);
}

// A value in two floats times an exponential in parts.
fn ag_tail_times_exp(tail: vec2<f32>, parts: vec2<f32>) -> f32 {
  return ag_scaled_down(tail.x + (tail.x * parts.x + tail.y), i32(parts.y));
}

// The tail of the normal distribution at a * sqrt(2), with what the rounding of that product lost:
// sqrt(2) is 1.4140625 and the rest, the first product exact.
fn ag_erfc(x: f32) -> f32 {
  let a = min(abs(x), 9.4);
  let s = max(a * 1.4142135, 0.0);
  let head = ag_head(a);
  let low = head * 0.00015106238 + max(a - head, 0.0) * 1.4142135;
  let rest = max(head * 1.4140625 - s, -1.0) + low;
  let tail = ag_tail_times_exp(ag_normal_tail(s, rest, 2.0), ag_exp_square(a, 1.0));
  let outer = select(tail, 2.0 - tail, bitcast<i32>(x) < 0);
  let y = select(outer, 1.0 - ag_erf_inner(x), a < 0.7);
  return select(select(y, 0.0, x > 9.4), x, ag_isnan(x));
}

// x times the distribution function of the normal distribution.
fn ag_gelu(x: f32) -> f32 {
  let a = min(abs(x), 13.3);
  let z = a * a;
  let inner = 0.5 * x + z * ag_normal_centre(z);
  let tail = ag_tail_times_exp(ag_normal_tail(a, 0.0, a), ag_exp_square(a, 0.5));
  let outer = select(x - tail, -tail, bitcast<i32>(x) < 0);
  let y = select(select(outer, inner, a < 0.66), 0.0, a >= 13.3);
  return select(ag_copysign(y, x), x, bitcast<i32>(x) >= 0x41000000 || ag_isnan(x));
}

// The quotient of a sigmoid's numerator by 1 + exp(-|x|), from the parts of exp(-|x|).
fn ag_sigmoid_times(numerator: f32, parts: vec2<f32>, negative: bool) -> f32 {
  let e = bitcast<f32>(bitcast<i32>(1.0 + parts.x) + (max(i32(parts.y), -100) << 23u));
  let y = numerator * ag_inverse(1.0 + e);
  return select(y, ag_times_exp(y, parts), negative);
}

fn ag_sigmoid(x: f32) -> f32 {
  let parts = ag_exp_parts(-min(abs(x), 100.0), 0.0);
  return select(ag_sigmoid_times(1.0, parts, bitcast<i32>(x) < 0), x, ag_isnan(x));
}

// x * sigmoid(x), which is a normal float also where sigmoid(x) is not.
fn ag_silu(x: f32) -> f32 {
  let parts = ag_exp_parts(-min(abs(x), 100.0), 0.0);
  let y = ag_sigmoid_times(max(x, -100.0), parts, bitcast<i32>(x) < 0);
  return select(y, x, bitcast<i32>(x) >= 0x41a00000 || ag_isnan(x));
}

// log(1 + exp(x)).
fn ag_softplus(x: f32) -> f32 {
  let tail = ag_log1p_scaled(ag_exp(-abs(x)), 0.0);
  return select(select(max(x, 0.0) + tail, x, bitcast<i32>(x) >= 0x41a00000), x, ag_isnan(x));
}
"""
)
