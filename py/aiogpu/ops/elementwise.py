"""Elementwise functions of the Array API standard.

Every function adds one node to the graph; operands broadcast and their dtypes promote. An operand
is an array or a Python number, which is weak: it takes the array's dtype where it can. All raise
ShapeError where shapes do not broadcast, and DTypeError where dtypes do not promote or are not
taken.
float32 results are accurate as the table in docs/accuracy.md says, on every adapter.
"""

from __future__ import annotations

from aiogpu.array import Array, as_operand
from aiogpu.dtypes import Scalar
from aiogpu.errors import UsageError
from aiogpu.graph import build

Operand = Array | Scalar


def _apply(name: str, *operands: object) -> Array:
    nodes = [as_operand(operand) for operand in operands]
    if not any(isinstance(operand, Array) for operand in operands) and all(
        isinstance(node, (bool, int, float, complex)) for node in nodes
    ):
        shown = ", ".join(map(repr, operands))
        raise UsageError(f"{name}: {shown}: needs at least one array")
    for operand, node in zip(operands, nodes, strict=True):
        if node is None:
            raise UsageError(
                f"{name}: {type(operand).__name__}: takes arrays and numbers; make one with asarray"
            )
    return Array(build.elementwise(name, *(node for node in nodes if node is not None)))


def abs(x: Array, /) -> Array:
    """Absolute value; numeric, same dtype."""
    return _apply("abs", x)


def acos(x: Array, /) -> Array:
    """Inverse cosine in radians, for x in [-1, 1]; NaN elsewhere. Floating-point result."""
    return _apply("acos", x)


def acosh(x: Array, /) -> Array:
    """Inverse hyperbolic cosine, for x >= 1; NaN elsewhere. Floating-point result."""
    return _apply("acosh", x)


def asin(x: Array, /) -> Array:
    """Inverse sine in radians, for x in [-1, 1]; NaN elsewhere. Floating-point result."""
    return _apply("asin", x)


def asinh(x: Array, /) -> Array:
    """Inverse hyperbolic sine. Floating-point result."""
    return _apply("asinh", x)


def atan(x: Array, /) -> Array:
    """Inverse tangent in radians. Floating-point result."""
    return _apply("atan", x)


def atanh(x: Array, /) -> Array:
    """Inverse hyperbolic tangent, for x in [-1, 1]; NaN elsewhere. Floating-point result."""
    return _apply("atanh", x)


def bitwise_invert(x: Array, /) -> Array:
    """All bits flipped; integer or bool, same dtype."""
    return _apply("bitwise_invert", x)


def ceil(x: Array, /) -> Array:
    """Smallest integer not below x; numeric, same dtype."""
    return _apply("ceil", x)


def conj(x: Array, /) -> Array:
    """Complex conjugate; numeric, same dtype: reals are their own."""
    return _apply("conj", x)


def cos(x: Array, /) -> Array:
    """Cosine of an angle in radians. Floating-point result."""
    return _apply("cos", x)


def cosh(x: Array, /) -> Array:
    """Hyperbolic cosine. Floating-point result."""
    return _apply("cosh", x)


def erf(x: Array, /) -> Array:
    """Gauss error function. Floating-point result."""
    return _apply("erf", x)


def exp(x: Array, /) -> Array:
    """E to the power of x. Floating-point result."""
    return _apply("exp", x)


def expm1(x: Array, /) -> Array:
    """exp(x) - 1, accurate near 0. Floating-point result."""
    return _apply("expm1", x)


def floor(x: Array, /) -> Array:
    """Largest integer not above x; numeric, same dtype."""
    return _apply("floor", x)


def imag(x: Array, /) -> Array:
    """Imaginary part of complex numbers; float32 result.

    Raises:
        DTypeError: ``x`` is not complex.
    """
    return _apply("imag", x)


def isfinite(x: Array, /) -> Array:
    """Whether x is neither infinite nor NaN; bool result."""
    return _apply("isfinite", x)


def isinf(x: Array, /) -> Array:
    """Whether x is an infinity; bool result."""
    return _apply("isinf", x)


