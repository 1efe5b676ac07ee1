"""Statistical and utility reductions of the Array API standard.

``axis`` is an axis, several, or None for all. float32 sums and means carry their rounding errors
along (TwoSum), so that 2^24 + 16 ones sum to exactly 16777232; those of float16 are computed in
float32. All raise AxisError for an axis that is not there, and UsageError for one named twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiogpu import dtypes
from aiogpu.array import Array
from aiogpu.graph import blocks, build

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
    """Arithmetic mean, NaN for no elements; float32 for bool and integers, which do not wrap."""
    return _reduce("mean", x, axis, keepdims)


def min(x: Array, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Array:
    """Smallest element, NaN where there is a NaN; same dtype.

    Raises:
        UsageError: There is no element to choose from.
    """
    return _reduce("min", x, axis, keepdims)


def prod(
    x: Array,
    /,
    *,
    axis: int | Sequence[int] | None = None,
    dtype: object = None,
    keepdims: bool = False,
) -> Array:
    """Product; 1 for no elements. Integers wrap.

    Args:
        x: bool or numeric.
        axis: As above.
        dtype: What the elements are cast to first, and the result's; by default that of ``x``, but
            bool and signed integers give int32, unsigned integers uint32.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        DTypeError: There is no such dtype; it is bool; or ``x`` is complex and it is not.
    """
    wanted = None if dtype is None else dtypes.as_dtype(dtype, "prod")
    return Array(build.reduction("prod", x._node, axis, keepdims=keepdims, dtype=wanted))


def std(
    x: Array,
    /,
    *,
    axis: int | Sequence[int] | None = None,
    correction: float = 0.0,
    keepdims: bool = False,
) -> Array:
    """Standard deviation: the square root of `var`, in its dtype.

    Raises:
        DTypeError: ``x`` is complex.
    """
    return Array(blocks.variance(x._node, axis, correction, keepdims=keepdims, root=True))


def sum(
    x: Array,
    /,
    *,
    axis: int | Sequence[int] | None = None,
    dtype: object = None,
    keepdims: bool = False,
) -> Array:
    """Sum; 0 for no elements. Integers wrap.

    Args:
        x: bool or numeric.
        axis: As above.
        dtype: What the elements are cast to first, and the result's; by default that of ``x``, but
            bool and signed integers give int32, unsigned integers uint32.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        DTypeError: There is no such dtype; it is bool; or ``x`` is complex and it is not.
    """
    wanted = None if dtype is None else dtypes.as_dtype(dtype, "sum")
    return Array(build.reduction("sum", x._node, axis, keepdims=keepdims, dtype=wanted))


def var(
    x: Array,
    /,
    *,
    axis: int | Sequence[int] | None = None,
    correction: float = 0.0,
    keepdims: bool = False,
) -> Array:
    """Variance: mean square of the distances from the mean.

    In two passes over the elements, the mean's and that of the distances, and so right also where
    they are small beside the mean.

    Args:
        x: Real or bool; float16 gives float16, all else float32.
        axis: As above.
        correction: What is taken off the number of elements before it divides: 1 for a sample.
        keepdims: Whether the axes stay, with size 1.

    Returns:
        The variance; NaN where there are no more elements than ``correction``.

    Raises:
        DTypeError: ``x`` is complex.
    """
    return Array(blocks.variance(x._node, axis, correction, keepdims=keepdims, root=False))
