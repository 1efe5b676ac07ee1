"""Float arithmetic where a plain operator is not enough: division, roots, floor division."""

from aiogpu.kernels.numerics.function import parse

FUNCTIONS = parse(
    """
fn ag_add_f32(a: f32, b: f32) -> f32 {
  return a + b;
}

fn ag_sub_f32(a: f32, b: f32) -> f32 {
  return a - b;
}

fn ag_mul_f32(a: f32, b: f32) -> f32 {
  return a * b;
}

fn ag_div_f32(a: f32, b: f32) -> f32 {
  return a / b;
}

fn ag_reciprocal(x: f32) -> f32 {
  return ag_div_f32(1.0, x);
}

fn ag_sqrt(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let kept = (bits & 0x7fffffffu) == 0u || (bits & 0x7fffffffu) > 0x7f800000u || bits == 0x7f800000u;
  let root = select(bitcast<u32>(sqrt(abs(x))), bits | 0x7fc00000u, bits > 0x80000000u);
  return select(bitcast<f32>(root), x, kept);
}

fn ag_rsqrt(x: f32) -> f32 {
  return ag_div_f32(1.0, ag_sqrt(x));
}

// The remainder of truncated division, exact: long division of the mantissas, eight bits a turn.
fn ag_fmod(a: f32, b: f32) -> f32 {
  let ba = bitcast<u32>(a);
  let aa = ba & 0x7fffffffu;
  let ab = bitcast<u32>(b) & 0x7fffffffu;
  if (aa >= 0x7f800000u || ab > 0x7f800000u || ab == 0u) {
    return bitcast<f32>(ba | 0x7fc00000u);
  }
  if (aa < ab) {
    return a;
  }
  let ea = max(aa >> 23u, 1u);
  let eb = max(ab >> 23u, 1u);
  let mb = (ab & 0x007fffffu) | select(0u, 0x00800000u, ab >= 0x00800000u);
  var m = (aa & 0x007fffffu) | select(0u, 0x00800000u, aa >= 0x00800000u);
  m = m % mb;
  var left = ea - eb;
  while (left > 0u && m != 0u) {
    let turn = min(left, 8u);
    m = (m << turn) % mb;
    left = left - turn;
  }
  // m * 2^(eb - 150): up to the leading bit at 23 or as far as the exponent allows.
  let up = min(countLeadingZeros(m | 1u) - 8u, eb - 1u);
  let e = eb - up;
  m = m << up;
  let magnitude = select(m, (m & 0x007fffffu) | (e << 23u), m >= 0x00800000u);
  return bitcast<f32>(magnitude | (ba & 0x80000000u));
}

fn ag_mod_f32(a: f32, b: f32) -> f32 {
  let r = ag_fmod(a, b);
  let br = bitcast<u32>(r);
  let bb = bitcast<u32>(b);
  let zero = (br & 0x7fffffffu) == 0u;
  let moved = select(r, r + b, ((br ^ bb) & 0x80000000u) != 0u);
  let result = select(moved, bitcast<f32>(bb & 0x80000000u), zero);
  return select(select(result, r, ag_isnan(r)), b, ag_isnan(b));
}

// NumPy's: from the exact remainder, so that floor_divide(a, b) * b + remainder(a, b) is near a.
fn ag_floordiv_f32(a: f32, b: f32) -> f32 {
  let q = ag_div_f32(a, b);
  if ((bitcast<u32>(b) & 0x7fffffffu) == 0u) {
    return q;
  }
  let r = ag_fmod(a, b);
  if (ag_isnan(r) || ag_isnan(b)) {
    return select(r, b, ag_isnan(b));
  }
  let opposite = ((bitcast<u32>(r) ^ bitcast<u32>(b)) & 0x80000000u) != 0u;
  let exact = ag_div_f32(a - r, b) - select(0.0, 1.0, opposite && (bitcast<u32>(r) << 1u) != 0u);
  let whole = floor(exact);
  let result = whole + select(0.0, 1.0, exact - whole > 0.5);
  return select(result, ag_copysign(0.0, q), exact == 0.0);
}

fn ag_hypot(a: f32, b: f32) -> f32 {
  let x = abs(a);
  let y = abs(b);
  let big = max(x, y);
  let small = min(x, y);
  let scale = bitcast<f32>(clamp(254u - (bitcast<u32>(big) >> 23u), 1u, 253u) << 23u);
  let u = big * scale;
  let v = small * scale;
  let root = ag_sqrt(u * u + v * v) / scale;
  let nan = select(root, select(a, b, ag_isnan(b)), ag_isnan(a) || ag_isnan(b));
  return select(nan, select(x, y, ag_isinf(b)), ag_isinf(a) || ag_isinf(b));
}
"""
)
