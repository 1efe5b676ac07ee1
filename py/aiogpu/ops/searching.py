"""Searching functions of the Array API standard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiogpu import dtypes
from aiogpu.array import Array
from aiogpu.graph import blocks, build
from aiogpu.ops.elementwise import _apply

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiogpu.dtypes import Scalar


def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Where the largest element is along ``axis``, or, for None, among all in C order; int32.

    A NaN counts as the largest; of equals it is the first.

    Raises:
        AxisError: There is no such axis.
        DTypeError: ``x`` is complex.
        UsageError: There is no element to choose from.
    """
    return Array(blocks.search("argmax", x._node, axis, keepdims=keepdims))


def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Where the smallest element is along ``axis``, or, for None, among all in C order; int32.

    A NaN counts as the smallest; of equals it is the first.

    Raises:
        AxisError: There is no such axis.
        DTypeError: ``x`` is complex.
        UsageError: There is no element to choose from.
    """
    return Array(blocks.search("argmin", x._node, axis, keepdims=keepdims))


def count_nonzero(
    x: Array, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> Array:
    """How many elements are not zero, NaN among them; int32.

    Args:
        x: Of any dtype.
        axis: An axis, several, or None for all.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        AxisError: There is no such axis.
        UsageError: One is named twice.
    """
    flags = build.cast(x._node, dtypes.bool_)
    return Array(build.reduction("sum", flags, axis, keepdims=keepdims))


def where(condition: Array, x1: Array | Scalar, x2: Array | Scalar, /) -> Array:
    """``x1`` where ``condition`` holds, else ``x2``; all broadcast, ``x1`` and ``x2`` promote.

    Raises:
        ShapeError: They do not broadcast.
        DTypeError: ``x1`` and ``x2`` do not promote.
    """
    return _apply("where", condition, x1, x2)
