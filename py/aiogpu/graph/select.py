"""Basic indexing: keys of integers, slices, None and ellipsis, as views and as updates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from aiogpu.errors import AxisError, UsageError
from aiogpu.graph import build, table
from aiogpu.graph.node import Node
from aiogpu.shapes import View, contiguous_strides

if TYPE_CHECKING:
    from aiogpu.graph.build import Operand
    from aiogpu.shapes import Shape

TRANSPOSED: Final = ".T"


class Pick(NamedTuple):
    """What a key takes of one axis: one index, or a range; or None, which makes a new axis."""

    start: int
    step: int
    length: int
    is_index: bool


def picks(shape: Shape, key: object) -> list[Pick | None]:
    """A key in plain words: a pick for each axis of ``shape``, and None for each new axis.

    Raises:
        AxisError: An index outside of its axis, or more of them than axes.
        UsageError: A key of another kind.
    """
    parts = list(key) if isinstance(key, tuple) else [key]
    named = sum(part is not None and part is not Ellipsis for part in parts)
    if named > len(shape):
        raise AxisError(f"index: {spell(key)}: {named} indices; the array has {len(shape)} axes")
    if sum(part is Ellipsis for part in parts) > 1:
        raise UsageError(f"index: {spell(key)}: more than one ellipsis")
    if Ellipsis not in [part if part is Ellipsis else None for part in parts]:
        parts.append(Ellipsis)
    at = next(i for i, part in enumerate(parts) if part is Ellipsis)
    parts[at : at + 1] = [slice(None)] * (len(shape) - named)
    result: list[Pick | None] = []
    axis = 0
    for part in parts:
        if part is None:
            result.append(None)
            continue
        result.append(_pick(part, axis, shape[axis], key))
        axis += 1
    return result


def _pick(part: Any, axis: int, size: int, key: object) -> Pick:  # noqa: ANN401 - whatever the user wrote
    if isinstance(part, slice):
        start, stop, step = part.indices(size)
        return Pick(start, step, len(range(start, stop, step)), is_index=False)
    if isinstance(part, bool) or not hasattr(part, "__index__"):
        raise UsageError(
            f"index: {spell(key)}: {type(part).__name__}: takes integers, slices, None, arrays, ..."
        )
    index = part.__index__()
    if not -size <= index < size:
        raise AxisError(
            f"index: {spell(key)}: {index} is outside of axis {axis}, which has {size} elements"
        )
    return Pick(index % size, 1, 1, is_index=True)


def cut(node: Node, key: object) -> Node:
    """The elements that ``key`` names, as a view."""
    _, how = build.view_of(node)
    shape: list[int] = []
    strides: list[int] = []
    offset = how.offset
    axis = 0
    for pick in picks(node.shape, key):
        if pick is None:
            shape.append(1)
            strides.append(0)
            continue
        stride = how.strides[axis]
        axis += 1
        if pick.length:
            offset += pick.start * stride
        if not pick.is_index:
            shape.append(pick.length)
            strides.append(stride * pick.step)
    return build.view(node, View(tuple(shape), tuple(strides), offset))


def assign(node: Node, key: object, value: Operand) -> Node:
    """The value of ``node`` after ``node[key] = value``.

    Raises:
        ShapeError: ``value`` does not broadcast to what ``key`` names.
        DTypeError: ``value`` is complex, and ``node`` is not.
        IntegerOverflowError: ``value`` is a number that the dtype cannot hold.
    """
    chosen = picks(node.shape, key)
    shape = tuple(
        1 if pick is None else pick.length for pick in chosen if pick is None or not pick.is_index
    )
    new = build.assigned(value, node.dtype)
    _, how = build.view_of(new)
    how = how.broadcast_to(shape, "setitem")
    strides: list[int] = []
    offset = how.offset
    region: list[tuple[int, int, int]] = []
    axis = 0
    for pick in chosen:
        if pick is None:
            axis += 1
            continue
        stride = 0
        if not pick.is_index:
            stride = how.strides[axis]
            axis += 1
        start, step = pick.start, pick.step
        if step < 0:  # the same region, walked the other way
            start += (pick.length - 1) * step
            offset += (pick.length - 1) * stride
            step, stride = -step, -stride
        region.append((start, step, pick.length))
        strides.append(stride)
    if 0 in (pick.length for pick in chosen if pick is not None):
        return node
    steps = contiguous_strides(node.shape)
    start = sum(first * step for (first, _, _), step in zip(region, steps, strict=True))
    walk = tuple(r[1] * step for r, step in zip(region, steps, strict=True))
    shape = tuple(length for _, _, length in region)
    whole = build.view(new, View(shape, tuple(strides), offset))
    base = node if build.view_of(node)[0] is node else build.copy(node)
    attrs = {"target": View(shape, walk, start)}
    return Node(table.STORE, (base, whole), node.shape, node.dtype, attrs)


def spell(key: object, before: str | None = None) -> str:
    """A key as it is written, after the keys that were used before."""
    parts = key if isinstance(key, tuple) else (key,)
    text = ", ".join(_spell(part) for part in parts)
    return f"{before}, {text}" if before else text


def _spell(part: object) -> str:
    if isinstance(part, slice):
        ends = [part.start, part.stop] + ([] if part.step is None else [part.step])
        return ":".join("" if end is None else str(end) for end in ends)
    return "..." if part is Ellipsis else str(part)
