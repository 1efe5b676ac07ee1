"""From nodes to steps: portions of the graph, their groups, and each group as instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from aiogpu.graph import table
from aiogpu.graph.build import view_of
from aiogpu.schedule.groups import FREE, Plan, in_memory, is_number, reinterprets, resolve
from aiogpu.schedule.order import order, serial
from aiogpu.schedule.step import OUT, Apply, Cast, Code, Const, Iota, Load, Place, Result, Step
from aiogpu.shapes import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from aiogpu.graph.node import Node
    from aiogpu.limits import Limits
    from aiogpu.schedule.groups import Group
    from aiogpu.schedule.step import Instr
    from aiogpu.shapes import Shape

PORTION: Final = 256  # nodes that are planned at a time: a few milliseconds of Python


class Portion(NamedTuple):
    """Nodes that are planned together.

    Attributes:
        nodes: The nodes, operands first, with all that they stand on.
        asked: Those that must lie in memory afterwards.
        noutside: How many of the nodes, the first ones, are not computed here.
    """

    nodes: list[Node]
    asked: set[Node]
    noutside: int = 0


def portions(roots: Iterable[Node]) -> Iterator[Portion]:
    """What is to be computed for ``roots``, portion by portion, so that a caller may pause.

    Nodes are not fused across the borders of portions.
    """
    asked = {root for root in roots if not root.is_done}
    nodes = order(asked)
    pending = nodes if len(nodes) <= PORTION else [node for node in nodes if not node.is_done]
    if len(pending) <= PORTION:
        if nodes:
            yield Portion(nodes, asked)
        return
    last_use = _last_uses(pending)
    for start in range(0, len(pending), PORTION):
        end = start + PORTION
        inside = [node for node in pending[start:end] if not node.is_done]
        outlive = {
            node
            for node in inside
            if node in asked or (last_use[node] >= end and node.op.family not in FREE)
        }
        outside = _outside(inside)
        yield Portion([*outside, *inside], outlive, len(outside))


def _last_uses(nodes: Sequence[Node]) -> dict[Node, int]:
    """Where each node is read last; a view reads its owner where it is read itself."""
    last: dict[Node, int] = {}
    for at in range(len(nodes) - 1, -1, -1):
        node = nodes[at]
        use = last.get(node, at) if node.op.family in FREE else at
        for operand in node.inputs:
            last[operand] = max(use, last.get(operand, use))
    return last


def _outside(nodes: Sequence[Node]) -> list[Node]:
    """What ``nodes`` stand on: values, what earlier portions compute, and what costs nothing."""
    found = set(nodes)
    stack = list(nodes)
    outside = []
    while stack:
        node = stack.pop()
        for operand in node.inputs:
            if operand not in found:
                found.add(operand)
                outside.append(operand)
                if operand.op.family in FREE:
                    stack.append(operand)
    outside.sort(key=serial)
    return outside


def steps(
    portion: Portion, numbers: Mapping[Node, int], limits: Limits, *, fuse: bool = True
) -> Iterator[Step]:
    """The steps that compute what a portion is asked for, in an order in which they can run.

    Args:
        portion: The nodes.
        numbers: What the steps call numbers of the user's expression.
        limits: What one launch may bind.
        fuse: False for one operation a launch.
    """
    plan = Plan(portion.nodes, portion.asked, portion.noutside, limits, fuse=fuse)
    for group in plan.groups:
        yield _Writer(group, numbers).step()


def schedule(roots: Iterable[Node], limits: Limits, *, fuse: bool = True) -> Iterator[Step]:
    """All steps that compute ``roots``."""
    for portion in portions(roots):
        numbers = {node: number for number, node in enumerate(portion.nodes)}
        yield from steps(portion, numbers, limits, fuse=fuse)


class _Writer:
    """Writes a group as a step; an explicit stack, since chains may be long."""

    def __init__(self, group: Group, numbers: Mapping[Node, int]) -> None:
        self._group = group
        self._numbers = numbers
        self._inputs: list[Node] = []

    def step(self) -> Step:
        group = self._group
        root = group.root
        core = group.core or root
        step = Step(root, core.op.family, core, self._inputs, base=group.base)
        top = root
        if root.op is table.STORE:
            assert root.attrs is not None
            step.base, top = root.inputs  # where the value goes, and the value
            step.target = root.attrs["target"]
            core = step.core = group.core or top
            step.family = core.op.family
        if core.op.family in table.PROLOGUE and self._is_core(core):
            step.body = self._write(core.inputs[0], core.inputs[0].shape)
        elif core.op.family in table.WHOLE and self._is_core(core):
            self._whole(step, core)
        else:
            step.family, step.core = "elementwise", root
            step.body = self._write(top, top.shape)
            return step
        if top is not core:
            step.finish = self._write(top, group.zone.spaces[0])
        return step

    def _is_core(self, node: Node) -> bool:
        return node is self._group.core or node is self._group.root

    def _whole(self, step: Step, core: Node) -> None:
        operands = in_memory(core)
        if core.op.family == "scatter":
            step.base, *operands = core.inputs  # type: ignore[assignment]
        elif core.op.family == "kernel":
            step.consts = tuple(map(self._const, core.inputs[len(operands) :]))
        pairs = [view_of(operand) for operand in operands]
        step.slots = tuple(self._slot(owner) for owner, _ in pairs)
        step.views = tuple(how for _, how in pairs)

    def _const(self, node: Node) -> Const:
        assert node.attrs is not None
        return Const(node.attrs["value"], node.dtype, self._numbers[node])

    def _slot(self, node: Node) -> int:
        if node is self._group.base:
            return OUT
        if node not in self._inputs:
            self._inputs.append(node)
        return self._inputs.index(node)

    def _write(self, top: Node, space: Shape) -> Code:
        """The instructions that compute ``top`` for each element of ``space``."""
        code = _Code(space)
        stack = [(top, 0, False)]
        while stack:
            node, place, ready = stack.pop()
            if code.has(node, place):
                continue
            owner, how = resolve(node, code.spaces[place])
            at = place
            if how is not None and self._is_inside(owner) and not reinterprets(node):
                at = code.place(place, how, owner.shape)
            if not self._is_computed(owner) or reinterprets(node):
                code.add(node, place, self._leaf(node, owner, how, place, at))
            elif ready:
                self._apply(code, node, place, owner, at)
            else:
                stack.append((node, place, True))
                if (owner, at) == (node, place):
                    stack.extend((operand, at, False) for operand in reversed(node.inputs))
                else:
                    stack.append((owner, at, False))
        return Code(space, tuple(code.instrs), tuple(code.places))

    def _is_computed(self, node: Node) -> bool:
        """Whether ``node`` is computed here from its operands."""
        if node.op.family != "elementwise" or node.is_done:
            return False
        return node in self._group.members or node is self._group.root

    def _is_inside(self, node: Node) -> bool:
        """Whether ``node`` is looked at through places: computed here, or a range."""
        is_range = node.op is table.IOTA and not node.is_done
        return is_range or node is self._group.core or self._is_computed(node)

    def _apply(self, code: _Code, node: Node, place: int, owner: Node, at: int) -> None:
        if (owner, at) != (node, place):
            code.alias(node, place, code.at(owner, at))
            return
        args = tuple(code.at(operand, at) for operand in node.inputs)
        if node.op is table.CAST:
            code.add(node, place, Cast(args[0], node.dtype))
        else:
            code.add(node, place, Apply(node.op, args, node.dtype))

    def _leaf(self, node: Node, owner: Node, how: View | None, place: int, at: int) -> Instr:
        attrs = owner.attrs or {}
        if not reinterprets(node):
            if owner is self._group.core:
                return Result(owner.dtype)
            if is_number(owner):
                return self._const(owner)
            if owner.op is table.IOTA and not owner.is_done:
                return Iota(attrs["start"], attrs["step"], owner.dtype, at)
        return Load(self._slot(owner), how or View.contiguous(owner.shape), node.dtype, place)


class _Code:
    """A `Code` being written: which instruction has a node's value at a place."""

    def __init__(self, space: Shape) -> None:
        self.instrs: list[Instr] = []
        self.places: list[Place] = []
        self.spaces = [space]
        self._at: dict[tuple[Node, int], int] = {}
        self._numbers: dict[tuple[Place, Shape], int] = {}

    def place(self, parent: int, how: View, shape: Shape) -> int:
        place = Place(parent, how)
        number = self._numbers.get((place, shape))
        if number is None:
            number = self._numbers[place, shape] = len(self.spaces)
            self.places.append(place)
            self.spaces.append(shape)
        return number

    def has(self, node: Node, place: int) -> bool:
        return (node, place) in self._at

    def at(self, node: Node, place: int) -> int:
        return self._at[node, place]

    def alias(self, node: Node, place: int, at: int) -> None:
        self._at[node, place] = at

    def add(self, node: Node, place: int, instr: Instr) -> None:
        self._at[node, place] = len(self.instrs)
        self.instrs.append(instr)
