"""Nodes of sorting and searching."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

from aiogpu import dtypes, shapes
from aiogpu.errors import DTypeError, ShapeError, UsageError
from aiogpu.graph import blocks, build, select, table
from aiogpu.graph.node import Node
from aiogpu.shapes import contiguous_strides

if TYPE_CHECKING:
    from aiogpu.dtypes import Scalar
    from aiogpu.shapes import Shape


class Found(NamedTuple):
    """Elements whose number depends on data.

    Attributes:
        node: As many elements as there can be along the first axis; those behind the last found
            one are undefined.
        length: How many there are, 0-d and int32.
    """

    node: Node
    length: Node


def integer(value: int, shape: Shape = ()) -> Node:
    """A number of the default integer dtype."""
    return build.constant(value, dtypes.INT, shape)


def argsort(
    node: Node,
    axis: int,
    *,
    descending: bool = False,
    keep: int | None = None,
    name: str = "argsort",
) -> Node:
    """Places, int32, from which the sorted elements along ``axis`` come; equals stay in order.

    Args:
        node: Any real dtype; NaN counts as greater than all numbers.
        axis: The axis.
        descending: From greatest to least.
        keep: How many of them, from the first; None for all.
        name: The operation, for errors.

    Raises:
        AxisError: There is no such axis.
        DTypeError: The dtype is complex.
    """
    at = shapes.axis_index(axis, len(node.shape), name)
    check_order(name, node)
    size = node.shape[at]
    kept = size if keep is None else keep
    shape = (*node.shape[:at], kept, *node.shape[at + 1 :])
    if size <= 1 or prod(shape) == 0:
        return integer(0, shape)
    attrs = {"axis": at, "descending": descending, "keep": kept}
    return Node(table.ARGSORT, (node,), shape, dtypes.INT, attrs)


def check_order(name: str, node: Node) -> None:
    """Raise DTypeError for a dtype that has no order."""
    if node.dtype.kind == "complex":
        allowed = ", ".join(d.name for d in dtypes.ALL if d.kind != "complex")
        raise DTypeError(f"{name}: {node.dtype.name}: has no order; takes {allowed}")


def take_along(data: Node, indices: Node, axis: int) -> Node:
    """Elements of ``data`` along ``axis``, by an index for each element of the result.

    Negative indices count from the end; those outside of the axis are clamped.

    Raises:
        AxisError: There is no such axis.
        DTypeError: The indices are no integers.
        ShapeError: The numbers of axes differ, other sizes than that of ``axis`` do not broadcast,
            or there is nothing along ``axis``.
    """
    name = table.TAKE_ALONG.name
    rank = len(data.shape)
    at = shapes.axis_index(axis, rank, name)
    if indices.dtype.kind not in {"int", "uint"}:
        raise DTypeError(f"{name}: {indices.dtype.name} indices: must be integers")
    if len(indices.shape) != rank:
        raise ShapeError(
            f"{name}: shapes {data.shape} and {indices.shape}: need as many axes as each other"
        )

    def with_size(shape: Shape, size: int) -> Shape:
        return (*shape[:at], size, *shape[at + 1 :])

    size, count = data.shape[at], indices.shape[at]
    others = shapes.broadcast([with_size(n.shape, 1) for n in (data, indices)], name)
    shape = with_size(others, count)
    if 0 in shape:
        return build.constant(zero(data), data.dtype, shape)
    if size == 0:
        raise ShapeError(f"{name}: shape {data.shape}: nothing along axis {at} to index")
    operands = (
        blocks.dense(build.broadcast_to(data, with_size(others, size), name)),
        blocks.dense(build.broadcast_to(blocks.places(indices), shape, name)),
    )
    return Node(table.TAKE_ALONG, operands, shape, data.dtype, {"axis": at, "size": size})


def zero(node: Node) -> Scalar:
    """A number of a node's kind."""
    return {"bool": False, "float": 0.0, "complex": 0.0}.get(node.dtype.kind, 0)


def searchsorted(ordered: Node, values: Node, *, is_right: bool) -> Node:
    """Where ``values`` belong in an ascending axis, int32.

    Args:
        ordered: Of one axis and of the dtype of ``values``.
        values: Of any shape.
        is_right: Behind their equals, rather than before them.
    """
    size = ordered.shape[0]
    if size == 0 or 0 in values.shape:
        return integer(0, values.shape)
    operands = (blocks.dense(ordered), blocks.dense(values))
    attrs = {"size": size, "is_right": is_right}
    return Node(table.SEARCHSORTED, operands, values.shape, dtypes.INT, attrs)


def places(running: Node, size: int, first: int = 1) -> Node:
    """The first places at which a running count reaches ``first`` and the numbers after it.

    Its own size where it never does. ``size`` places, int32.
    """
    length = running.shape[0]
    if length == 0 or size == 0:
        return integer(0, (size,))
    attrs = {"size": length, "is_right": False, "first": first}
    return Node(table.TRUE_PLACES, (blocks.dense(running),), (size,), dtypes.INT, attrs)


def running_count(flags: Node) -> Node:
    """How many of the elements up to each one are true, for one axis; int32."""
    flags = build.cast(build.cast(flags, dtypes.bool_), dtypes.INT)
    return blocks.along("cumulative_sum", flags, 0, exclusive=False)


def last(running: Node) -> Node:
    """The last element of one axis, 0-d, in memory of its own; 0 if there is none."""
    return build.copy(select.cut(running, -1)) if running.shape[0] else integer(0)


