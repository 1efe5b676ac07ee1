"""NumPy values, each with a bound of how far aiogpu may be from it: what random graphs must give.

Integers and bools are computed exactly, in 64 bits, and wrapped to their dtype: their bound is 0.
Floats are computed in float64, and every operation adds to the bound what it may add at most:

- what is exact in any arithmetic (a sum of small whole numbers, say) adds nothing;
- one rounding adds a unit in the last place of the result's dtype, an elementary function as many
  as the table of accuracy says, a product of matrices or a complex sum k units of its terms' sum;
- errors of the operands are carried through the function: by its values at the ends of the range in
  which the operand lies, which holds for functions that rise or fall all the way.

`apply` gives None where the bound says nothing: where a comparison, a cast to an integer, a floor
or a branch cut could go either way, or a result is large, or the bound has grown too large. So a
comparison of aiogpu's result with the value never needs a guess, fused or not: both lie within it.
"""

import math
from typing import NamedTuple

import numpy as np

import aiogpu as gpu
from aiogpu.kernels.numerics import ACCURACY, COMPLEX_ACCURACY

FLUSHED = 1.2e-38  # results below the smallest normal number may be flushed to 0
LARGEST = {"float32": 1e6, "float16": 1000, "complex64": 1e4}
COARSEST = {"float32": 1e-3, "float16": 0.1, "complex64": 1e-3}  # relative, absolute below 1
WIDE = {"bool": "?", "int": "i8", "uint": "i8", "float": "f8", "complex": "c16"}


class Value(NamedTuple):
    """What a node must give: ``data`` in a wide dtype, each element to within ``error``."""

    data: np.ndarray
    error: np.ndarray
    dtype: object

    @property
    def shape(self):
        return self.data.shape

    @property
    def kind(self):
        return self.dtype.kind

    @property
    def is_exact(self):
        return not self.error.any()

    def view(self, move):
        """The elements that ``move`` takes from an array."""
        return Value(move(self.data), move(self.error), self.dtype)


class UndecidedError(Exception):
    """The bound does not say what the result is."""


def require(condition):
    if not np.all(condition):
        raise UndecidedError


def whole(data, dtype):
    """An integer or bool value, wrapped to its dtype."""
    data = np.asarray(data)
    if dtype.kind != "bool":
        bits = 8 * dtype.itemsize
        data = data.astype("i8") & ((1 << bits) - 1)
        if dtype.kind == "int":
            data = data - ((data >> (bits - 1)) << bits)
    return Value(data, np.zeros(data.shape), dtype)


def inexact(data, error, dtype, units):
    """A float or complex value; ``units`` of its last place are added to the error.

    Units are of float32, in which all is computed; float16 adds one of its own. For complex numbers
    they are 2^-24 of the modulus.
    """
    data = np.asarray(data).astype(WIDE[dtype.kind])
    require(np.isfinite(data) & np.isfinite(error))
    size = np.abs(data) + error
    require(size < LARGEST[dtype.name])
    if dtype.kind == "complex":
        error = error + units * 2.0**-24 * size + FLUSHED
    else:
        error = error + units * np.spacing(size.astype("f4")) + FLUSHED
    if dtype is gpu.float16:
        require((data == 0) | (size > 2.0**-12))  # normal numbers: others may be flushed
        error = error + np.spacing(np.minimum(size, 6e4).astype("f2"))
    return checked(data, error, dtype)


def checked(data, error, dtype):
    size = np.abs(data) + error
    require(size < LARGEST[dtype.name])
    require(error <= COARSEST[dtype.name] * np.maximum(1, np.abs(data)))
    return Value(data, np.broadcast_to(error, data.shape).astype("f8"), dtype)


def rounded(data, error, dtype, units=1.0):
    """As `inexact`, but what the dtype holds is exact where the operands are."""
    with np.errstate(over="ignore"):
        held = data.astype(dtype.name).astype(data.dtype)
    fine = (held == data) & (np.asarray(error) == 0)
    made = inexact(data, error, dtype, units)
    return Value(made.data, np.where(fine, 0, made.error), dtype)


def number(value, dtype):
    """A Python number as aiogpu takes it: in the dtype, exactly what is nearest."""
    if dtype.kind in {"float", "complex"}:
        data = np.array(value, dtype.name).astype(WIDE[dtype.kind])
        return Value(data, np.zeros(()), dtype)
    return whole(np.array(value), dtype)


