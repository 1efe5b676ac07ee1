"""Which nodes are computed on the way to another, and which get a launch of their own.

A node that is not elementwise always gets one. An elementwise node is computed inside its consumer
(fused) when it has one consumer, the same shape, and the launch stays within the device's storage
buffers and `MAX_BODY` instructions. What a live array shows is fused only when it is short, since it
will be computed again for its next reader. Numbers, views and casts of what lies in memory cost
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
    from collections.abc import Iterable, Sequence

    from aiogpu.graph.node import Node
    from aiogpu.limits import Limits
    from aiogpu.shapes import Shape

MAX_BODY = 64
CHEAP_BODY = 8
_WHOLE = frozenset({"matmul", "user", "update", "pick"})  # families that read their inputs as they are


def schedule(roots: Iterable[Node], limits: Limits, *, fuse: bool = True) -> list[Step]:
    """The steps that compute ``roots``, in an order in which they can run."""
    wanted = [root for root in roots if not root.is_done]
    nodes = order(wanted)
    own = _own_launch(nodes, wanted, limits, fuse=fuse)
    return [_step(node, own) for node in nodes if id(node) in own]


def _is_free(node: Node, own: set[int], space: Shape) -> bool:
    """Whether taking ``node`` in costs nothing, however often it is done."""
    if node.op is table.CAST:
        operand = node.inputs[0]
        return operand.is_done or id(operand) in own or operand.op.family in {"constant", "view"}
    return node.op.family in {"constant", "view"} or (node.op is table.IOTA and node.shape == space)


def _own_launch(nodes: Sequence[Node], roots: Sequence[Node], limits: Limits, *, fuse: bool) -> set[int]:
    """Ids of the nodes that get a launch of their own."""
    own = {id(root) for root in roots}
    uses = Counter(id(operand) for node in nodes for operand in node.inputs)
    reads: dict[int, frozenset[int]] = {}  # what a node reads when it is taken in by its consumer
    length: dict[int, int] = {}
    most = limits.max_storage_buffers - 1
    for node in nodes:
        family = node.op.family
        if family == "view":  # its owner must lie in memory
            owner = node.inputs[0]
            if not owner.is_done:
                own.add(id(owner))
            reads[id(node)], length[id(node)] = frozenset((id(owner),)), 1
            continue
        if family in _WHOLE:
            own.add(id(node))
            own.update(id(view_of(operand)[0]) for operand in node.inputs if not view_of(operand)[0].is_done)
            continue
        own_space = node.inputs[0].shape if family == "reduce" else node.shape
        taken = []
        for operand in node.inputs:
            if operand.is_done or id(operand) in own:
                taken.append((operand, frozenset((id(operand),)), 1))
            elif _is_free(operand, own, own_space) or (
                fuse
                and uses[id(operand)] == 1
                and operand.shape == own_space
                and operand.op.family == "elementwise"
                and (not operand.holders or length[id(operand)] <= CHEAP_BODY)
            ):
                taken.append((operand, reads[id(operand)], length[id(operand)]))
            else:
                own.add(id(operand))
                taken.append((operand, frozenset((id(operand),)), 1))
        while True:
            together = frozenset().union(*(r for _, r, _ in taken))
            size = 1 + sum(n for _, _, n in taken)
            if len(together) <= most and size <= MAX_BODY:
                break
            at = max(range(len(taken)), key=lambda i: (len(taken[i][1]), taken[i][2]))
            operand = taken[at][0]
            own.add(id(operand))
            taken[at] = (operand, frozenset((id(operand),)), 1)
        reads[id(node)], length[id(node)] = together, size
        if family == "reduce":
            own.add(id(node))
    return own


def _step(node: Node, own: set[int]) -> Step:
    if node.op.family in _WHOLE:
        pairs = [view_of(operand) for operand in node.inputs]
        inputs: list[Node] = []
        for owner, _ in pairs:
            if owner not in inputs:
                inputs.append(owner)
        slots = tuple(inputs.index(owner) for owner, _ in pairs)
        return Step(node, inputs, node.shape, (), slots, tuple(how for _, how in pairs))
    if node.op.family == "reduce":
        space = node.inputs[0].shape
        return _Body(space, own).step(node, node.inputs[0])
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
        return Load(self.inputs.index(owner), how.broadcast_to(self.space, current.op.name), owner.dtype)
