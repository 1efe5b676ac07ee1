"""Indexing functions of the Array API standard."""

from __future__ import annotations

from aiogpu.array import Array
from aiogpu.graph import orders


def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """Elements of ``x`` along ``axis``, by an index for each element of the result.

    Negative indices count from the end; those outside of the axis are clamped to it.

    Args:
        x: Any dtype.
        indices: Integers; as many axes as ``x``, whose other sizes broadcast with its own.
        axis: The axis.

    Returns:
        The dtype of ``x``; along ``axis`` as many elements as ``indices`` has.

    Raises:
        AxisError: There is no such axis.
        DTypeError: The indices are no integers.
        ShapeError: The shapes do not fit, or ``x`` has nothing along ``axis``.
    """
    return Array(orders.take_along(x._node, indices._node, axis))
