"""Elementwise functions and operators."""

import operator

import numpy as np
from hypothesis import strategies as st
from operands import DTYPES, KIND_OF, broadcasting, elements, operands, shapes
from rows import again, call, cast, floating, met, row
from verdict import Accurate, RefusedError, Same

import aiogpu as gpu
from aiogpu import dtypes
from aiogpu.graph import table


def taken(name):
    """The dtypes that an operation of the op table takes."""
    kinds = table.TABLE[name].kinds
    return tuple(each for each in DTYPES if KIND_OF[np.dtype(each).kind][0] in kinds)


# Of one operand


def exact(name, function):
    row(name, call(operands(taken(name))), function)


def elementary(name, row_name=None):
    """A function of the table of accuracy."""

    def reference(x):
        dtype = floating(x.dtype)
        prefix = "ag_c" if x.dtype.kind == "c" else "ag_"
        return Accurate(f"{prefix}{name}", (cast(x, dtype),), np.dtype(dtype).name)

    row(row_name or name, call(operands(taken(name))), reference)


def reals(function, of_complex):
    """A function that is exact, but of complex numbers by the table."""

    def reference(x):
        if x.dtype.kind != "c":
            return function(x)
        return Accurate(of_complex, (x,), "float32" if of_complex == "ag_cabs" else "complex64")

    return reference


for _name in (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "erf", "exp", "expm1", "log",
    "log10", "log1p", "log2", "reciprocal", "sin", "sinh", "sqrt", "tan", "tanh",
):  # fmt: skip
    elementary(_name)
for _name in ("sigmoid", "silu", "gelu"):
    elementary(_name, f"nn.{_name}")
for _name in (
    "bitwise_invert", "ceil", "conj", "floor", "imag", "isfinite", "isinf", "isnan", "logical_not",
    "negative", "positive", "real", "trunc",
):  # fmt: skip
    exact(_name, getattr(np, _name))
row("signbit", call(operands(taken("signbit"), domain="signs")), np.signbit)
exact("round", np.round)
exact("abs", reals(np.abs, "ag_cabs"))
exact("sign", reals(np.sign, "ag_csign"))
exact("square", reals(np.square, "ag_csquare"))
row(
    "nn.relu",
    call(operands(taken("relu"))),
    lambda x: Same(np.maximum(x, x.dtype.type(0))),
)


# Of two operands


PAIRS = [
    (one.name, two.name)
    for one in dtypes.ALL
    for two in dtypes.ALL
    if dtypes._PROMOTION[one, two] is not None
]


@st.composite
def scalars(draw, dtype):
    """A Python number that meets arrays of a dtype."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return draw(st.booleans())
    if kind in "iu":
        return draw(elements(dtype, "any") | st.floats(-9, 9, width=16))
    if kind == "c":
        return draw(elements("complex64", "any") | st.integers(-9, 9))
    return draw(elements("float32", "mild") | elements(dtype, "any") | st.integers(-9, 9))


@st.composite
def pairs(draw, name, domain="any", numbers=scalars):
    """Two operands that broadcast and promote; sometimes one is a Python number."""
    usual = taken(name)
    first, second = draw(
        st.sampled_from([pair for pair in PAIRS if {*pair} <= {*usual}])
        | st.sampled_from(usual).map(lambda dtype: (dtype, dtype))
    )
    shape = draw(shapes())
    x = draw(operands(first, broadcasting(shape), domain))
    kind = draw(st.integers(0, 5))
    if kind > 1:
        return (x, draw(operands(second, broadcasting(shape), domain))), {}
    number = draw(numbers(first))
    if (
        np.dtype(first).kind in "iu"
        and not isinstance(number, int)
        and "f" not in table.TABLE[name].kinds
    ):
        number = int(number)
    return ((x, number) if kind else (number, x)), {}


def two(name, function, domain="any", numbers=scalars):
    """A function of operands that have met."""

    def reference(x, y):
        if table.TABLE[name].rule == "logical":
            return function(*(cast(each, bool) for each in (x, y)))
        a, b = met(x, y)
        if table.TABLE[name].rule == "float":
            a, b = (cast(each, floating(each.dtype)) for each in (a, b))
        with np.errstate(all="ignore"):
            return function(a, b)

    row(name, pairs(name, domain, numbers), reference)


def accurate(name, of_complex=None, of_reals=None):
    """A function of the table of accuracy; ``of_reals`` is for what is exact."""

    def reference(a, b):
        if a.dtype.kind == "c":
            return Accurate(of_complex, (a, b), "complex64")
        if a.dtype.kind in "iu" or name is None:
            return of_reals(a, b)
        return Accurate(name, (a, b), a.dtype.name)

    return reference


def extreme(function, zero):
    """NumPy's maximum or minimum, where -0 is below 0."""

    def reference(a, b):
        made = function(a, b)
        if a.dtype.kind != "f":
            return made
        zeros = np.where(zero(np.signbit(a), np.signbit(b)), -0.0, 0.0).astype(a.dtype)
        return np.where((a == 0) & (b == 0), zeros, made)

    return reference


