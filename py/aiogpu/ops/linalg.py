"""Linear algebra of the Array API's main namespace."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from aiogpu import dtypes, shapes
from aiogpu.array import Array
from aiogpu.errors import ShapeError, UsageError
from aiogpu.graph import build, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiogpu.graph.node import Node


def matmul(x1: Array, x2: Array, /) -> Array:
    """Matrix product over the last axis of ``x1`` and the last but one of ``x2``.

    Args:
        x1: Shape ``(*batch, m, k)``, or ``(k,)``; numeric.
        x2: Shape ``(*batch, k, n)``, or ``(k,)``; numeric. Batches broadcast, dtypes promote.

    Returns:
        Shape ``(*batch, m, n)``, without the axis of a vector. Integers wrap to their width,
        float16 accumulates in float32.

    Raises:
        ShapeError: The two ``k`` differ, the batches do not broadcast, or an operand is 0-d.
        DTypeError: The dtypes do not promote, or are bool.
    """
    return Array(build.matmul(x1._node, x2._node))


def matrix_transpose(x: Array, /) -> Array:
    """``x`` with its last two axes swapped, as a view.

    Raises:
        UsageError: There are fewer than two axes.
    """
    return x.mT


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Sum over an axis of the products of ``x2`` with the complex conjugate of ``x1``.

    Args:
        x1: Numeric. Its other axes broadcast with those of ``x2``, the dtypes promote.
        x2: Numeric.
        axis: The axis of the vectors, which have one length; seen from the back, where one array
            has more axes than the other.

    Returns:
        The shape to which both broadcast, without the axis, in the dtype to which they promote.
        Integers wrap to their width, float16 accumulates in float32.

    Raises:
        AxisError: There is no such axis in both.
        ShapeError: The vectors differ in length, or the other axes do not broadcast.
        DTypeError: The dtypes do not promote, or are bool.
    """
    first, second = x1._node, x2._node
    dtype = build.promotion((first, second), "vecdot")
    build.check_kind(table.MATMUL, dtype)
    ranks = [len(node.shape) for node in (first, second)]
    back = shapes.axis_index(axis, max(ranks), "vecdot") - max(ranks)
    sizes = [
        node.shape[shapes.axis_index(back, rank, "vecdot")]
        for node, rank in zip((first, second), ranks, strict=True)
    ]
    if sizes[0] != sizes[1]:
        raise ShapeError(
            f"vecdot: shapes {first.shape} and {second.shape}: sizes {sizes[0]} and {sizes[1]} of "
            f"axis {axis} differ"
        )
    wide = dtypes.FLOAT if dtype is dtypes.float16 else dtype
    left = build.cast(first, wide)
    if wide.kind == "complex":
        left = build.elementwise("conj", left)
    product = build.elementwise("multiply", left, build.cast(second, wide))
    total = build.reduce("sum", product, (len(product.shape) + back,), keepdims=False)
    return Array(build.cast(total, dtype))


def tensordot(
    x1: Array, x2: Array, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2
) -> Array:
    """Sum of products over several axes of both arrays.

    Args:
        x1: Numeric; the dtypes promote.
        x2: Numeric.
        axes: How many of the last axes of ``x1`` meet as many of the first of ``x2``, in order; or
            the axes of ``x1``, and those of ``x2`` that they meet.

    Returns:
        The other axes of ``x1``, then those of ``x2``; dtypes and exactness as of `matmul`.

    Raises:
        AxisError: There is no such axis.
        ShapeError: Axes that meet differ in size.
        UsageError: ``axes`` is negative, names an axis twice, or has sequences of two lengths.
        DTypeError: The dtypes do not promote, or are bool.
    """
    first, second = x1._node, x2._node
    left, right = _meeting(axes, len(first.shape), len(second.shape))
    sizes = [first.shape[axis] for axis in left]
    if sizes != [second.shape[axis] for axis in right]:
        raise ShapeError(
            f"tensordot: shapes {first.shape} and {second.shape}, axes {left} and {right}: "
            "axes that meet must be of one size"
        )
    rows = [axis for axis in range(len(first.shape)) if axis not in left]
    columns = [axis for axis in range(len(second.shape)) if axis not in right]
    kept = [first.shape[axis] for axis in rows], [second.shape[axis] for axis in columns]
    shape = shapes.check((*kept[0], *kept[1]), "tensordot")
    product = build.matmul(
        _matrix(first, [*rows, *left], prod(kept[0]), prod(sizes)),
        _matrix(second, [*right, *columns], prod(sizes), prod(kept[1])),
    )
    return Array(build.reshape(product, shape))


def _meeting(
    axes: int | tuple[Sequence[int], Sequence[int]], first: int, second: int
) -> tuple[list[int], list[int]]:
    """The axes of arrays of two ranks that meet."""
    if not isinstance(axes, (tuple, list)):
        axes = shapes.integer(axes, "tensordot")
        if not 0 <= axes <= min(first, second):
            raise UsageError(
                f"tensordot: axes {axes}: from 0 to {min(first, second)} axes of arrays with "
                f"{first} and {second}"
            )
        return list(range(first - axes, first)), list(range(axes))
    if len(axes) != 2:
        raise UsageError(f"tensordot: axes {axes}: must be a number, or the axes of both arrays")
    left, right = (
        [shapes.axis_index(axis, rank, "tensordot") for axis in shapes.integers(named, "tensordot")]
        for named, rank in zip(axes, (first, second), strict=True)
    )
    if len(left) != len(right) or len(set(left)) != len(left) or len(set(right)) != len(right):
        raise UsageError(f"tensordot: axes {axes}: must pair axes, each of them once")
    return left, right


def _matrix(node: Node, order: Sequence[int], rows: int, columns: int) -> Node:
    return build.reshape(build.permute(node, order), (rows, columns))
