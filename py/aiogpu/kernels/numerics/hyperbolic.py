"""sinh, cosh, tanh and their inverses.

Near 0, where the exponentials cancel, odd minimax polynomials (Remez); elsewhere the definitions by
exponentials and logarithms, arranged so that the error of the division is damped.
"""

from aiogpu.kernels.numerics.function import parse

FUNCTIONS = parse(
    """
// 1 - 2 / (exp(2a) + 1) from 5/8 on; 1 from 9.1 on.
fn ag_tanh(x: f32) -> f32 {
  let a = min(abs(x), 10.0);
  let z = a * a;
  let q = -0.3333328 + z * (0.13331406 + z * (-0.053736515 + z * (0.020628167
    + z * -0.005692296)));
  let near = a + a * z * q;
  let far = 1.0 - 2.0 / (ag_exp_scaled(2.0 * a, 0) + 1.0);
  return select(ag_copysign(select(far, near, a < 0.625), x), x, ag_isnan(x));
}

// sinh(a) for a in [0, 1].
fn ag_sinh_near(a: f32) -> f32 {
  let z = a * a;
  return a + a * z * (0.16666667 + z * (0.0083333105 + z * (0.00019842891
    + z * 2.782267e-6)));
}

// exp(a) / 2 does not overflow where sinh and cosh do not.
fn ag_sinh(x: f32) -> f32 {
  let a = min(abs(x), 90.0);
  let half = ag_exp_scaled(a, -1);
  let far = bitcast<u32>(half - 0.25 / half);
  let above = bitcast<f32>(select(far, 0x7f800000u, a > 89.415985));
  return select(ag_copysign(select(above, ag_sinh_near(a), a < 1.0), x), x, ag_isnan(x));
}

fn ag_cosh(x: f32) -> f32 {
  let a = min(abs(x), 90.0);
  let half = ag_exp_scaled(a, -1);
  let y = bitcast<u32>(half + 0.25 / half);
  let above = bitcast<f32>(select(y, 0x7f800000u, a > 89.415985));
  return select(above, x, ag_isnan(x));
}

// log(a + sqrt(a^2 + 1)) as log1p(a + a^2 / (1 + sqrt(a^2 + 1))), from 2^30 on as log(2a).
fn ag_asinh(x: f32) -> f32 {
  let a = abs(x);
  let z = a * a;
  let near = a + a * z * (-0.16666643 + z * (0.074986406 + z * (-0.04438293
    + z * (0.028160656 + z * -0.0132221235))));
  let large = a >= 0x1p30;
  let b = min(a, 0x1p30);
  let w = b + b * b / (1.0 + ag_root(1.0 + b * b));
  let far = ag_log1p_scaled(select(w, a, large), select(0.0, 1.0, large));
  let y = select(far, near, a < 0.5);
  return select(ag_copysign(y, x), x, (bitcast<u32>(x) & 0x7fffffffu) >= 0x7f800000u);
}

// x - 1 is exact, and so the root keeps its relative accuracy next to 1.
fn ag_acosh(x: f32) -> f32 {
  let large = x >= 0x1p30;
  let t = clamp(x, 1.0, 0x1p30) - 1.0;
  let w = t + ag_root(t * (t + 2.0));
  let y = ag_log1p_scaled(select(w, x, large), select(0.0, 1.0, large));
  let bits = bitcast<i32>(x);
  let invalid = bitcast<f32>(bitcast<u32>(x) | 0x7fc00000u);
  return select(select(y, x, bits >= 0x7f800000), invalid, bits < 0x3f800000);
}

fn ag_atanh(x: f32) -> f32 {
  let magnitude = bitcast<u32>(x) & 0x7fffffffu;
  let a = min(abs(x), 0.99999994);
  let z = a * a;
  let near = a + a * z * (0.333333 + z * (0.20002615 + z * (0.1422076 + z * (0.118415274
    + z * (0.050647393 + z * 0.17773883)))));
  let far = 0.5 * ag_log1p_scaled(ag_quotient(2.0 * a, 1.0 - a), 0.0);
  let y = bitcast<u32>(select(far, near, a < 0.5));
  let end = bitcast<f32>(select(y, 0x7f800000u, magnitude == 0x3f800000u));
  let invalid = bitcast<f32>(bitcast<u32>(x) | 0x7fc00000u);
  return select(ag_copysign(end, x), invalid, magnitude > 0x3f800000u);
}
"""
)
