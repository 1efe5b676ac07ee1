"""Indexing by a mask: nodes of what ``x[mask, 0]`` gives, and of its update.

How many elements a mask chooses depends on data. An update needs no number: it is a ``where``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiogpu.errors import AxisError, ShapeError, UsageError
from aiogpu.graph import blocks, build, orders, select
from aiogpu.graph.orders import Found

if TYPE_CHECKING:
    from aiogpu.graph.build import Operand
    from aiogpu.graph.node import Node
    from aiogpu.shapes import Shape


class Masked(NamedTuple):
    """A key with a mask in it.

    Attributes:
        mask: Of bools.
        before: The parts of the key that stand before it.
        after: Those behind it.
    """

    mask: Node
    before: tuple[object, ...] = ()
    after: tuple[object, ...] = ()

    @property
    def basic(self) -> tuple[object, ...] | None:
        """The key with a whole slice for each axis of the mask; None where the mask is all."""
        if not self.before and not self.after:
            return None
        return (*self.before, *[slice(None)] * len(self.mask.shape), *self.after)

    def cut(self, node: Node) -> tuple[Node, int]:
        """What the other parts of the key leave, and how many of its axes are before the mask's."""
        if self.basic is None:
            return node, 0
        base = select.cut(node, self.basic)
        if any(part is Ellipsis for part in self.before):
            return base, len(base.shape) - len(self.mask.shape) - _axes(self.after)
        return base, _axes(self.before)


def _axes(parts: tuple[object, ...]) -> int:
    return sum(part is None or isinstance(part, slice) for part in parts)


def pick(node: Node, key: Masked) -> Found:
    """The elements of ``node`` that the key chooses.

    Raises:
        AxisError: The mask's shape is not that of the axes where it stands.
        UsageError: There are axes before the mask's: only the first may have an unknown size.
    """
    node, front = key.cut(node)
    if front:
        raise UsageError(
            "index: an axis before those of the mask: the axis that depends on data must be the "
            "first; use moveaxis, or where(mask, x, other), which keeps the shape"
        )
    mask = key.mask
    rest = _rest(node, mask)
    if mask.nelems == 0:
        return Found(build.constant(orders.zero(node), node.dtype, (0, *rest)), orders.integer(0))
    found = orders.true_places(mask)
    rows = build.reshape(node, (mask.nelems, *rest))
    return found._replace(node=orders.taken(rows, found.node))


def assign(node: Node, key: Masked, value: Operand) -> Node:
    """The value of ``node`` after ``node[key] = value``.

    Args:
        node: What is assigned to.
        key: Which elements of it.
        value: One for all that the mask chooses, or with one more axis, an element for each; a
            single number where there are axes before the mask's.

    Raises:
        AxisError: The mask's shape is not that of the axes where it stands.
        ShapeError: ``value`` does not broadcast to the axes that the mask says nothing of.
        UsageError: When the value is awaited: there are more elements, or fewer, than are chosen.
    """
    value = build.assigned(value, node.dtype)
    base, front = key.cut(node)
    if front and value.nelems != 1:
        raise ShapeError(
            f"setitem: values of shape {value.shape}: with axes before the mask's, one number; "
            "use where(mask, values, x)"
        )
    order = [*range(front, len(base.shape)), *range(front)]
    changed = _assign_first(
        build.permute(base, order), key.mask, build.reshape(value, ()) if front else value
    )
    if key.basic is None:
        return changed
    back = build.permute(changed, [order.index(axis) for axis in range(len(order))])
    return select.assign(node, key.basic, back)


def _assign_first(node: Node, mask: Node, value: Node) -> Node:
    """As `assign`, with a mask of the first axes."""
    rest = _rest(node, mask)
    if mask.nelems == 0:
        return node
    given = value.shape
    if len(given) == len(rest) + 1 and given[0] == 1:
        value = build.reshape(value, given[1:])
    if len(value.shape) > len(rest) + 1:
        raise ShapeError(
            f"setitem: values of shape {given}: where a mask chooses, they must broadcast to "
            f"{rest}, or to {(None, *rest)} with an element for each that is chosen"
        )
    if len(value.shape) > len(rest):
        value = build.broadcast_to(value, (value.shape[0], *rest), "setitem")
        value = build.reshape(_dealt(value, mask), node.shape)
    else:
        value = build.broadcast_to(value, rest, "setitem")
        value = build.reshape(value, (*(1,) * len(mask.shape), *rest))
        value = build.broadcast_to(value, node.shape)
    flags = build.reshape(mask, (*mask.shape, *(1,) * len(rest)))
    return build.elementwise("where", flags, value, node)


def _rest(node: Node, mask: Node) -> Shape:
    """The axes of ``node`` that ``mask`` says nothing of. A mask may have a size of 0 instead."""
    rank = len(mask.shape)
    fits = rank <= len(node.shape) and all(
        size in {0, had} for size, had in zip(mask.shape, node.shape[:rank], strict=True)
    )
    if not fits:
        raise AxisError(
            f"index: a mask of shape {mask.shape}: the array has shape {node.shape}, "
            f"whose first axes must be the mask's"
        )
    return node.shape[rank:]


def _dealt(values: Node, mask: Node) -> Node:
    """A row of ``values`` for each element of ``mask``: in turn, for those that it chooses."""
    count = values.shape[0]
    if count == 0:
        values = build.constant(orders.zero(values), values.dtype, (1, *values.shape[1:]))
    running = orders.running_count(build.reshape(mask, (mask.nelems,)))
    turn = build.elementwise("maximum", build.elementwise("subtract", running, 1), 0)
    fits = build.elementwise("equal", orders.last(running), count)
    turn = build.elementwise("where", fits, turn, values.shape[0])
    fault = f"setitem: {count} values: the mask chooses another number of elements"
    return blocks.gather(values, turn, 0, raises=True, fault=fault)
