"""Statistical and utility reductions of the Array API standard.

``axis`` is an axis, several, or None for all. float32 sums and means carry their rounding errors
along (TwoSum), so that 2^24 + 16 ones sum to exactly 16777232. All raise AxisError for an axis that
is not there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiogpu.array import Array
from aiogpu.graph import build

if TYPE_CHECKING:
    from collections.abc import Sequence


def _reduce(name: str, x: Array, axis: int | Sequence[int] | None, keepdims: bool) -> Array:
    return Array(build.reduction(name, x._node, axis, keepdims=keepdims))


def all(x: Array, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Array:
    """Whether all elements are nonzero; bool result, true for none."""
    return _reduce("all", x, axis, keepdims)


def any(x: Array, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Array:
    """Whether one element is nonzero; bool result, false for none."""
    return _reduce("any", x, axis, keepdims)


def max(x: Array, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Array:
    """Largest element, NaN where there is a NaN; same dtype.

    Raises:
        UsageError: There is no element to choose from.
    """
    return _reduce("max", x, axis, keepdims)


def mean(x: Array, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Array:
    """Arithmetic mean, NaN for no elements; float32, also for integers, which do not wrap."""
    return _reduce("mean", x, axis, keepdims)


def min(x: Array, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Array:
    """Smallest element, NaN where there is a NaN; same dtype.

    Raises:
        UsageError: There is no element to choose from.
    """
    return _reduce("min", x, axis, keepdims)


def prod(x: Array, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Array:
    """Product; bool gives int32, uint8 gives uint32, integers modulo 2^32. 1 for no elements."""
    return _reduce("prod", x, axis, keepdims)


def sum(x: Array, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Array:
    """Sum; bool gives int32, uint8 gives uint32, integers modulo 2^32. 0 for no elements."""
    return _reduce("sum", x, axis, keepdims)
