"""sin, cos, tan and their inverses."""

from aiogpu.kernels.numerics.function import parse

FUNCTIONS = parse(
    """
fn ag_invalid_if(x: f32, r: f32, bad: bool) -> f32 {
  return select(r, bitcast<f32>(bitcast<u32>(x) | 0x7fc00000u), bad);
}

fn ag_sin(x: f32) -> f32 {
  return ag_invalid_if(x, sin(x), !ag_isfinite(x));
}

fn ag_cos(x: f32) -> f32 {
  return ag_invalid_if(x, cos(x), !ag_isfinite(x));
}

fn ag_tan(x: f32) -> f32 {
  return ag_invalid_if(x, tan(x), !ag_isfinite(x));
}

fn ag_asin(x: f32) -> f32 {
  let bad = (bitcast<u32>(x) & 0x7fffffffu) > 0x3f800000u;
  return ag_invalid_if(x, asin(clamp(x, -1.0, 1.0)), bad);
}

fn ag_acos(x: f32) -> f32 {
  let bad = (bitcast<u32>(x) & 0x7fffffffu) > 0x3f800000u;
  return ag_invalid_if(x, acos(clamp(x, -1.0, 1.0)), bad);
}

fn ag_atan(x: f32) -> f32 {
  return ag_invalid_if(x, atan(clamp(x, -1.0e20, 1.0e20)), ag_isnan(x));
}

fn ag_atan2(y: f32, x: f32) -> f32 {
  let ax = bitcast<u32>(x) & 0x7fffffffu;
  let ay = bitcast<u32>(y) & 0x7fffffffu;
  let steep = ay > ax;
  let top = bitcast<f32>(min(ax, ay));
  let bottom = bitcast<f32>(max(ax, ay));
  var r = select(ag_div_f32(top, bottom), 0.0, min(ax, ay) == 0u);
  r = select(r, 1.0, ax == ay && ax != 0u);
  r = ag_atan(r);
  r = select(r, 1.57079633 - r, steep);
  r = select(r, 3.14159265 - r, bitcast<i32>(x) < 0);
  r = ag_copysign(r, y);
  return select(select(r, x, ag_isnan(x)), y, ag_isnan(y));
}
"""
)
