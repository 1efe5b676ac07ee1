"""The error function and the activations of neural networks."""

from aiogpu.kernels.numerics.function import parse

FUNCTIONS = parse(
    """
fn ag_erf(x: f32) -> f32 {
  let a = min(abs(x), 4.0);
  let t = 1.0 / (1.0 + 0.3275911 * a);
  let p = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027
    + t * 1.061405429))));
  let r = select(1.0 - p * ag_exp(-a * a), 1.12837917 * a, a < 0.001);
  return select(ag_copysign(r, x), x, ag_isnan(x));
}

fn ag_erfc(x: f32) -> f32 {
  return 1.0 - ag_erf(x);
}

fn ag_sigmoid(x: f32) -> f32 {
  let e = ag_exp(-abs(x));
  return select(1.0, e, bitcast<i32>(x) < 0) / (1.0 + e);
}

fn ag_gelu(x: f32) -> f32 {
  let r = x * (0.5 + 0.5 * ag_erf(x * 0.707106781));
  return select(r, 0.0, bitcast<u32>(x) == 0xff800000u);
}

fn ag_silu(x: f32) -> f32 {
  let r = x * ag_sigmoid(x);
  return select(r, 0.0, bitcast<u32>(x) == 0xff800000u);
}

fn ag_softplus(x: f32) -> f32 {
  return ag_max_f32(x, 0.0) + ag_log1p(ag_exp(-abs(x)));
}
"""
)