def cast(x, dtype):
    if x.dtype is dtype:
        return x
    if dtype.kind == "bool":
        require((x.error == 0) | (np.abs(x.data) > x.error))
        return whole(x.data != 0, dtype)
    if dtype.kind in {"float", "complex"}:
        return rounded(x.data.astype(WIDE[dtype.kind]), x.error, dtype)
    if x.kind != "float":
        return whole(x.data, dtype)
    low, high = np.trunc(x.data - x.error), np.trunc(x.data + x.error)
    require(low == high)
    return whole(np.clip(low, *dtype.range), dtype)


# Elementwise functions, on operands of one dtype. `a` and `b` are their values.


def spread(function, *operands):
    """How far a function that is monotonic in each operand differs within their errors."""
    middle = function(*(x.data for x in operands))
    corners = [[]]
    for x in operands:
        ends = (x.data - x.error, x.data + x.error)
        corners = [[*corner, end] for corner in corners for end in ends]
    return middle, np.max([np.abs(function(*corner) - middle) for corner in corners], axis=0)


# name: function, range of the argument in which it is monotonic and its values are moderate.
MONOTONIC = {
    "exp": (np.exp, -20, 6), "expm1": (np.expm1, -20, 6), "log": (np.log, 0.05, 1e6),
    "log1p": (np.log1p, -0.9, 1e6), "log2": (np.log2, 0.05, 1e6), "log10": (np.log10, 0.05, 1e6),
    "sqrt": (np.sqrt, 0, 1e6), "tan": (np.tan, -1.4, 1.4), "asin": (np.arcsin, -0.99, 0.99),
    "acos": (np.arccos, -0.99, 0.99), "atan": (np.arctan, -1e6, 1e6), "sinh": (np.sinh, -6, 6),
    "tanh": (np.tanh, -1e6, 1e6), "asinh": (np.arcsinh, -1e6, 1e6),
    "acosh": (np.arccosh, 1.01, 1e6), "atanh": (np.arctanh, -0.99, 0.99),
    "erf": (np.vectorize(math.erf, otypes=["f8"]), -1e6, 1e6),
}  # fmt: skip
STEPS = {"floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round": np.rint, "sign": np.sign}


def monotonic(name, a):
    function, low, high = MONOTONIC[name]
    require((low <= a.data - a.error) & (a.data + a.error <= high))
    return inexact(*spread(function, a), a.dtype, ACCURACY[f"ag_{name}"][2])


def wave(name, a):
    """Sine and cosine: they rise by 1 at most."""
    return inexact(getattr(np, name)(a.data), a.error, a.dtype, ACCURACY[f"ag_{name}"][2])


def steps(name, a):
    if a.kind != "float":
        return whole(STEPS[name](a.data), a.dtype)
    require(STEPS[name](a.data - a.error) == STEPS[name](a.data + a.error))
    return Value(STEPS[name](a.data), np.zeros(a.shape), a.dtype)


def cosh(_, a):
    require(np.abs(a.data) + a.error < 6)
    rise = np.sinh(np.abs(a.data) + a.error) * a.error
    return inexact(np.cosh(a.data), rise, a.dtype, ACCURACY["ag_cosh"][2])


def complex_exp(_, a):
    require(np.abs(a.data) + a.error < 6)
    r = np.exp(a.data)
    return inexact(r, np.abs(r) * np.expm1(a.error), a.dtype, COMPLEX_ACCURACY["ag_cexp"][1])


def negative(_, a):
    return Value(-a.data, a.error, a.dtype) if is_inexact(a) else whole(-a.data, a.dtype)


def absolute(_, a):
    if a.kind == "complex":
        units = COMPLEX_ACCURACY["ag_cabs"][1]
        return inexact(np.abs(a.data), a.error, gpu.float32, units)
    made = np.abs(a.data)
    return Value(made, a.error, a.dtype) if is_inexact(a) else whole(made, a.dtype)


def square(_, a):
    return multiply(None, a, a)


def reciprocal(_, a):
    return divide(None, number(1, a.dtype), a)


def positive(_, a):
    return a


def invert(_, a):
    return whole(~a.data, a.dtype)


def isfinite(name, a):
    return whole(np.full(a.shape, name == "isfinite"), gpu.bool)


def is_inexact(a):
    return a.kind in {"float", "complex"}


def add(name, a, b):
    data = a.data + b.data if name == "add" else a.data - b.data
    return rounded(data, a.error + b.error, a.dtype) if is_inexact(a) else whole(data, a.dtype)


