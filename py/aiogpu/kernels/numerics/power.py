"""float32 powers with the special cases of C99 (ISO/IEC 9899:1999, F.9.4.4).

2^(y * log2(x)) needs eight bits more than float32 has in the product, so the logarithm and the
product are each carried in two floats. Their leading parts are cut to 12 bits by masks: products of
two such parts are exact, fused or not, and a compiler cannot see through the mask. A ``max`` with a
bound that is never reached keeps an exact sum from being reassociated.
"""

from aiogpu.kernels.numerics.function import parse

FUNCTIONS = parse(
    """
// 2^(y * log2(x)) for positive finite x, of the magnitude bits given, and finite y.
fn ag_pow_positive(bits: u32, y: f32) -> f32 {
  let parts = ag_log_parts(bits);
  let f = parts.x;
  // The nearest of c = 1, 1.25 and 0.78125; log2(c) in 12 bits and the rest.
  let upper = f > 0.118;
  let lower = f < -0.116;
  let centre = select(select(0.0, 0.25, upper), -0.21875, lower);
  let log_centre = select(select(0.0, 0.32189941, upper), -0.35607910, lower);
  let log_remainder = select(select(0.0, 2.8680824e-5, upper), -6.470866e-5, lower);
  // s = g / d with g = m - c and d = m + c; log2(m / c) = 2 / ln 2 * (s + s^3 / 3 + ...).
  let g = f - centre;
  let offset = 2.0 + centre;
  let d_head = ag_head(f + offset);
  let d_tail = f - max(d_head - offset, -1.0);
  let inverse = 1.0 / (f + offset);
  let s_head = ag_head(g * inverse);
  let s_tail = (max(g - s_head * d_head, -1.0) - s_head * d_tail) * inverse;
  let s = s_head + s_tail;
  let z = s * s;
  let series = z * s * (0.33333334 + z * (0.19999073 + z * 0.14506763));
  // 2 / ln 2 in 12 bits and the rest.
  let lead = s_head * 2.8847656;
  let rest = s_tail * 2.8847656 + (log_remainder + (s * 0.0006244568 + series * 2.88539));
  let base = parts.y + log_centre;
  let log_head = ag_head(base + (lead + rest));
  let log_tail = max(max(base - log_head, -2.0) + lead, -2.0) + rest;
  // Past 2^33 the result is 0, 1 or infinity whatever x.
  let c = clamp(y, -0x1p33, 0x1p33);
  let c_head = ag_head(c);
  let high = c_head * log_head;
  let low = c_head * log_tail + max(c - c_head, -0x1p33) * (log_head + log_tail);
  let product = high + low;
  let n = clamp(round(product), -150.0, 150.0);
  let fraction = clamp(high - n, -2.0, 2.0) + low;
  let inside = bitcast<u32>(ag_exp2_parts(clamp(fraction, -1.0, 1.0), i32(n)));
  let above = select(inside, 0x7f800000u, n > 128.0 || (n == 128.0 && fraction >= 0.0));
  return bitcast<f32>(select(above, 0u, product < -126.0));
}

fn ag_pow_f32(x: f32, y: f32) -> f32 {
  let bx = bitcast<u32>(x);
  let by = bitcast<u32>(y);
  let ax = bx & 0x7fffffffu;
  let ay = by & 0x7fffffffu;
  let k = u32(min(abs(y), 16777216.0));
  let exact = bitcast<u32>(f32(k)) == ay;
  let odd = exact && (k & 1u) != 0u;
  let whole = exact || ay >= 0x4b800000u;
  let sign = select(0u, bx & 0x80000000u, odd);
  var r = bitcast<u32>(ag_pow_positive(ax, y)) | sign;
  // A base that is 0 or infinite; then an infinite exponent, which asks only if |x| is above 1.
  let grows = (ax > 0x3f800000u) == (by < 0x80000000u);
  let end = select(0u, 0x7f800000u, grows);
  r = select(r, end | sign, ax == 0u || ax == 0x7f800000u);
  r = select(r, select(end, 0x3f800000u, ax == 0x3f800000u), ay == 0x7f800000u);
  r = select(r, 0x7fc00000u, bx > 0x80000000u && ax < 0x7f800000u && !whole);
  r = select(r, bx | 0x00400000u, ax > 0x7f800000u);
  r = select(r, by | 0x00400000u, ay > 0x7f800000u);
  return bitcast<f32>(select(r, 0x3f800000u, ay == 0u || bx == 0x3f800000u));
}
"""
)
