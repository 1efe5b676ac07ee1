"""Manipulation functions of the Array API standard: views, free until their values are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiogpu import shapes
from aiogpu.array import Array
from aiogpu.errors import UsageError
from aiogpu.graph import blocks, build

if TYPE_CHECKING:
    from collections.abc import Sequence


def broadcast_to(x: Array, /, shape: Sequence[int]) -> Array:
    """``x`` repeated along new and size-1 axes, as a view.

    Raises:
        ShapeError: ``x`` does not broadcast to ``shape``.
    """
    return Array(build.broadcast_to(x._node, shapes.check(shape, "broadcast_to")))


def broadcast_arrays(*arrays: Array) -> list[Array]:
    """All arrays in the shape to which they broadcast, as views.

    Raises:
        ShapeError: They do not broadcast.
    """
    shape = shapes.broadcast([x.shape for x in arrays], "broadcast_arrays")
    return [broadcast_to(x, shape) for x in arrays]


def concat(arrays: Sequence[Array], /, *, axis: int | None = 0) -> Array:
    """Arrays behind each other along ``axis``; None flattens them first. Their dtypes promote.

    Raises:
        UsageError: There are no arrays.
        ShapeError: Sizes of other axes differ.
        AxisError: There is no such axis.
        DTypeError: The dtypes do not promote.
    """
    nodes = [x._node if axis is not None else x.reshape(-1)._node for x in arrays]
    if not nodes:
        raise UsageError("concat: no arrays: needs at least one")
    dtype = build.promotion(nodes, "concat")
    return Array(blocks.concat([build.cast(node, dtype) for node in nodes], axis or 0))


def stack(arrays: Sequence[Array], /, *, axis: int = 0) -> Array:
    """Arrays of one shape behind each other along a new axis. Their dtypes promote.

    Raises:
        UsageError: There are no arrays.
        ShapeError: The shapes differ.
        AxisError: There is no such place.
        DTypeError: The dtypes do not promote.
    """
    return concat([expand_dims(x, axis=axis) for x in arrays], axis=axis)


def expand_dims(x: Array, /, *, axis: int = 0) -> Array:
    """``x`` with a new axis of size 1 before ``axis``, as a view.

    Raises:
        AxisError: There is no such place.
    """
    at = shapes.axis_index(axis, x.ndim + 1, "expand_dims")
    return x.reshape(*x.shape[:at], 1, *x.shape[at:])


def flip(x: Array, /, *, axis: int | Sequence[int] | None = None) -> Array:
    """``x`` with the order along ``axis``, or all axes, reversed, as a view.

    Raises:
        AxisError: There is no such axis.
    """
    flipped = shapes.axis_indices(axis, x.ndim, "flip")
    return (
        x[tuple(slice(None, None, -1 if a in flipped else 1) for a in range(x.ndim))]
        if x.ndim
        else x
    )


def moveaxis(x: Array, source: int, destination: int, /) -> Array:
    """``x`` with one axis moved to another place, as a view.

    Raises:
        AxisError: There is no such axis.
    """
    axes = list(range(x.ndim))
    moved = axes.pop(shapes.axis_index(source, x.ndim, "moveaxis"))
    axes.insert(shapes.axis_index(destination, x.ndim, "moveaxis"), moved)
    return permute_dims(x, tuple(axes))


def permute_dims(x: Array, /, axes: Sequence[int]) -> Array:
    """``x`` with its axes in another order, as a view.

    Raises:
        AxisError: There is no such axis.
        UsageError: ``axes`` does not name every axis once.
    """
    order = [shapes.axis_index(axis, x.ndim, "permute_dims") for axis in axes]
    if sorted(order) != list(range(x.ndim)):
        raise UsageError(
            f"permute_dims: axes {tuple(axes)}: must name each of the {x.ndim} axes once"
        )
    return Array(build.permute(x._node, order))


def reshape(x: Array, /, shape: Sequence[int]) -> Array:
    """The elements of ``x`` in another shape, in C order; one size may be -1.

    Raises:
        ShapeError: The shape holds another number of elements.
    """
    return x.reshape(tuple(shape))


def squeeze(x: Array, /, axis: int | Sequence[int]) -> Array:
    """``x`` without the named axes, which must have size 1, as a view.

    Raises:
        AxisError: There is no such axis.
        UsageError: One of them has another size.
    """
    dropped = shapes.axis_indices(axis, x.ndim, "squeeze")
    if any(x.shape[a] != 1 for a in dropped):
        raise UsageError(f"squeeze: shape {x.shape}, axis {axis}: an axis is not of size 1")
    return x.reshape(tuple(size for a, size in enumerate(x.shape) if a not in dropped))