def multiply(_, a, b):
    data = a.data * b.data
    if not is_inexact(a):
        return whole(data, a.dtype)
    error = np.abs(a.data) * b.error + np.abs(b.data) * a.error + a.error * b.error
    if a.kind == "complex" and not (is_countable(a.data / 16, 1) and is_countable(b.data / 16, 1)):
        return inexact(data, error, a.dtype, COMPLEX_ACCURACY["ag_cmul"][1])
    return rounded(data, error, a.dtype)


def divide(_, a, b):
    least = np.abs(b.data) - b.error
    require(least > 0.05)
    data = a.data / b.data
    error = (a.error + np.abs(data) * b.error) / least
    units = COMPLEX_ACCURACY["ag_cdiv"][1] if a.kind == "complex" else ACCURACY["ag_div_f32"][2]
    return inexact(data, error, a.dtype, units)


def floored(name, a, b):
    """Floor division and remainder: floats only where all is exact."""
    function = np.floor_divide if name == "floor_divide" else np.remainder
    if not is_inexact(a):
        with np.errstate(divide="ignore"):
            return whole(np.where(b.data == 0, 0, function(a.data, b.data)), a.dtype)
    require(a.is_exact and b.is_exact)
    require(b.data != 0)
    made = rounded(function(a.data, b.data), 0.0, a.dtype)
    require(made.is_exact)
    return made


def power(_, a, b):
    if not is_inexact(a):
        require((b.data >= 0) & (b.data < 40))
        with np.errstate(over="ignore"):
            return whole(np.power(a.data, b.data), a.dtype)
    require(a.kind == "float")
    require(a.data - a.error > 0.2)
    return inexact(*spread(np.power, a, b), a.dtype, ACCURACY["ag_pow_f32"][2])


def extreme(name, a, b):
    made = getattr(np, name)(a.data, b.data)
    return Value(made, np.maximum(a.error, b.error), a.dtype)


def hypot(_, a, b):
    sizes = [Value(np.abs(x.data), x.error, x.dtype) for x in (a, b)]
    return inexact(*spread(np.hypot, *sizes), a.dtype, ACCURACY["ag_hypot"][2])


def atan2(_, a, b):
    """Away from the origin and from the cut, where it jumps."""
    require((np.abs(a.data) > a.error + 0.01) | (b.data > b.error + 0.01))
    return inexact(*spread(np.arctan2, a, b), a.dtype, ACCURACY["ag_atan2"][2])


def compare(name, a, b):
    error = a.error + b.error
    if error.any():
        require((error == 0) | (np.abs(a.data - b.data) > error))
    return whole(getattr(np, name)(a.data, b.data), gpu.bool)


def bits(name, a, b):
    return whole(getattr(np, name)(a.data, b.data), a.dtype)


def shift(name, a, b):
    require((b.data >= 0) & (b.data < 31))
    function = np.left_shift if name == "bitwise_left_shift" else np.right_shift
    return whole(function(a.data, b.data), a.dtype)


COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
LOGICAL = ("logical_and", "logical_or", "logical_xor", "logical_not")
UNARY = {
    **dict.fromkeys(MONOTONIC, monotonic), **dict.fromkeys(STEPS, steps), "sin": wave, "cos": wave,
    "cosh": cosh, "negative": negative, "abs": absolute, "square": square, "positive": positive,
    "reciprocal": reciprocal, "bitwise_invert": invert, "logical_not": bits, "isnan": isfinite,
    "isfinite": isfinite,
}  # fmt: skip
BINARY = {
    "add": add, "subtract": add, "multiply": multiply, "divide": divide, "floor_divide": floored,
    "remainder": floored, "pow": power, "maximum": extreme, "minimum": extreme, "hypot": hypot,
    "atan2": atan2, **dict.fromkeys(COMPARISONS, compare), **dict.fromkeys(LOGICAL[:3], bits),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), bits),
    **dict.fromkeys(("bitwise_left_shift", "bitwise_right_shift"), shift),
}  # fmt: skip
FLOATING = {*MONOTONIC, "sin", "cos", "cosh", "reciprocal", "divide", "hypot", "atan2"}


@np.errstate(all="ignore")  # what overflows is found out by the bounds
def elementwise(name, *operands):
    """A function of operands: values, or Python numbers, which are weak."""
    if name in LOGICAL:
        dtype = gpu.bool
    else:
        dtype = gpu.result_type(*(x.dtype if isinstance(x, Value) else x for x in operands))
        if name in FLOATING and dtype.kind in {"int", "uint", "bool"}:
            dtype = gpu.float32
    met = [cast(x, dtype) if isinstance(x, Value) else number(x, dtype) for x in operands]
    if name == "logical_not":
        return whole(~met[0].data, dtype)
    if dtype.kind == "complex" and name == "exp":
        return complex_exp(name, *met)
    require(dtype.kind != "complex" or name not in {*MONOTONIC, "sin", "cos", "cosh", *STEPS})
    return (UNARY if len(met) == 1 else BINARY)[name](name, *met)