def true_places(mask: Node, size: int | None = None) -> Found:
    """The numbers of the true elements of ``mask``, counted through all axes.

    Args:
        mask: Of any shape and dtype; true is what is not 0.
        size: How many at most; None for all that there can be.
    """
    running = running_count(build.reshape(mask, (mask.nelems,)))
    return Found(places(running, mask.nelems if size is None else size), last(running))


def taken(data: Node, indices: Node) -> Node:
    """Rows of ``data`` by int32 indices of one axis, which are clamped."""
    shape = (indices.shape[0], *data.shape[1:])
    if 0 in shape or data.shape[0] == 0:
        return build.constant(zero(data), data.dtype, shape)
    return blocks.gather(data, indices, 0, raises=False)


class Groups(NamedTuple):
    """The distinct elements of an array, in ascending order; NaNs are distinct.

    Attributes:
        values: The elements; as many as asked for.
        indices: The first place of each, counted through all axes.
        inverse: Which of them each element of the array is, in its shape.
        counts: How often each is there.
        length: How many they are, 0-d and int32.
    """

    values: Node
    indices: Node
    inverse: Node
    counts: Node
    length: Node


def unique(node: Node, size: int | None, name: str) -> Groups:
    """The distinct elements of ``node``; what is not asked for costs nothing.

    Args:
        node: Any real dtype.
        size: How many at most; None for all that there can be.
        name: The operation, for errors.

    Raises:
        DTypeError: The dtype is complex.
    """
    check_order(name, node)
    n = node.nelems
    many = n if size is None else size
    flat = build.reshape(node, (n,))
    if n == 0:
        none = integer(0, (many,))
        values = build.constant(zero(node), node.dtype, (many,))
        return Groups(values, none, integer(0, node.shape), none, integer(0))
    came_from = argsort(flat, 0)
    ordered = take_along(flat, came_from, 0)
    # Where one differs from the one before it: the first does so too, and is not among these.
    steps = build.elementwise("not_equal", *(select.cut(ordered, k) for k in _NEIGHBOURS))
    running = running_count(steps) if n > 1 else integer(0, (0,))
    starts = _starts(running, many + 1, n)
    begin, end = (select.cut(starts, k) for k in (slice(0, many), slice(1, many + 1)))
    base = build.copy(integer(0, (n,)))
    inverse = base
    if n > 1:
        behind = select.cut(came_from, slice(1, None))
        inverse = blocks.scatter(base, running, behind, 0, raises=False)
    return Groups(
        taken(ordered, begin),
        taken(came_from, begin),
        build.reshape(inverse, node.shape),
        build.elementwise("subtract", end, begin),
        build.elementwise("add", last(running), 1),
    )


_NEIGHBOURS = (slice(1, None), slice(None, -1))


def _starts(running: Node, size: int, n: int) -> Node:
    """Where each group of equals starts in the order; ``n`` behind the last group."""
    if n == 1:
        return build.elementwise("minimum", Node(table.IOTA, (), (size,), dtypes.INT, _FROM_0), 1)
    found = build.elementwise("add", places(running, size, 0), 1)
    is_later = build.elementwise("greater", Node(table.IOTA, (), (size,), dtypes.INT, _FROM_0), 0)
    return build.elementwise("where", is_later, found, 0)


_FROM_0 = {"start": 0, "step": 1}


def filled(found: Found, value: Scalar) -> Node:
    """The elements found, and ``value`` behind the last: a shape that does not depend on data."""
    node, length = found
    value = dtypes.number(value, "fill_value")
    rest = len(node.shape) - 1
    at = Node(table.IOTA, (), (node.shape[0],), dtypes.INT, _FROM_0)
    is_found = build.elementwise("less", at, length)
    return build.elementwise(
        "where", build.reshape(is_found, (node.shape[0], *(1,) * rest)), node, value
    )


def coordinates(flat: Node, shape: Shape) -> list[Node]:
    """Numbers of elements in C order as an index for each axis of ``shape``."""
    made = []
    for size, stride in zip(shape, contiguous_strides(shape), strict=True):
        index = build.elementwise("floor_divide", flat, stride) if stride > 1 else flat
        made.append(build.elementwise("remainder", index, max(1, size)))
    return made


def rows(found: Found, count: int) -> Node:
    """The first ``count`` of what was found; in memory of its own if that is far less."""
    short = select.cut(found.node, slice(0, count))
    return build.copy(short) if 2 * count < found.node.shape[0] else short


def check_size(size: object, name: str) -> int | None:
    """``size=`` of a function whose result depends on data.

    Raises:
        UsageError: Neither None nor a number of elements.
    """
    if size is None:
        return None
    if shapes.is_integer(size) and not isinstance(size, bool):
        number = shapes.integer(size, name)
        if number >= 0:
            return number
    raise UsageError(f"{name}: size {size!r}: must be None or a number of elements")


def isin(node: Node, those: Node, *, invert: bool) -> Node:
    """Whether each element of ``node`` is among ``those``, of the same dtype.

    Raises:
        DTypeError: The dtype is complex.
    """
    for each in (node, those):
        check_order("isin", each)
    if those.nelems == 0:
        return build.constant(invert, dtypes.bool_, node.shape)
    flat = build.reshape(those, (those.nelems,))
    ordered = take_along(flat, argsort(flat, 0), 0)
    place = searchsorted(ordered, node, is_right=False)
    flat_place = build.reshape(place, (node.nelems,))
    # Behind the last there is none: the last one then, which is less.
    nearest = build.reshape(taken(ordered, flat_place), node.shape)
    return build.elementwise("not_equal" if invert else "equal", nearest, node)