def isnan(x: Array, /) -> Array:
    """Whether x is NaN; bool result."""
    return _apply("isnan", x)


def log(x: Array, /) -> Array:
    """Natural logarithm; -infinity at 0, NaN below. Floating-point result."""
    return _apply("log", x)


def log10(x: Array, /) -> Array:
    """Logarithm to base 10; -infinity at 0, NaN below. Floating-point result."""
    return _apply("log10", x)


def log1p(x: Array, /) -> Array:
    """log(1 + x), accurate near 0. Floating-point result."""
    return _apply("log1p", x)


def log2(x: Array, /) -> Array:
    """Logarithm to base 2; -infinity at 0, NaN below. Floating-point result."""
    return _apply("log2", x)


def logical_not(x: Array, /) -> Array:
    """Whether x is zero or false; bool result."""
    return _apply("logical_not", x)


def negative(x: Array, /) -> Array:
    """-x; numeric, same dtype; wraps for integers."""
    return _apply("negative", x)


def positive(x: Array, /) -> Array:
    """X itself; numeric."""
    return _apply("positive", x)


def real(x: Array, /) -> Array:
    """Real part, float32 for complex numbers; reals are their own. Numeric."""
    return _apply("real", x)


def reciprocal(x: Array, /) -> Array:
    """1 / x. Floating-point result."""
    return _apply("reciprocal", x)


def round(x: Array, /) -> Array:
    """Nearest integer, halves to even; numeric, same dtype."""
    return _apply("round", x)


def sign(x: Array, /) -> Array:
    """-1, 0 or 1; NaN for NaN. Numeric, same dtype."""
    return _apply("sign", x)


def signbit(x: Array, /) -> Array:
    """Whether the sign bit is set; floating-point, bool result."""
    return _apply("signbit", x)


def sin(x: Array, /) -> Array:
    """Sine of an angle in radians. Floating-point result."""
    return _apply("sin", x)


def sinh(x: Array, /) -> Array:
    """Hyperbolic sine. Floating-point result."""
    return _apply("sinh", x)


def sqrt(x: Array, /) -> Array:
    """Square root; NaN below 0. Floating-point result."""
    return _apply("sqrt", x)


def square(x: Array, /) -> Array:
    """X * x; numeric, same dtype."""
    return _apply("square", x)


def tan(x: Array, /) -> Array:
    """Tangent of an angle in radians. Floating-point result."""
    return _apply("tan", x)


def tanh(x: Array, /) -> Array:
    """Hyperbolic tangent. Floating-point result."""
    return _apply("tanh", x)


def trunc(x: Array, /) -> Array:
    """Integer part; numeric, same dtype."""
    return _apply("trunc", x)


def add(x1: Operand, x2: Operand, /) -> Array:
    """x1 + x2; integers wrap."""
    return _apply("add", x1, x2)


def atan2(x1: Operand, x2: Operand, /) -> Array:
    """Angle in radians, in [-pi, pi], of the point (x2, x1). Floating-point result."""
    return _apply("atan2", x1, x2)


def bitwise_and(x1: Operand, x2: Operand, /) -> Array:
    """Bits set in both; integer or bool."""
    return _apply("bitwise_and", x1, x2)


def bitwise_left_shift(x1: Operand, x2: Operand, /) -> Array:
    """x1 shifted left by x2 bits; integer; 0 from the width of the dtype on."""
    return _apply("bitwise_left_shift", x1, x2)


def bitwise_or(x1: Operand, x2: Operand, /) -> Array:
    """Bits set in either; integer or bool."""
    return _apply("bitwise_or", x1, x2)


def bitwise_right_shift(x1: Operand, x2: Operand, /) -> Array:
    """x1 shifted right by x2 bits, keeping the sign; integer."""
    return _apply("bitwise_right_shift", x1, x2)


def bitwise_xor(x1: Operand, x2: Operand, /) -> Array:
    """Bits set in one only; integer or bool."""
    return _apply("bitwise_xor", x1, x2)


def copysign(x1: Operand, x2: Operand, /) -> Array:
    """Magnitude of x1 with the sign of x2, also of zeros and NaN; floating-point."""
    return _apply("copysign", x1, x2)


