"""Manipulation functions of the Array API standard that repeat and move elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiogpu import shapes
from aiogpu.array import Array
from aiogpu.errors import ShapeError, UsageError
from aiogpu.gpu import browser
from aiogpu.graph import build
from aiogpu.ops.manipulation import concat
from aiogpu.switch import SyncReads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiogpu.shapes import Shape


def broadcast_shapes(*given: Shape) -> Shape:
    """The shape to which shapes broadcast.

    Raises:
        ShapeError: They do not.
    """
    name = "broadcast_shapes"
    return shapes.broadcast([shapes.check(shape, name) for shape in given], name)


def repeat(x: Array, repeats: int | Sequence[int] | Array, /, *, axis: int | None = None) -> Array:
    """Every element of ``x`` along ``axis`` several times, the copies behind each other.

    Args:
        x: The array; flattened where ``axis`` is None.
        repeats: How often: a number, or one for each element along the axis, as Python numbers,
            since the result's shape depends on them; under `sync_reads` also an array.
        axis: The axis.

    Raises:
        AxisError: There is no such axis.
        UsageError: A number is negative, or an array is given.
        ShapeError: There are not as many numbers as elements.
    """
    if isinstance(repeats, Array):
        if not SyncReads.is_on:
            raise UsageError(
                "repeat: an array of repeats: the shape would depend on data; "
                "give Python numbers: `await repeats.tolist()`"
            )
        read: list[int] = browser.wait_sync(repeats.reshape(-1)._tolist)
        repeats = read
    node = x._node if axis is not None else build.reshape(x._node, (x.size,))
    at = shapes.axis_index(axis or 0, len(node.shape), "repeat")
    size = node.shape[at]
    counts = list(shapes.integers(repeats, "repeat"))
    if len(counts) == 1:
        counts *= size
    if len(counts) != size:
        raise ShapeError(f"repeat: {len(counts)} repeats: axis {at} has {size} elements")
    if any(count < 0 for count in counts):
        raise UsageError(f"repeat: repeats {repeats}: must not be negative")
    if len(set(counts)) <= 1:  # a view, until the elements are needed
        count = counts[0] if counts else 1
        spread = build.reshape(node, (*node.shape[: at + 1], 1, *node.shape[at + 1 :]))
        wide = (*node.shape[: at + 1], count, *node.shape[at + 1 :])
        shape = (*node.shape[:at], size * count, *node.shape[at + 1 :])
        return Array(build.reshape(build.broadcast_to(spread, wide), shape))
    whole = Array(node)
    before = (slice(None),) * at
    parts = [
        repeat(whole[(*before, slice(k, k + 1))], count, axis=at) for k, count in enumerate(counts)
    ]
    return concat(parts, axis=at)


def roll(
    x: Array, /, shift: int | Sequence[int], *, axis: int | Sequence[int] | None = None
) -> Array:
    """``x`` with its elements moved by ``shift`` places along ``axis``, round the ends.

    Args:
        x: The array.
        shift: Places, towards higher numbers where positive; one for each axis, or one for all.
        axis: An axis, several, or None to roll the flattened array.

    Raises:
        AxisError: There is no such axis.
        ShapeError: There are not as many shifts as axes.
    """
    if axis is None:
        if not shapes.is_integer(shift):
            raise ShapeError(f"roll: shifts {shift}: needs an axis for each")
        return roll(x.reshape(-1), shift, axis=0).reshape(x.shape)
    axes, shifts = shapes.integers(axis, "roll"), shapes.integers(shift, "roll")
    if shapes.is_integer(shift):
        shifts *= len(axes)
    if len(shifts) != len(axes):
        raise ShapeError(f"roll: shifts {shifts}, axes {axes}: needs one for each")
    for by, given in zip(shifts, axes, strict=True):
        at = shapes.axis_index(given, x.ndim, "roll")
        size = x.shape[at]
        if size and by % size:
            before = (slice(None),) * at
            cut = size - by % size
            parts = [x[(*before, slice(cut, None))], x[(*before, slice(None, cut))]]
            x = concat(parts, axis=at)
    return x


def tile(x: Array, repetitions: Sequence[int], /) -> Array:
    """``x`` side by side with itself along every axis, as a view until its elements are needed.

    Raises:
        UsageError: A number of repetitions is negative.
        ShapeError: The result has more than 8 axes.
    """
    times = list(shapes.integers(repetitions, "tile"))
    if any(each < 0 for each in times):
        raise UsageError(f"tile: repetitions {tuple(times)}: must not be negative")
    rank = max(len(times), x.ndim)
    times = [1] * (rank - len(times)) + times
    sizes = (1,) * (rank - x.ndim) + x.shape
    result = shapes.check([each * size for each, size in zip(times, sizes, strict=True)], "tile")
    if 0 in result:
        return Array(build.constant(False if x.dtype.kind == "bool" else 0, x.dtype, result))
    node = build.reshape(x._node, sizes)
    for axis in range(rank):  # one axis at a time: no more than 8 are allowed
        if times[axis] != 1:
            shape = node.shape
            if rank == shapes.MAX_RANK:
                node = concat([Array(node)] * times[axis], axis=axis)._node
                continue
            spread = build.reshape(node, (*shape[:axis], 1, *shape[axis:]))
            wide = build.broadcast_to(spread, (*shape[:axis], times[axis], *shape[axis:]))
            node = build.reshape(wide, (*shape[:axis], result[axis], *shape[axis + 1 :]))
    return Array(node)


def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The parts of ``x`` along ``axis``, as views without that axis.

    Raises:
        AxisError: There is no such axis.
    """
    at = shapes.axis_index(axis, x.ndim, "unstack")
    return tuple(x[(*(slice(None),) * at, k)] for k in range(x.shape[at]))