def where(condition, first, second):
    chosen = cast(condition, gpu.bool).data
    dtype = gpu.result_type(*(x.dtype if isinstance(x, Value) else x for x in (first, second)))
    a, b = (cast(x, dtype) if isinstance(x, Value) else number(x, dtype) for x in (first, second))
    return Value(np.where(chosen, a.data, b.data), np.where(chosen, a.error, b.error), dtype)


# Reductions and products.


def is_countable(data, most):
    """Whether all are multiples of 1/256 and so few that their sum is exact in any order."""
    parts = [data.real, data.imag] if np.iscomplexobj(data) else [data]
    even = all(np.all(part * 256 == np.rint(part * 256)) for part in parts)
    return even and bool(np.all(most * 256 < 2.0**24))


@np.errstate(all="ignore")
def reduction(name, x, axes, keepdims):
    """A reduction over some axes."""
    if name in {"any", "all"}:
        return whole(getattr(np, name)(cast(x, gpu.bool).data, axes, keepdims=keepdims), gpu.bool)
    if name in {"max", "min"}:
        require(all(x.shape[axis] for axis in axes))
        require(x.kind != "complex")
        made = getattr(np, name)(x.data, axes, keepdims=keepdims)
        return Value(
            np.asarray(made), np.asarray(np.max(x.error, axes, keepdims=keepdims)), x.dtype
        )
    dtype = x.dtype
    if dtype.kind not in {"float", "complex"}:
        narrow = gpu.uint32 if dtype.kind == "uint" else gpu.int32
        dtype = gpu.float32 if name == "mean" else narrow
    if name == "prod":
        return product(cast(x, dtype), axes, keepdims)
    return total(name, cast(x, dtype), axes, keepdims)


def total(name, x, axes, keepdims):
    data = np.asarray(np.sum(x.data, axes, keepdims=keepdims))
    if not is_inexact(x):
        return whole(data, x.dtype)
    count = math.prod(x.shape[axis] for axis in axes)
    error = np.asarray(np.sum(x.error, axes, keepdims=keepdims))
    sizes = np.asarray(np.sum(np.abs(x.data) + x.error, axes, keepdims=keepdims))
    if x.is_exact and is_countable(x.data, sizes):
        made = rounded(data, error, x.dtype)
    elif x.kind == "complex":  # not compensated
        made = inexact(data, error + (count + 1) * 2.0**-24 * sizes, x.dtype, 1)
    else:  # compensated: Ogita, Rump and Oishi, "Accurate sum and dot product" (2005)
        made = inexact(data, error + count**2 * 2.0**-48 * sizes, x.dtype, 1)
    if name == "sum":
        return made
    require(count > 0)
    return inexact(made.data / count, made.error / count, x.dtype, 2)


def product(x, axes, keepdims):
    with np.errstate(over="ignore"):
        data = np.asarray(np.prod(x.data, axes, keepdims=keepdims))
    if not is_inexact(x):
        return whole(data, x.dtype)
    count = math.prod(x.shape[axis] for axis in axes)
    require(count <= 12)
    sizes = np.prod(np.abs(x.data), axes, keepdims=keepdims)
    largest = np.prod(np.abs(x.data) + x.error, axes, keepdims=keepdims)
    units = COMPLEX_ACCURACY["ag_cmul"][1] if x.kind == "complex" else 1.0
    return inexact(data, largest - sizes, x.dtype, units * count)


@np.errstate(all="ignore")
def matmul(x, y):
    dtype = gpu.result_type(x.dtype, y.dtype)
    a, b = cast(x, dtype), cast(y, dtype)
    data = np.asarray(a.data @ b.data)
    if not is_inexact(a):
        return whole(data, dtype)
    p, q = np.abs(a.data), np.abs(b.data)
    error = np.asarray(p @ b.error + a.error @ q + a.error @ b.error)
    sizes = np.asarray(p @ q)
    if (
        a.is_exact
        and b.is_exact
        and is_countable(a.data / 16, sizes)
        and is_countable(b.data / 16, 0)
    ):
        return rounded(data, error, dtype)
    count = a.shape[-1] * (3 if dtype.kind == "complex" else 1)
    return inexact(data, error + (count + 1) * 2.0**-24 * (sizes + error), dtype, 1)
