"""What a result must be, and what is wrong with it if it is not that.

A reference gives an array, which the result must equal to the bit; or one of the classes here.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import plane
import ulp
from aiogpu.kernels.numerics import ACCURACY, COMPLEX_ACCURACY

TINY = 2.0**-126  # what is smaller, and not in float16, may be flushed to 0
EPSILON = {"float32": 2.0**-23, "float16": 2.0**-10, "complex64": 2.0**-23}


class UndecidedError(Exception):
    """The reference does not say what must come out."""


class RefusedError(Exception):
    """The call must raise an error of this class."""

    def __init__(self, kind):
        super().__init__(kind.__name__)
        self.kind = kind


def require(condition):
    """Leave a call alone of which the reference knows nothing."""
    if not np.all(condition):
        raise UndecidedError


class Same(NamedTuple):
    """Equal, but a zero may have either sign."""

    value: np.ndarray

    def complaint(self, got):
        return mismatch(self.value, got) or wrong(got, self.value, unlike(got, self.value, False))


class Within(NamedTuple):
    """Within ``error`` of ``value``, then rounded to ``dtype``; NaN where it is NaN."""

    value: np.ndarray
    error: np.ndarray
    dtype: str

    def complaint(self, got):
        value = np.asarray(self.value)
        if said := mismatch(np.empty(value.shape, self.dtype), got):
            return said
        with np.errstate(all="ignore"):
            if self.dtype == "complex64":
                near = np.abs(got.astype(complex) - value) <= self.error + 2 * TINY
                fine = near | ~np.isfinite(value)  # complex infinities: see `Accurate`
                return wrong(got, value, ~fine)
            slack = self.error + (TINY if self.dtype == "float32" else 0)
            low, high = ((value + side).astype(self.dtype) for side in (-slack, slack))
            fine = (low <= got) & (got <= high) | (got == value.astype(self.dtype))
        return wrong(got, value, ~(fine | (np.isnan(value) & np.isnan(got))))


@dataclass
class Accurate:
    """As exact as the table of accuracy says of a function of these arguments, specials and all."""

    name: str  # in the table
    given: tuple
    dtype: str

    def complaint(self, got):
        shape = np.broadcast_shapes(*(x.shape for x in self.given))
        if said := mismatch(np.empty(shape, self.dtype), got):
            return said
        flat = tuple(np.broadcast_to(x, shape).ravel() for x in self.given)
        if not flat[0].size:
            return ""
        if self.name in COMPLEX_ACCURACY:
            return self._of_complex(flat, got.ravel())
        value = ulp.right(self.name, flat)
        if self.dtype == "float16":
            return self._of_halves(value, flat, got.ravel())
        off = ulp.errors(self.name, flat, got.ravel()) > ACCURACY[self.name][2]
        return wrong(got.ravel(), value, off, flat)

    def _of_halves(self, value, flat, got):
        """Computed in float32, and rounded once."""
        with np.errstate(all="ignore"):
            size = np.abs(value)
            if self.name == "ag_logaddexp":  # as exact as a unit of the larger argument
                size = np.fmax(size, np.max(np.abs(flat), axis=0))
            finite = np.where(np.isfinite(size), size, 0)
            error = ACCURACY[self.name][2] * np.spacing(finite.astype("f4"))
        return Within(value, error, "float16").complaint(got)

    def _of_complex(self, flat, got):
        most, units = COMPLEX_ACCURACY[self.name]
        flat = tuple(x.astype("c8") for x in flat)
        value = plane.right(self.name, flat)
        got = got.astype(complex)
        with np.errstate(all="ignore"):
            regular = np.isfinite(value)
            for x in flat:
                regular &= np.isfinite(x)
            if self.name == "ag_cpow":
                regular &= np.abs(flat[1] * np.log(flat[0])) <= most
            else:
                for x in flat:
                    regular &= np.maximum(np.abs(x.real), np.abs(x.imag)) <= most
            beyond = plane.overflows(value)
            off = regular & ~beyond & (plane.units(got, value) > units)
            if len(flat) == 1 and self.name not in {"ag_csquare", "ag_creciprocal"}:
                special = np.zeros(len(got), bool)
                special[plane.differing(got, value)] = True
                off |= special & ~np.isfinite(flat[0])
        return wrong(got, value, off, flat)


class Judged(NamedTuple):
    """What ``judge`` finds nothing wrong with: it gives a text, empty where all is well."""

    judge: object

    def complaint(self, got):
        return self.judge(got)


class Together(NamedTuple):
    """Several results that are judged together: ``judge`` takes all of them."""

    count: int
    judge: object


def within(value, units, dtype, size=None):
    """So many units of float32's precision of the value, or of a larger size."""
    value = np.asarray(value)
    size = np.abs(value if size is None else size)
    with np.errstate(all="ignore"):
        error = units * 2.0**-23 * np.where(np.isfinite(size), size, 0)
    return Within(value, error, dtype)


def complaint(wanted, got):
    """What is wrong with a result, or an empty text."""
    if not isinstance(wanted, np.ndarray | np.generic):
        return wanted.complaint(got)
    wanted = np.asarray(wanted)
    return mismatch(wanted, got) or wrong(got, wanted, unlike(got, wanted, True))


def mismatch(wanted, got):
    if (got.shape, got.dtype) == (wanted.shape, wanted.dtype):
        return ""
    return f"{got.dtype} {got.shape}, not {wanted.dtype} {wanted.shape}"


def unlike(got, wanted, is_signed):
    """Where two arrays of one dtype differ; any NaN equals any other."""
    if wanted.dtype.kind == "c":
        parts = [(got.real, wanted.real), (got.imag, wanted.imag)]
        return np.logical_or(*(unlike(a, b, is_signed) for a, b in parts))
    if wanted.dtype.kind != "f":
        return got != wanted
    same = got == wanted
    if is_signed:
        same &= np.signbit(got) == np.signbit(wanted)
    if wanted.dtype == "float32":
        same |= (np.abs(wanted) < TINY) & (wanted != 0) & (np.abs(got) <= TINY)
    return ~(same | (np.isnan(got) & np.isnan(wanted)))


def wrong(got, wanted, off, given=()):
    """A few of the elements that are off, as a text."""
    got, wanted = np.asarray(got), np.broadcast_to(wanted, np.shape(got))
    shown = []
    for place in np.argwhere(off)[:3].tolist():
        at = tuple(place)
        of = " of " + ", ".join(repr(x[at]) for x in given) if given else ""
        shown.append(f"at {place}: {got[at]!r}, not {wanted[at]!r}{of}")
    return f"{int(np.sum(off))} of {math.prod(np.shape(got))}: " + "; ".join(shown) if shown else ""
