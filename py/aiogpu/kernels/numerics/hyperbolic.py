"""sinh, cosh, tanh and their inverses."""

from aiogpu.kernels.numerics.function import parse

FUNCTIONS = parse(
    """
fn ag_tanh(x: f32) -> f32 {
  let t = ag_expm1(2.0 * min(abs(x), 10.0));
  return select(ag_copysign(t / (t + 2.0), x), x, ag_isnan(x));
}

fn ag_sinh(x: f32) -> f32 {
  let t = ag_expm1(min(abs(x), 100.0));
  let r = select(0.5 * (t + t / (t + 1.0)), t, ag_isinf(t));
  return select(ag_copysign(r, x), x, ag_isnan(x));
}

fn ag_cosh(x: f32) -> f32 {
  let t = ag_exp(abs(x));
  return select(0.5 * t + 0.5 / t, t, !ag_isfinite(t));
}

fn ag_asinh(x: f32) -> f32 {
  let a = min(abs(x), 1.0e18);
  let r = ag_log1p(a + a * a / (1.0 + ag_sqrt(1.0 + a * a)));
  let large = ag_log(abs(x)) + 0.693147181;
  return ag_copysign(select(r, large, ag_order(abs(x)) >= ag_order(1.0e18)), x);
}

fn ag_acosh(x: f32) -> f32 {
  let t = clamp(x, 1.0, 1.0e18) - 1.0;
  let r = ag_log1p(t + ag_sqrt(2.0 * t + t * t));
  let large = select(r, ag_log(x) + 0.693147181, ag_order(x) >= ag_order(1.0e18));
  return select(large, bitcast<f32>(bitcast<u32>(x) | 0x7fc00000u), ag_order(x) < ag_order(1.0));
}

fn ag_atanh(x: f32) -> f32 {
  let a = min(abs(x), 0.99999994);
  let r = select(0.5 * ag_log1p(2.0 * a / (1.0 - a)), ag_inf(), abs(x) == 1.0);
  let bad = (bitcast<u32>(x) & 0x7fffffffu) > 0x3f800000u;
  return select(ag_copysign(r, x), bitcast<f32>(bitcast<u32>(x) | 0x7fc00000u), bad);
}
"""
)
