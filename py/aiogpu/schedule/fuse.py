"""Which nodes are computed on the way to another, and which get a launch of their own.

A node that is not elementwise always gets one. An elementwise node is computed inside its consumer
(fused) when it has one consumer, the same shape, and the launch stays within the device's storage
buffers and `MAX_BODY` instructions. What a live array shows is fused only when it is short, since
it will be computed again for its next reader. Numbers, views and casts of what lies in memory cost
nothing and are always taken in.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from aiogpu.graph import table
from aiogpu.graph.build import view_of
from aiogpu.schedule.order import order
from aiogpu.schedule.step import Apply, Cast, Const, Instr, Iota, Load, Step
from aiogpu.shapes import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from aiogpu.graph.node import Node
    from aiogpu.limits import Limits
    from aiogpu.shapes import Shape

_FREE = frozenset({"constant", "iota", "view"})
PORTION = 256  # nodes that are planned at a time: a few milliseconds of Python
MAX_BODY = 64
CHEAP_BODY = 8


def schedule(roots: Iterable[Node], limits: Limits, *, fuse: bool = True) -> Iterator[Step]:
    """The steps that compute ``roots``, in an order in which they can run.

    A large graph is planned portion by portion, so that whoever iterates may pause in between;
    nodes are not fused across the borders.
    """
    wanted = [root for root in roots if not root.is_done]
    nodes = order(wanted)
    last_use = {id(operand): at for at, node in enumerate(nodes) for operand in node.inputs}
    asked = {id(root) for root in wanted}
    for start in range(0, len(nodes), PORTION):
        end = start + PORTION
        portion = [node for node in nodes[start:end] if not node.is_done]
        outlive = [
            node
            for node in portion
            if id(node) in asked or (last_use[id(node)] >= end and node.op.family not in _FREE)
        ]
        portion = _free_operands(portion) + portion
        own = _Plan(portion, outlive, limits, fuse=fuse).own
        yield from (_step(node, own) for node in portion if id(node) in own)


def _free_operands(nodes: Sequence[Node]) -> list[Node]:
    """Numbers, ranges and views of earlier portions that ``nodes`` read: they take part again."""
    known = {id(node) for node in nodes}
    found: dict[int, Node] = {}
    for node in nodes:
        for operand in node.inputs:
            if id(operand) not in known and not operand.is_done and operand.op.family in _FREE:
                found[id(operand)] = operand
    return list(found.values())


def _is_free(node: Node, own: set[int], space: Shape) -> bool:
    """Whether taking ``node`` in costs nothing, however often it is done."""
    if node.op is table.CAST:
        operand = node.inputs[0]
        return operand.is_done or id(operand) in own or operand.op.family in {"constant", "view"}
    return node.op.family in {"constant", "view"} or (node.op is table.IOTA and node.shape == space)


def _union(sets: list[frozenset[int]]) -> frozenset[int]:
    """The union; one of the sets itself where it has all, as in a chain."""
    largest = max(sets, key=len, default=frozenset())
    if all(each <= largest for each in sets):
        return largest
    return largest.union(*sets)


class _Plan:
    """Decides, operands before consumers, which nodes get a launch of their own.

    Attributes:
        own: Ids of those nodes.
    """

    def __init__(
        self, nodes: Sequence[Node], roots: Sequence[Node], limits: Limits, *, fuse: bool
    ) -> None:
        self.own = {id(root) for root in roots}
        self._fuse = fuse
        self._most = limits.max_storage_buffers - 1
        self._uses = Counter(id(operand) for node in nodes for operand in node.inputs)
        # What a node reads, and how long it is, when its consumer takes it in.
        self._cost: dict[int, tuple[frozenset[int], int]] = {}
        for node in nodes:
            self._decide(node)

    def _decide(self, node: Node) -> None:
        family = node.op.family
        if family == "view":
            self._lay(node.inputs[0])
            self._cost[id(node)] = frozenset((id(node.inputs[0]),)), 1
        elif family in table.WHOLE or family == "scatter":
            self.own.add(id(node))
            for operand in node.inputs:
                self._lay(view_of(operand)[0])
        elif family == "store":
            self.own.add(id(node))
            self._lay(node.inputs[0])
            self._take(node.inputs[1:], node.inputs[1].shape)
        elif family in table.PROLOGUE:
            self.own.add(id(node))
            self._take(node.inputs, node.inputs[0].shape)
        else:
            self._cost[id(node)] = self._take(node.inputs, node.shape)

    def _lay(self, node: Node) -> None:
        """``node`` must lie in memory."""
        if not node.is_done:
            self.own.add(id(node))

    def _take(self, operands: Sequence[Node], space: Shape) -> tuple[frozenset[int], int]:
        """Take in as many operands as one launch over ``space`` can hold."""
        costs = {}
        for operand in operands:
            if self._is_taken(operand, space):
                costs[id(operand)] = self._cost[id(operand)]
            else:
                self._lay(operand)
                costs[id(operand)] = frozenset((id(operand),)), 1
        while True:
            reads = _union([read for read, _ in costs.values()])
            length = 1 + sum(length for _, length in costs.values())
            if len(reads) <= self._most and length <= MAX_BODY:
                return reads, length
            largest = max(costs, key=lambda key: (len(costs[key][0]), costs[key][1]))
            self.own.add(largest)
            costs[largest] = frozenset((largest,)), 1

    def _is_taken(self, operand: Node, space: Shape) -> bool:
        if operand.is_done or id(operand) in self.own or id(operand) not in self._cost:
            return False  # it lies in memory, or will: an earlier portion computes it
        if _is_free(operand, self.own, space):
            return True
        return (
            self._fuse
            and operand.op.family == "elementwise"
            and self._uses[id(operand)] == 1
            and operand.shape == space
            and (not operand.holders or self._cost[id(operand)][1] <= CHEAP_BODY)
        )


def _step(node: Node, own: set[int]) -> Step:
    if node.op.family in table.WHOLE or node.op.family == "scatter":
        base = node.inputs[0] if node.op.family == "scatter" else None
        pairs = [view_of(operand) for operand in node.inputs[1 if base else 0 :]]
        inputs: list[Node] = []
        for owner, _ in pairs:
            if owner not in inputs:
                inputs.append(owner)
        slots = tuple(inputs.index(owner) for owner, _ in pairs)
        return Step(node, inputs, node.shape, (), slots, tuple(how for _, how in pairs), base)
    if node.op.family in table.PROLOGUE:
        space = node.inputs[0].shape
        return _Body(space, own).step(node, node.inputs[0])
    if node.op.family == "store":
        assert node.attrs is not None
        base, value = node.inputs
        step = _Body(value.shape, own).step(node, value)
        step.base, step.target = base, node.attrs["target"]
        return step
    return _Body(node.shape, own).step(node, node)


class _Body:
    """Writes the instructions of one step; an explicit stack, since chains may be long."""

    def __init__(self, space: Shape, own: set[int]) -> None:
        self.space = space
        self.own = own
        self.inputs: list[Node] = []
        self.body: list[Instr] = []
        self.at: dict[int, int] = {}

    def step(self, node: Node, top: Node) -> Step:
        stack = [(top, False)]
        while stack:
            current, ready = stack.pop()
            if id(current) in self.at:
                continue
            if not ready and self._is_inner(current, node):
                stack.append((current, True))
                stack.extend((operand, False) for operand in reversed(current.inputs))
                continue
            self.at[id(current)] = len(self.body)
            self.body.append(self._instr(current, node))
        return Step(node, self.inputs, self.space, tuple(self.body))

    def _is_inner(self, current: Node, node: Node) -> bool:
        """Whether ``current`` is computed here from its operands."""
        if current.op.family != "elementwise" or current.is_done:
            return False
        return current is node or id(current) not in self.own

    def _instr(self, current: Node, node: Node) -> Instr:
        attrs = current.attrs or {}
        if self._is_inner(current, node):
            args = tuple(self.at[id(operand)] for operand in current.inputs)
            if current.op is table.CAST:
                return Cast(args[0], current.dtype)
            return Apply(current.op, args, current.dtype)
        here = not current.is_done and (current is node or id(current) not in self.own)
        if here and current.op is table.CONSTANT:
            return Const(attrs["value"], current.dtype)
        if here and current.op is table.IOTA and current.shape == self.space:
            return Iota(attrs["start"], attrs["step"], current.dtype)
        owner, how = view_of(current) if here else (current, View.contiguous(current.shape))
        if owner not in self.inputs:
            self.inputs.append(owner)
        # A view may take its owner's bits as elements of another dtype.
        dtype = current.dtype
        how = how.broadcast_to(self.space, current.op.name)
        return Load(self.inputs.index(owner), how, dtype)
