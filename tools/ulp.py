"""How far results are from the right ones, in units in the last place; NumPy in float64 is right.

A unit in the last place is that of the right result's binade. A result below 2^-126 in magnitude
may be flushed to 0, and such an argument may be read as 0. Runs wherever NumPy runs, as `trial`.
"""

import math
from collections.abc import Callable, Mapping
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from aiogpu.kernels.numerics import ACCURACY

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

TINY = 2.0**-126


class Worst(TypedDict):
    """The worst of one function's results.

    Attributes:
        ulp: Units in the last place; -1 stands for infinitely many: a NaN, an infinity or the sign
            of a zero is wrong.
        at: The arguments, the result and the right result, for whoever reads it.
    """

    ulp: float
    at: str


def _everywhere(function: Callable[[float], float]) -> Callable[[Doubles], Doubles]:
    vector = np.vectorize(function, otypes=[np.float64])
    return lambda x: np.asarray(vector(x), np.float64)


_erfc = _everywhere(math.erfc)


def _silu(x: Doubles) -> Doubles:
    return np.where(x == -np.inf, -0.0, x / (1 + np.exp(-x)))


def _gelu(x: Doubles) -> Doubles:
    return np.where(x == -np.inf, -0.0, x * _erfc(-x / math.sqrt(2)) / 2)


def _softplus(x: Doubles) -> Doubles:
    return np.where(np.isnan(x), x, np.logaddexp(0, x))


def _hypot(x: Doubles, y: Doubles) -> Doubles:
    return np.where(np.isinf(x) | np.isinf(y), np.inf, np.sqrt(x * x + y * y))


def _arccosh(x: Doubles) -> Doubles:
    # The C library of Emscripten (musl) gives -inf for large negative arguments.
    return np.where(x < 1, np.nan, np.arccosh(x))


REFERENCE: dict[str, Callable[..., Doubles]] = {
    "ag_div_f32": np.divide,
    "ag_reciprocal": np.reciprocal,
    "ag_sqrt": np.sqrt,
    "ag_rsqrt": lambda x: 1 / np.sqrt(x),
    "ag_hypot": _hypot,
    "ag_exp": np.exp,
    "ag_exp2": np.exp2,
    "ag_expm1": np.expm1,
    "ag_log": np.log,
    "ag_log2": np.log2,
    "ag_log10": np.log10,
    "ag_log1p": np.log1p,
    "ag_logaddexp": np.logaddexp,
    "ag_pow_f32": np.power,
    "ag_sin": np.sin,
    "ag_cos": np.cos,
    "ag_tan": np.tan,
    "ag_asin": np.arcsin,
    "ag_acos": np.arccos,
    "ag_atan": np.arctan,
    "ag_atan2": np.arctan2,
    "ag_sinh": np.sinh,
    "ag_cosh": np.cosh,
    "ag_tanh": np.tanh,
    "ag_asinh": np.arcsinh,
    "ag_acosh": _arccosh,
    "ag_atanh": np.arctanh,
    "ag_erf": _everywhere(math.erf),
    "ag_erfc": _erfc,
    "ag_sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "ag_silu": _silu,
    "ag_softplus": _softplus,
    "ag_gelu": _gelu,
}


def right(name: str, given: tuple[Floats, ...]) -> Doubles:
    """The right results for these arguments, which are exact in float64."""
    with np.errstate(all="ignore"):
        return REFERENCE[name](*(x.astype(np.float64) for x in given))


def flushed(x: Floats) -> Floats:
    """What is left of an array where subnormal numbers are read as 0."""
    return np.where(np.abs(x) < TINY, np.copysign(np.float32(0), x), x)


def errors(name: str, given: tuple[Floats, ...], got: Floats) -> Doubles:
    """Units between the results and the right ones; inf where a special value is wrong."""
    # Where logaddexp cancels it is as exact as a unit of the larger argument.
    least = np.max(np.abs(given), axis=0) if name == "ag_logaddexp" else np.zeros(len(got))
    exact = _units(got, right(name, given), least)
    return np.minimum(exact, _units(got, right(name, tuple(map(flushed, given))), least))


def _units(got: Floats, want: Doubles, least: Doubles | Floats) -> Doubles:
    with np.errstate(all="ignore"):
        rounded = want.astype(np.float32)
        scale = np.where(np.isfinite(least), np.fmax(np.abs(want), least), np.abs(want))
        binade = np.maximum(np.frexp(scale)[1] - 1, -126)
        error = np.abs(got - want) / np.ldexp(1.0, binade - 23)
    error = np.where(got == rounded, np.fmin(error, 0.5), error)
    error = np.where(np.isnan(want) & np.isnan(got), 0, error)
    error = np.where((want == 0) & (np.signbit(got) != np.signbit(want)), np.inf, error)
    error = np.where((want != 0) & (np.abs(want) < TINY) & (np.abs(got) <= TINY), 0, error)
    return np.where(np.isnan(error), np.inf, error)


def worst(name: str, given: tuple[Floats, ...], got: Floats, error: Doubles) -> Worst:
    """The result that is furthest from right."""
    place = int(np.argmax(error))
    shown = ", ".join(f"{x[place]:.9g}" for x in given)
    want = right(name, tuple(x[place : place + 1] for x in given))[0]
    units = float(error[place])
    return {
        "ulp": round(units, 3) if math.isfinite(units) else -1,
        "at": f"{name}({shown}) = {got[place]:.9g}, not {want:.12g}",
    }


def measured(name: str, given: tuple[Floats, ...], got: Floats) -> Worst:
    """The worst of a function's results, special arguments and those past its domain included."""
    return worst(name, given, got, errors(name, given, got))


def too_far(found: Mapping[str, Worst]) -> list[str]:
    """What is worse than the table of accuracy says."""
    return [
        f"{each['at']}: {each['ulp']} units, {ACCURACY[name][2]} allowed"
        for name, each in found.items()
        if name in ACCURACY and not 0 <= each["ulp"] <= ACCURACY[name][2]
    ]
