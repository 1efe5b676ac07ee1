"""Sums, quotients and roots, right where WGSL promises 2.5 units in the last place or nothing.

Quotients and roots start from the adapter's approximation and are corrected once by the residual,
as in T. J. Dekker, "A floating-point technique for extending the available precision" (1971), but
with the factors cut to 12 bits by masks: products of two such parts are exact, fused or not. A
``max`` with a bound that is never reached keeps an exact difference from being reassociated.

Sums: on lavapipe ``a - a`` is folded to 0 for infinities and NaN, hence ``ag_add_f32`` and
``ag_sub_f32``. SwiftShader and lavapipe also fold across operations, so that ``(a - b) + b`` is
``a`` and ``(a * b) / b`` too: pass the first operand of each operation through ``ag_opaque``.
"""

from aiogpu.kernels.numerics.function import parse

FUNCTIONS = parse(
    """
// x itself, for a zero that the compiler cannot know (from a uniform): nothing is folded across it.
fn ag_opaque(x: f32, zero: u32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) ^ zero);
}

// Opposite infinities, and NaN with any sign, add to NaN also where a + -a was folded.
fn ag_add_f32(a: f32, b: f32) -> f32 {
  let bits = bitcast<u32>(a);
  let opposite = (bits ^ bitcast<u32>(b)) == 0x80000000u;
  let invalid = opposite && (bits & 0x7fffffffu) >= 0x7f800000u;
  return select(a + b, bitcast<f32>(bits | 0x7fc00000u), invalid);
}

fn ag_sub_f32(a: f32, b: f32) -> f32 {
  let bits = bitcast<u32>(a);
  let invalid = bits == bitcast<u32>(b) && (bits & 0x7fffffffu) >= 0x7f800000u;
  return select(a - b, bitcast<f32>(bits | 0x7fc00000u), invalid);
}

// The leading 12 bits.
fn ag_head(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) & 0xfffff000u);
}

// a / b for a that is 0 or, like b, in [2^-48, 2^48].
fn ag_quotient(a: f32, b: f32) -> f32 {
  let inverse = 1.0 / b;
  let q = max(a * inverse, 0.0);
  let q_head = ag_head(q);
  let q_tail = max(q - q_head, 0.0);
  let b_head = ag_head(b);
  let b_tail = max(b - b_head, 0.0);
  let residual = max(a - q_head * b_head, -0x1p100) - q_head * b_tail - q_tail * b;
  return q + residual * inverse;
}

// sqrt(x) for x that is 0 or in [2^-60, 2^60].
fn ag_root(x: f32) -> f32 {
  let inverse = inverseSqrt(max(x, 0x1p-60));
  let root = max(x * inverse, 0.0);
  let head = ag_head(root);
  let tail = max(root - head, 0.0);
  let residual = max(x - head * head, -0x1p100) - tail * (root + head);
  return root + residual * (0.5 * inverse);
}

// The bits of a positive float, subnormal ones normalized: the exponent may be negative.
fn ag_normalized(bits: u32) -> i32 {
  let subnormal = bitcast<i32>(f32(bits)) - (149 << 23u);
  return select(bitcast<i32>(bits), subnormal, bits < 0x00800000u);
}

fn ag_div_f32(a: f32, b: f32) -> f32 {
  let aa = bitcast<u32>(a) & 0x7fffffffu;
  let ab = bitcast<u32>(b) & 0x7fffffffu;
  let sign = (bitcast<u32>(a) ^ bitcast<u32>(b)) & 0x80000000u;
  let near = ab - 0x27800000u < 0x30000000u && (aa - 0x27800000u < 0x30000000u || aa == 0u);
  if (near) {
    let q = ag_quotient(bitcast<f32>(aa), bitcast<f32>(ab));
    return bitcast<f32>(bitcast<u32>(q) | sign);
  }
  // Mantissas apart, in [1, 2), and the exponent put back by integers.
  let ka = ag_normalized(aa);
  let kb = ag_normalized(ab);
  let ma = bitcast<f32>((ka & 0x007fffff) | 0x3f800000);
  let mb = bitcast<f32>((kb & 0x007fffff) | 0x3f800000);
  let exponent = (ka >> 23u) - (kb >> 23u);
  let q = bitcast<i32>(ag_quotient(ma, mb)) + (clamp(exponent, -127, 128) << 23u);
  let low = q < 0x00800000;
  let high = q >= 0x7f800000 || exponent > 128;
  let zero = aa == 0u || ab == 0x7f800000u || low;
  let infinite = ab == 0u || aa == 0x7f800000u || high;
  var bits = select(bitcast<u32>(q), 0x7f800000u, infinite);
  bits = select(bits, 0u, zero && ab != 0u && aa != 0x7f800000u);
  let invalid = (aa == 0u && ab == 0u) || (aa == 0x7f800000u && ab == 0x7f800000u);
  bits = select(bits | sign, 0x7fc00000u, invalid);
  bits = select(bits, aa | 0x00400000u, aa > 0x7f800000u);
  return bitcast<f32>(select(bits, ab | 0x00400000u, ab > 0x7f800000u));
}

fn ag_reciprocal(x: f32) -> f32 {
  return ag_div_f32(1.0, x);
}

// The mantissa in [1, 4) with an even exponent taken off.
fn ag_sqrt(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let k = ag_normalized(bits);
  let e = (k - 0x3f800000) >> 24u;
  let root = bitcast<i32>(ag_root(bitcast<f32>(k - (e << 24u)))) + (e << 23u);
  let invalid = select(bits, bits | 0x7fc00000u, bits > 0x80000000u);
  return bitcast<f32>(select(invalid, bitcast<u32>(root), bits - 1u < 0x7f7fffffu));
}

fn ag_rsqrt(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let k = ag_normalized(bits);
  let e = (k - 0x3f800000) >> 24u;
  let root = ag_root(bitcast<f32>(k - (e << 24u)));
  let inverse = bitcast<i32>(ag_quotient(1.0, root)) - (e << 23u);
  let invalid = select(bits, bits | 0x7fc00000u, bits > 0x80000000u);
  var special = select(invalid, 0u, bits == 0x7f800000u);
  special = select(special, bits | 0x7f800000u, (bits & 0x7fffffffu) == 0u);
  return bitcast<f32>(select(special, bitcast<u32>(inverse), bits - 1u < 0x7f7fffffu));
}

// Scaled by the larger one's exponent; the sum of squares is in [1, 8).
fn ag_hypot(a: f32, b: f32) -> f32 {
  let aa = bitcast<u32>(a) & 0x7fffffffu;
  let ab = bitcast<u32>(b) & 0x7fffffffu;
  let exponent = clamp(max(aa, ab) >> 23u, 1u, 253u);
  let scale = bitcast<f32>((254u - exponent) << 23u);
  let x = bitcast<f32>(min(max(aa, ab), 0x7f7fffffu)) * scale;
  let y = bitcast<f32>(min(min(aa, ab), 0x7f7fffffu)) * scale;
  let y0 = select(y, 0.0, y < 0x1p-14);
  let root = ag_root(x * x + y0 * y0) * bitcast<f32>(exponent << 23u);
  let nan = select(bitcast<u32>(root), 0x7fc00000u, max(aa, ab) > 0x7f800000u);
  return bitcast<f32>(select(nan, 0x7f800000u, aa == 0x7f800000u || ab == 0x7f800000u));
}
"""
)
