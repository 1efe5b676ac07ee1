"""Searching functions of the Array API standard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiogpu import dtypes
from aiogpu.array import Array, UnknownArray, as_operand
from aiogpu.errors import DTypeError, ShapeError, UsageError
from aiogpu.graph import blocks, build, orders
from aiogpu.graph.node import Node
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


def nonzero(x: Array, /, *, size: int | None = None, fill_value: int = 0) -> tuple[Array, ...]:
    """Where the elements of ``x`` are not 0, in C order: an index array, int32, for each axis.

    How many there are depends on data: without ``size`` the results have an unknown length until
    ``await y.evaluate()``.

    Args:
        x: Any dtype, at least one axis.
        size: How many to give; the first ones, if there are more.
        fill_value: What stands behind the last, if there are fewer.

    Raises:
        UsageError: ``x`` has no axes, or ``size`` is no number of elements.
    """
    orders.check_size(size, "nonzero")
    if x.ndim == 0:
        raise UsageError("nonzero: a 0-d array: needs at least one axis")
    flat, length = orders.true_places(x._node, size)
    founds = [orders.Found(index, length) for index in orders.coordinates(flat, x.shape)]
    if size is None:
        return tuple(UnknownArray(found) for found in founds)
    return tuple(Array(orders.filled(found, fill_value)) for found in founds)


def searchsorted(
    x1: Array, x2: Array | Scalar, /, *, side: str = "left", sorter: Array | None = None
) -> Array:
    """Where each element of ``x2`` belongs in ``x1``, so that it stays in order; int32.

    NaN counts as greater than every number, -0 and 0 are equal.

    Args:
        x1: One axis, in ascending order, or put in it by ``sorter``; any real dtype.
        x2: Any shape; the two promote.
        side: ``"left"``, before the equals of an element, or ``"right"``, behind them.
        sorter: Places that put ``x1`` in order, as `argsort` gives them.

    Raises:
        DTypeError: The dtypes do not promote, or are complex, or ``sorter`` is not of integers.
        ShapeError: ``x1`` has not one axis, or ``sorter`` another shape.
        UsageError: There is no such side.
    """
    if side not in {"left", "right"}:
        raise UsageError(f"searchsorted: side {side!r}: must be 'left' or 'right'")
    if x1.ndim != 1:
        raise ShapeError(f"searchsorted: x1 of shape {x1.shape}: must have one axis")
    values = as_operand(x2)
    if values is None:
        raise UsageError(f"searchsorted: {type(x2).__name__}: takes arrays and numbers")
    dtype = build.promotion((x1._node, values), "searchsorted")
    node = values if isinstance(values, Node) else build.constant(values, dtype)
    ordered = x1._node
    for each in (ordered, node):
        orders.check_order("searchsorted", each)
    if sorter is not None:
        if sorter.shape != x1.shape:
            raise ShapeError(f"searchsorted: sorter of shape {sorter.shape}: must be {x1.shape}")
        if sorter.dtype.kind not in {"int", "uint"}:
            raise DTypeError(f"searchsorted: {sorter.dtype.name} sorter: must be of integers")
        ordered = orders.taken(ordered, build.cast(sorter._node, dtypes.INT))
    return Array(
        orders.searchsorted(
            build.cast(ordered, dtype), build.cast(node, dtype), is_right=side == "right"
        )
    )


def where(condition: Array, x1: Array | Scalar, x2: Array | Scalar, /) -> Array:
    """``x1`` where ``condition`` holds, else ``x2``; all broadcast, ``x1`` and ``x2`` promote.

    Raises:
        ShapeError: They do not broadcast.
        DTypeError: ``x1`` and ``x2`` do not promote.
    """
    return _apply("where", condition, x1, x2)