def divide(x1: Operand, x2: Operand, /) -> Array:
    """x1 / x2. Floating-point result; infinite or NaN where x2 is 0."""
    return _apply("divide", x1, x2)


def equal(x1: Operand, x2: Operand, /) -> Array:
    """Whether x1 == x2; bool result."""
    return _apply("equal", x1, x2)


def floor_divide(x1: Operand, x2: Operand, /) -> Array:
    """x1 / x2 rounded towards -infinity; numeric; integer division by 0 gives 0."""
    return _apply("floor_divide", x1, x2)


def greater(x1: Operand, x2: Operand, /) -> Array:
    """Whether x1 > x2; bool result."""
    return _apply("greater", x1, x2)


def greater_equal(x1: Operand, x2: Operand, /) -> Array:
    """Whether x1 >= x2; bool result."""
    return _apply("greater_equal", x1, x2)


def hypot(x1: Operand, x2: Operand, /) -> Array:
    """sqrt(x1**2 + x2**2) without overflow on the way. Floating-point result."""
    return _apply("hypot", x1, x2)


def less(x1: Operand, x2: Operand, /) -> Array:
    """Whether x1 < x2; bool result."""
    return _apply("less", x1, x2)


def less_equal(x1: Operand, x2: Operand, /) -> Array:
    """Whether x1 <= x2; bool result."""
    return _apply("less_equal", x1, x2)


def logaddexp(x1: Operand, x2: Operand, /) -> Array:
    """log(exp(x1) + exp(x2)) without overflow on the way. Floating-point result."""
    return _apply("logaddexp", x1, x2)


def logical_and(x1: Operand, x2: Operand, /) -> Array:
    """Whether both are nonzero; bool result."""
    return _apply("logical_and", x1, x2)


def logical_or(x1: Operand, x2: Operand, /) -> Array:
    """Whether one is nonzero; bool result."""
    return _apply("logical_or", x1, x2)


def logical_xor(x1: Operand, x2: Operand, /) -> Array:
    """Whether exactly one is nonzero; bool result."""
    return _apply("logical_xor", x1, x2)


def maximum(x1: Operand, x2: Operand, /) -> Array:
    """The larger; NaN where either is NaN."""
    return _apply("maximum", x1, x2)


def minimum(x1: Operand, x2: Operand, /) -> Array:
    """The smaller; NaN where either is NaN."""
    return _apply("minimum", x1, x2)


def multiply(x1: Operand, x2: Operand, /) -> Array:
    """x1 * x2; integers wrap."""
    return _apply("multiply", x1, x2)


def nextafter(x1: Operand, x2: Operand, /) -> Array:
    """The next number of the dtype after x1 towards x2; floating-point."""
    return _apply("nextafter", x1, x2)


def not_equal(x1: Operand, x2: Operand, /) -> Array:
    """Whether x1 != x2; bool result."""
    return _apply("not_equal", x1, x2)


def pow(x1: Operand, x2: Operand, /) -> Array:
    """x1 to the power of x2; numeric; special cases as in C99."""
    return _apply("pow", x1, x2)


def remainder(x1: Operand, x2: Operand, /) -> Array:
    """x1 - x2 * floor(x1 / x2), with the sign of x2; numeric; integers modulo 0 give 0."""
    return _apply("remainder", x1, x2)


def subtract(x1: Operand, x2: Operand, /) -> Array:
    """x1 - x2; integers wrap."""
    return _apply("subtract", x1, x2)


def clip(x: Array, /, min: Operand | None = None, max: Operand | None = None) -> Array:
    """X limited to [min, max]; NaN stays NaN. Numeric; the dtypes promote.

    Args:
        x: The array.
        min: The lower end, a number or an array that broadcasts; None leaves it open.
        max: The upper end, likewise. Where it is below ``min``, it is the result.

    Raises:
        IntegerOverflowError: A number for an end does not fit the dtype of ``x``.
    """
    result = x if min is None else maximum(x, min)
    return result if max is None else minimum(result, max)