def by_divisor(function):
    """An integer function, 0 where it divides by 0, widened lest it overflow."""

    def reference(a, b):
        divisor = np.where(b == 0, 1, b).astype("i8")
        return np.where(b == 0, 0, function(a.astype("i8"), divisor)).astype(a.dtype)

    return reference


class Quotient(Accurate):
    """NumPy's floor division; of infinities the quotient; to a unit from 2^23 on."""

    def complaint(self, got):
        a, b = self.given
        with np.errstate(all="ignore"):
            value = np.where(np.isinf(a) | np.isinf(b), a / b, np.floor_divide(a, b))
            value = value.astype(self.dtype)
            # Past 2^23 NumPy's own is rounded three times; below 2^-100 adapters may flush.
            small = (np.abs(a) < 2.0**-100) & (a != 0) | (np.abs(b) < 2.0**-100) & (b != 0)
            large = np.isfinite(value) & (np.abs(value) >= 2.0**23)
            near = np.abs(got / value - 1) <= 2.0**-23
        return Same(
            np.where(small & (self.dtype == "float32") | large & near, got, value)
        ).complaint(got)


def floor_divided(a, b):
    return (
        by_divisor(np.floor_divide)(a, b)
        if a.dtype.kind in "iu"
        else Quotient("", (a, b), a.dtype.name)
    )


class Rest(Accurate):
    """NumPy's remainder; it passes through that of truncated division, which may be flushed."""

    def complaint(self, got):
        a, b = self.given
        with np.errstate(all="ignore"):
            value = np.remainder(a, b)
            small = [(np.abs(x) < 2.0**-102) & (x != 0) for x in (a, b, value)]
        small = np.logical_or.reduce(np.broadcast_arrays(*small)) & (self.dtype == "float32")
        return Same(np.where(small, got, value)).complaint(got)


def remainder(a, b):
    return (
        by_divisor(np.remainder)(a, b) if a.dtype.kind in "iu" else Rest("", (a, b), a.dtype.name)
    )


@np.vectorize
def _power(base, exponent):
    base, exponent = int(base), int(exponent)
    if exponent < 0:
        return {1: 1, -1: 1 - 2 * (exponent % 2)}.get(base, 0)
    value = pow(base, exponent, 2**32)
    return value - 2**32 if value >= 2**31 else value


def power(a, b):
    """Of integers modulo 2^32; a negative exponent truncates."""
    shape = np.broadcast_shapes(a.shape, b.shape)
    return _power(a, b).astype(a.dtype) if 0 not in shape else np.zeros(shape, a.dtype)


def next_after(a, b):
    """The standard has the second of two zeros, as NumPy's float32; its float16 has the first."""
    return np.where(a == b, b, np.nextafter(a, b)).astype(a.dtype)


