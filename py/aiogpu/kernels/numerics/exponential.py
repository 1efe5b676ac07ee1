"""exp and its inverses."""

from aiogpu.kernels.numerics.function import parse

FUNCTIONS = parse(
    """
fn ag_exp(x: f32) -> f32 {
  let r = exp(clamp(x, -87.3, 88.72));
  let low = select(r, 0.0, x < -87.3365);
  return select(select(low, ag_inf(), x > 88.722835), x, ag_isnan(x));
}

fn ag_exp2(x: f32) -> f32 {
  let r = exp2(clamp(x, -126.0, 127.99999));
  let low = select(r, 0.0, x < -126.0);
  return select(select(low, ag_inf(), x >= 128.0), x, ag_isnan(x));
}

fn ag_expm1(x: f32) -> f32 {
  let small = x + 0.5 * x * x;
  return select(ag_exp(x) - 1.0, small, abs(x) < 0.001);
}

fn ag_log(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  var r = log(max(x, 0x1p-126f));
  r = select(r, -ag_inf(), (bits & 0x7fffffffu) == 0u);
  r = select(r, bitcast<f32>(bits | 0x7fc00000u), bits > 0x80000000u);
  return select(r, x, bits >= 0x7f800000u && bits < 0x80000000u);
}

fn ag_log2(x: f32) -> f32 {
  return ag_log(x) * 1.44269504;
}

fn ag_log10(x: f32) -> f32 {
  return ag_log(x) * 0.434294482;
}

fn ag_log1p(x: f32) -> f32 {
  return select(ag_log(1.0 + x), x - 0.5 * x * x, abs(x) < 0.001);
}

fn ag_logaddexp(a: f32, b: f32) -> f32 {
  let equal = bitcast<u32>(a) == bitcast<u32>(b);
  let gap = select(abs(a - b), 0.0, equal);
  let r = ag_max_f32(a, b) + ag_log1p(ag_exp(-gap));
  return select(select(r, b, ag_isnan(b)), a, ag_isnan(a));
}

fn ag_pow_f32(x: f32, y: f32) -> f32 {
  let bx = bitcast<u32>(x);
  let by = bitcast<u32>(y);
  let ax = bx & 0x7fffffffu;
  let ay = by & 0x7fffffffu;
  let whole = trunc(y) == y || ay >= 0x4b000000u;
  let odd = whole && ay < 0x4b800000u && fract(abs(y) * 0.5) != 0.0;
  let sign = select(0u, 0x80000000u, odd && bx >= 0x80000000u);
  var r = bitcast<u32>(ag_exp(clamp(y, -3.0e38, 3.0e38) * ag_log(bitcast<f32>(ax)))) | sign;
  let up = (ax > 0x3f800000u) == (by < 0x80000000u);
  r = select(r, select(0u, 0x7f800000u, up) | sign, ax == 0u || ax == 0x7f800000u);
  r = select(r, select(0u, 0x7f800000u, up), ay == 0x7f800000u);
  r = select(r, 0x3f800000u, bx == 0xbf800000u && ay == 0x7f800000u);
  r = select(r, 0x7fc00000u, bx > 0x80000000u && ax < 0x7f800000u && !whole);
  r = select(r, bx | 0x00400000u, ax > 0x7f800000u);
  r = select(r, by | 0x00400000u, ay > 0x7f800000u);
  return bitcast<f32>(select(r, 0x3f800000u, ay == 0u || bx == 0x3f800000u));
}
"""
)
