"""Arithmetic of int32 and uint32 as NumPy has it: division floors, everything else wraps."""

from aiogpu.kernels.numerics.function import parse

FUNCTIONS = parse(
    """
// A divisor that can neither trap nor overflow; 0 and the wrapping INT_MIN / -1 divide by one.
fn ag_safe_divisor(a: i32, b: i32) -> i32 {
  return select(b, 1, b == 0 || (bitcast<u32>(a) == 0x80000000u && b == -1));
}

fn ag_floordiv_i32(a: i32, b: i32) -> i32 {
  let d = ag_safe_divisor(a, b);
  let q = a / d;
  let r = a - q * d;
  let floored = q - select(0, 1, r != 0 && (r ^ d) < 0);
  return select(floored, 0, b == 0);
}

fn ag_mod_i32(a: i32, b: i32) -> i32 {
  let d = ag_safe_divisor(a, b);
  let r = a - (a / d) * d;
  let floored = r + select(0, d, r != 0 && (r ^ d) < 0);
  return select(floored, 0, b == 0);
}

fn ag_floordiv_u32(a: u32, b: u32) -> u32 {
  return select(a / max(b, 1u), 0u, b == 0u);
}

fn ag_mod_u32(a: u32, b: u32) -> u32 {
  let d = max(b, 1u);
  return a - (a / d) * d;
}

fn ag_pow_u32(a: u32, b: u32) -> u32 {
  var result = 1u;
  var square = a;
  for (var exponent = b; exponent != 0u; exponent = exponent >> 1u) {
    result = result * select(1u, square, (exponent & 1u) != 0u);
    square = square * square;
  }
  return result;
}

// A negative exponent gives the truncated inverse: 0 but for the bases 1 and -1.
fn ag_pow_i32(a: i32, b: i32) -> i32 {
  let unit = select(select(0, 1, a == 1), 1 - 2 * (b & 1), a == -1);
  let power = bitcast<i32>(ag_pow_u32(bitcast<u32>(a), select(bitcast<u32>(b), 0u, b < 0)));
  return select(power, unit, b < 0);
}

fn ag_abs_i32(a: i32) -> i32 {
  return select(a, bitcast<i32>(0u - bitcast<u32>(a)), a < 0);
}

fn ag_sign_i32(a: i32) -> i32 {
  return select(0, 1, a > 0) - select(0, 1, a < 0);
}

// A count outside 0..31, also a negative one, shifts everything out.
fn ag_shl_i32(a: i32, b: i32) -> i32 {
  let n = bitcast<u32>(b);
  return select(a << (n & 31u), 0, n > 31u);
}

fn ag_shr_i32(a: i32, b: i32) -> i32 {
  return a >> min(bitcast<u32>(b), 31u);
}

fn ag_shl_u32(a: u32, b: u32) -> u32 {
  return select(a << (b & 31u), 0u, b > 31u);
}

fn ag_shr_u32(a: u32, b: u32) -> u32 {
  return select(a >> (b & 31u), 0u, b > 31u);
}
"""
)