two("add", np.add)
two("subtract", np.subtract)
two("multiply", accurate(None, "ag_cmul", np.multiply))
two("divide", accurate("ag_div_f32", "ag_cdiv"))
two("floor_divide", floor_divided)
two("remainder", remainder)
two("pow", accurate("ag_pow_f32", "ag_cpow", power))
two("atan2", accurate("ag_atan2"))
two("hypot", accurate("ag_hypot"))
two("logaddexp", accurate("ag_logaddexp"))
two("maximum", extreme(np.maximum, np.logical_and))
two("minimum", extreme(np.minimum, np.logical_or))
two("copysign", np.copysign, "signs")
two("nextafter", next_after)
for _name in (
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and",
    "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor",
):  # fmt: skip
    two(_name, getattr(np, _name))
for _name in ("left", "right"):
    # Counts from the width on, and negative ones, which NumPy takes for large.
    two(
        f"bitwise_{_name}_shift", getattr(np, f"{_name}_shift"), (-2, 40),
        lambda dtype: elements(dtype, (0, 40)),
    )  # fmt: skip


# Operators


for _spelling, _name in {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide",
    "floordiv": "floor_divide", "mod": "remainder", "pow": "pow", "and": "bitwise_and",
    "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
}.items():  # fmt: skip
    again(
        f"Array.__{_spelling}__", _name, getattr(operator, f"__{_spelling}__"),
        [f"Array.__r{_spelling}__"],
    )  # fmt: skip
for _spelling, _name in {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
    "ge": "greater_equal", "abs": "abs", "neg": "negative", "pos": "positive",
    "invert": "bitwise_invert",
}.items():  # fmt: skip
    again(f"Array.__{_spelling}__", _name, getattr(operator, f"__{_spelling}__"))
again("Array.round", "round", lambda x: x.round())


# Of three operands


@st.composite
def ends(draw):
    """An array, and the ends to which it is clipped, one of which may be left open."""
    dtype = draw(
        st.sampled_from(
            taken("maximum")[:2] + tuple(each for each in taken("maximum") if each != "bool")
        )
    )
    shape = draw(shapes())
    x = draw(operands(dtype, shape))
    kinds = draw(st.sampled_from(["nn", "no", "on", "an", "na", "aa", "ao", "oa"]))
    given = [
        {"n": scalar_end(dtype), "o": st.none(), "a": operands(dtype, broadcasting(shape))}[kind]
        for kind in kinds
    ]
    return (x, *(draw(each) for each in given)), {}


def scalar_end(dtype):
    if np.dtype(dtype).kind in "iu":
        return elements(dtype, "any")
    return elements(dtype, "any")


def clipped(x, least, most):
    for end, (function, zero) in (
        (least, (np.maximum, np.logical_and)),
        (most, (np.minimum, np.logical_or)),
    ):
        if end is not None:
            x = extreme(function, zero)(*met(x, end))
    return x


row("clip", ends(), clipped)
again("Array.clip", "clip", lambda x, least, most: x.clip(least, most))


@st.composite
def choices(draw):
    """A condition of any dtype, and what it chooses from."""
    shape = draw(shapes())
    condition = draw(operands(("bool", "bool", *DTYPES), broadcasting(shape)))
    first, second = draw(st.sampled_from(PAIRS))
    x = draw(operands(first, broadcasting(shape), "bits"))
    if draw(st.integers(0, 3)) == 0:
        y = draw(scalars(first))
        return (condition, *((x, y) if draw(st.booleans()) else (y, x))), {}
    return (condition, x, draw(operands(second, broadcasting(shape), "bits"))), {}


row("where", choices(), lambda c, x, y: np.where(cast(c, bool), *met(x, y)))


# Casts


@st.composite
def casts(draw):
    x = draw(operands(domain="any"))
    return (x, draw(st.sampled_from(DTYPES))), {}


def as_type(x, dtype):
    if x.dtype.kind == "c" and np.dtype(dtype).kind not in "cb":
        raise RefusedError(gpu.errors.DTypeError)
    return cast(x, dtype)


row("astype", casts(), as_type)
again("Array.astype", "astype", lambda x, dtype: x.astype(dtype))
