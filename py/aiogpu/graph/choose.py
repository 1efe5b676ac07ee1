"""Indexing by arrays of integers: nodes of what ``x[rows, columns]`` gives, and of its update.

The axes that arrays index are moved to the front and joined to one, along which a gather or scatter
goes; the rest of the key is basic indexing, and views.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

from aiogpu import dtypes, shapes
from aiogpu.errors import AxisError, DTypeError, UsageError
from aiogpu.graph import blocks, build, select
from aiogpu.graph.node import Node

if TYPE_CHECKING:
    from aiogpu.graph.build import Operand
    from aiogpu.shapes import Shape

Key = tuple[object, ...]  # arrays are nodes in it


class Choice(NamedTuple):
    """A key taken apart.

    Attributes:
        basic: The key with a whole slice for each index.
        axes: The axes, after that, which are indexed.
        flat: The number of each chosen element among those of the axes, one after another.
        shape: The shape of the indices.
        front: Where the axes of ``shape`` stand in the result.
    """

    basic: Key
    axes: tuple[int, ...]
    flat: Node
    shape: Shape
    front: int


def pick(node: Node, key: Key) -> Node:
    """The elements that a key with arrays of integers names; negative ones count from the end.

    Raises:
        AxisError: More indices than axes. When the value is awaited: one is out of range.
        DTypeError: An array is not of integers.
        ShapeError: The arrays do not broadcast.
    """
    choice = _take_apart(node.shape, key)
    base = select.cut(node, choice.basic)
    rest = [axis for axis in range(len(base.shape)) if axis not in choice.axes]
    size = prod(base.shape[axis] for axis in choice.axes)
    joined = build.reshape(
        build.permute(base, (*choice.axes, *rest)), (size, *(base.shape[axis] for axis in rest))
    )
    count = choice.flat.nelems
    if count == 0 or 0 in joined.shape[1:]:
        found = build.constant(0 if node.dtype.kind != "bool" else False, node.dtype,
                               (count, *joined.shape[1:]))  # fmt: skip
    else:
        found = blocks.gather(joined, choice.flat, 0, raises=True)
    return _to_place(build.reshape(found, (*choice.shape, *joined.shape[1:])), choice)


def assign(node: Node, key: Key, value: Operand) -> Node:
    """The value of ``node`` after ``node[key] = value``; of an element named twice, either stays.

    Raises:
        AxisError: As for `pick`.
        DTypeError: As for `pick`.
        ShapeError: ``value`` does not broadcast to what the key names.
    """
    choice = _take_apart(node.shape, key)
    base = select.cut(node, choice.basic)
    rest = [axis for axis in range(len(base.shape)) if axis not in choice.axes]
    order = (*choice.axes, *rest)
    others = tuple(base.shape[axis] for axis in rest)
    shape = (*others[: choice.front], *choice.shape, *others[choice.front :])
    given = build.broadcast_to(build.assigned(value, node.dtype), shape, "setitem")
    count = choice.flat.nelems
    if count == 0 or 0 in others:
        return node
    size = prod(base.shape[axis] for axis in choice.axes)
    joined = build.copy(build.reshape(build.permute(base, order), (size, *others)))
    data = build.reshape(_from_place(given, choice), (count, *others))
    changed = blocks.scatter(joined, build.copy(data), choice.flat, 0, raises=True)
    moved = build.reshape(changed, tuple(base.shape[axis] for axis in order))
    back = build.permute(moved, [order.index(axis) for axis in range(len(order))])
    return select.assign(node, choice.basic, back)


def _take_apart(shape: Shape, key: Key) -> Choice:
    named = sum(part is not None and part is not Ellipsis for part in key)
    if named > len(shape):
        raise AxisError(f"index: {named} indices; the array has {len(shape)} axes")
    parts = list(key)
    if not any(part is Ellipsis for part in parts):
        parts.append(Ellipsis)
    at = next(i for i, part in enumerate(parts) if part is Ellipsis)
    parts[at : at + 1] = [slice(None)] * (len(shape) - named)
    if any(part is Ellipsis for part in parts):
        raise UsageError("index: more than one ellipsis")
    basic: list[object] = []
    axes: list[int] = []
    indices: list[Node] = []
    old = 0
    for axis, part in enumerate(parts):
        if part is None or isinstance(part, slice):
            basic.append(part)
            old += part is not None
        else:
            basic.append(slice(None))
            axes.append(axis)
            indices.append(_numbers(part, shape[old], old))
            old += 1
    together = shapes.broadcast([index.shape for index in indices], "index")
    sizes = [shape[axis - sum(part is None for part in basic[:axis])] for axis in axes]
    is_joined = axes == list(range(axes[0], axes[0] + len(axes)))
    flat = _flat(indices, sizes, together)
    return Choice(tuple(basic), tuple(axes), flat, together, axes[0] if is_joined else 0)


def _numbers(part: object, size: int, axis: int) -> Node:
    """An index as a node of int32, checked where its value is known."""
    if isinstance(part, Node):
        if part.dtype.kind not in {"int", "uint"}:
            raise DTypeError(f"index: {part.dtype.name} array: must be integers or a mask")
        return blocks.places(part)
    if isinstance(part, bool) or not hasattr(part, "__index__"):
        raise UsageError(f"index: {type(part).__name__}: takes integers, slices, None, arrays, ...")
    number = part.__index__()
    if not -size <= number < size:
        raise AxisError(f"index: {number} is outside of axis {axis}, which has {size} elements")
    return build.constant(number, dtypes.int32)


def _flat(indices: list[Node], sizes: list[int], shape: Shape) -> Node:
    """Numbers among the joined axes' elements, one axis; -1 where an index is out of range."""
    flat: Node | None = None
    inside: Node | None = None
    for index, size in zip(indices, sizes, strict=True):
        behind = build.elementwise("less", index, 0)
        number = build.elementwise("where", behind, build.elementwise("add", index, size), index)
        here = build.elementwise(
            "logical_and",
            build.elementwise("greater_equal", number, 0),
            build.elementwise("less", number, size),
        )
        if flat is None or inside is None:
            flat, inside = number, here
        else:
            flat = build.elementwise("add", build.elementwise("multiply", flat, size), number)
            inside = build.elementwise("logical_and", inside, here)
    assert flat is not None
    assert inside is not None
    numbers = build.elementwise("where", inside, flat, -1)
    return build.reshape(build.broadcast_to(numbers, shape, "index"), (prod(shape),))


def _to_place(node: Node, choice: Choice) -> Node:
    """With the axes of the indices, which are first, where they belong."""
    count, front = len(choice.shape), choice.front
    order = [*range(count, count + front), *range(count), *range(count + front, len(node.shape))]
    return build.permute(node, order)


def _from_place(node: Node, choice: Choice) -> Node:
    """The reverse of `_to_place`."""
    count, front = len(choice.shape), choice.front
    order = [*range(front, front + count), *range(front), *range(front + count, len(node.shape))]
    return build.permute(node, order)
