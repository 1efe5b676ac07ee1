"""sin, cos, tan and their inverses.

Arguments below 3000 are reduced by n * pi/2 in four parts (Cody and Waite 1980), the others by the
bits of 2/pi that matter, in integers (Payne and Hanek, "Radian reduction for trigonometric
functions", 1983). The polynomials are minimax fits (Remez). A ``max`` with a bound that is never
reached keeps an exact difference from being reassociated.
"""

from aiogpu.kernels.numerics.function import parse

FUNCTIONS = parse(
    """
fn ag_invalid_if(x: f32, y: f32, invalid: bool) -> f32 {
  return select(y, bitcast<f32>(bitcast<u32>(x) | 0x7fc00000u), invalid);
}

// The high word of the product of m < 2^24 and w.
fn ag_mul_high(m: u32, w: u32) -> u32 {
  let mh = m >> 16u;
  let ml = m & 0xffffu;
  let wh = w >> 16u;
  let wl = w & 0xffffu;
  let cross = ml * wh;
  let middle = ((ml * wl) >> 16u) + mh * wl + (cross & 0xffffu);
  return mh * wh + (cross >> 16u) + (middle >> 16u);
}

// Payne-Hanek for 2^11 <= |x|: the remainder in [-pi/4, pi/4] and the quadrant, for |x|.
fn ag_reduce_large(magnitude: u32) -> vec2<f32> {
  // The first bit of 2/pi that matters weighs 2 after the product; 32 zeros stand before 2/pi.
  let start = (magnitude >> 23u) - 120u;
  let far = start >= 128u;
  let two = (start & 64u) != 0u;
  let one = (start & 32u) != 0u;
  let a0 = select(0u, 0xf534ddc0u, far);
  let a1 = select(0xa2f9836eu, 0xdb629599u, far);
  let a2 = select(0x4e441529u, 0x3c439041u, far);
  let a3 = select(0xfc2757d1u, 0xfe5163abu, far);
  let b0 = select(a0, a2, two);
  let b1 = select(a1, a3, two);
  let b2 = select(a2, 0xf534ddc0u, two);
  let b3 = select(a3, 0xdb629599u, two);
  let b4 = select(0xf534ddc0u, 0x3c439041u, two);
  let c0 = select(b0, b1, one);
  let c1 = select(b1, b2, one);
  let c2 = select(b2, b3, one);
  let c3 = select(b3, b4, one);
  let left = start & 31u;
  let right = 31u - left;
  let w0 = (c0 << left) | ((c1 >> 1u) >> right);
  let w1 = (c1 << left) | ((c2 >> 1u) >> right);
  let w2 = (c2 << left) | ((c3 >> 1u) >> right);
  // The product modulo 4 in 2 + 94 bits, of which the first 66 are kept.
  let m = (magnitude & 0x007fffffu) | 0x00800000u;
  let p2 = m * w2;
  let carried = ag_mul_high(m, w2);
  let p1 = m * w1 + carried;
  let p0 = m * w0 + ag_mul_high(m, w1) + select(0u, 1u, p1 < carried);
  let high = (p0 << 2u) | (p1 >> 30u);
  let low = (p1 << 2u) | (p2 >> 30u);
  let quadrant = (p0 >> 30u) + (high >> 31u);
  // The fraction above one half is what is missing to the next quadrant, negative.
  let flip = select(0u, 0xffffffffu, high >= 0x80000000u);
  let upper = high ^ flip;
  let lower = low ^ flip;
  let shift = min(countLeadingZeros(upper), 31u);
  let lead = (upper << shift) | ((lower >> 1u) >> (31u - shift));
  let scale = bitcast<f32>((126u - shift) << 23u);
  // pi/2 times the 32 leading bits, the first 12 times its own first 12 exactly.
  let head = f32(bitcast<i32>(lead >> 20u)) * 0x1p-11;
  let tail = f32(bitcast<i32>(lead & 0xfffffu)) * 0x1p-31;
  let r = (head * 1.5703125 + max(head * 0.0004838268 + tail * 1.5707964, -1.0)) * scale;
  return vec2<f32>(bitcast<f32>(bitcast<u32>(r) ^ (flip & 0x80000000u)), f32(quadrant & 3u));
}

// The remainder of |x| in [-pi/4, pi/4] and the quadrant.
fn ag_reduce(magnitude: u32) -> vec2<f32> {
  if (magnitude >= 0x453b8000u) {
    return ag_reduce_large(magnitude);
  }
  let x = bitcast<f32>(magnitude);
  let n = round(x * 0.63661975);
  // pi/2 in parts of 13 bits, so that n times each is exact.
  let r1 = max(x - n * 1.5705566, -4.0);
  let r2 = max(r1 - n * 0.00023967028, -4.0);
  let r3 = max(r2 - n * 1.5890691e-8, -4.0);
  return vec2<f32>(r3 - n * 2.563344e-12, n);
}

// sin(r) and cos(r) for r in [-pi/4, pi/4].
fn ag_sin_cos(r: f32) -> vec2<f32> {
  let z = r * r;
  let s = r * z * (-0.16666655 + z * (0.008332187 + z * -0.00019517895));
  let c = z * z * (0.041666646 + z * (-0.001388731 + z * 2.4432327e-5));
  return vec2<f32>(r + s, 1.0 - (0.5 * z - c));
}

fn ag_sin(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let magnitude = bits & 0x7fffffffu;
  let reduced = ag_reduce(magnitude);
  let both = ag_sin_cos(reduced.x);
  let n = u32(reduced.y);
  let y = bitcast<u32>(select(both.x, both.y, (n & 1u) != 0u));
  let signed_y = bitcast<f32>(y ^ ((n << 30u) & 0x80000000u) ^ (bits & 0x80000000u));
  return ag_invalid_if(x, signed_y, magnitude >= 0x7f800000u);
}

fn ag_cos(x: f32) -> f32 {
  let magnitude = bitcast<u32>(x) & 0x7fffffffu;
  let reduced = ag_reduce(magnitude);
  let both = ag_sin_cos(reduced.x);
  let n = u32(reduced.y);
  let y = bitcast<u32>(select(both.y, both.x, (n & 1u) != 0u));
  let signed_y = bitcast<f32>(y ^ (((n + 1u) << 30u) & 0x80000000u));
  return ag_invalid_if(x, signed_y, magnitude >= 0x7f800000u);
}

fn ag_tan(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let magnitude = bits & 0x7fffffffu;
  let reduced = ag_reduce(magnitude);
  let both = ag_sin_cos(reduced.x);
  let odd = (u32(reduced.y) & 1u) != 0u;
  let s = abs(both.x);
  let y = ag_quotient(select(s, both.y, odd), select(both.y, s, odd));
  let sign = bits ^ bitcast<u32>(reduced.x) ^ select(0u, 0x80000000u, odd);
  let signed_y = bitcast<f32>(bitcast<u32>(y) | (sign & 0x80000000u));
  let tiny = select(signed_y, x, magnitude < 0x39000000u);
  return ag_invalid_if(x, tiny, magnitude >= 0x7f800000u);
}

// asin(t) / t - 1 for z = t * t in [0, 1/4].
fn ag_asin_series(z: f32) -> f32 {
  return z * (0.16666752 + z * (0.074953064 + z * (0.045469772 + z * (0.024180774
    + z * 0.042166412))));
}

// Above 1/2: asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)), pi/2 with its rest.
fn ag_asin(x: f32) -> f32 {
  let a = min(abs(x), 1.0);
  let outer = a > 0.5;
  let z = select(a * a, 0.5 - 0.5 * a, outer);
  let t = select(a, ag_root(z), outer);
  let p = t + t * ag_asin_series(z);
  let y = select(p, 1.5707964 - (2.0 * p + 4.371139e-8), outer);
  return ag_invalid_if(x, ag_copysign(y, x), (bitcast<u32>(x) & 0x7fffffffu) > 0x3f800000u);
}

fn ag_acos(x: f32) -> f32 {
  let a = min(abs(x), 1.0);
  let outer = a > 0.5;
  let z = select(a * a, 0.5 - 0.5 * a, outer);
  let t = select(a, ag_root(z), outer);
  let p = t + t * ag_asin_series(z);
  let negative = bitcast<i32>(x) < 0;
  let near = 2.0 * p;
  let ends = select(near, 3.1415927 - (near + 8.742278e-8), negative);
  let inner = 1.5707964 - (select(p, -p, negative) + 4.371139e-8);
  let y = select(inner, ends, outer);
  return ag_invalid_if(x, y, (bitcast<u32>(x) & 0x7fffffffu) > 0x3f800000u);
}

// atan(t) - t for t in [0, 1].
fn ag_atan_rest(t: f32) -> f32 {
  let z = t * t;
  let q = -0.333333 + z * (0.1999853 + z * (-0.14264014 + z * (0.10950861 + z * (-0.08399209
    + z * (0.057878915 + z * (-0.03109363 + z * (0.010866358 + z * -0.001782173)))))));
  return t * z * q;
}

// atan(t) for t in [0, 1], or pi/2 less that: then pi/2 - t is exact from 0.571 on.
fn ag_atan_unit(t: f32, steep: bool) -> f32 {
  let rest = ag_atan_rest(t);
  return select(t + rest, max(1.5707964 - t, 0.0) - (rest + 4.371139e-8), steep);
}

fn ag_atan(x: f32) -> f32 {
  let a = min(abs(x), 0x1p48);
  let steep = a > 1.0;
  let y = ag_atan_unit(ag_quotient(select(a, 1.0, steep), select(1.0, a, steep)), steep);
  let tiny = (bitcast<u32>(x) & 0x7fffffffu) < 0x39000000u;
  return select(ag_copysign(y, x), x, tiny || ag_isnan(x));
}

fn ag_atan2(y: f32, x: f32) -> f32 {
  let ax = bitcast<u32>(x) & 0x7fffffffu;
  let ay = bitcast<u32>(y) & 0x7fffffffu;
  let steep = ay > ax;
  let least = bitcast<f32>(min(ax, ay));
  let most = bitcast<f32>(max(ax, ay));
  let ratio = select(ag_div_f32(least, most), 1.0, ax == ay);
  let up = ag_atan_unit(select(ratio, 0.0, ax == 0u && ay == 0u), steep);
  let back = select(up, 3.1415927 - (up + 8.742278e-8), bitcast<i32>(x) < 0);
  return select(select(ag_copysign(back, y), x, ag_isnan(x)), y, ag_isnan(y));
}
"""
)
