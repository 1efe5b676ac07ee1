"""From nodes to programs, remembered: a graph of a shape that was met before is not planned anew.

A portion of the graph is described by a key: operations, shapes, dtypes and who reads whom, but
not the values of numbers. What scheduling and rendering made of it is kept under that key, with
nodes named by their places in the portion; for another portion of the same key only the numbers are
put in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from aiogpu import dtypes
from aiogpu.errors import AioGpuError
from aiogpu.graph import table
from aiogpu.kernels.render import render
from aiogpu.kernels.writer import TextCache
from aiogpu.program import Program
from aiogpu.schedule.fuse import portions, steps
from aiogpu.schedule.step import Load

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from aiogpu.graph.node import Node
    from aiogpu.limits import Limits
    from aiogpu.program import Launch
    from aiogpu.schedule.fuse import Portion
    from aiogpu.schedule.step import Step

MAX_PLANS: Final = 512


@dataclass(slots=True)
class Task:
    """One node to be computed, and how.

    Attributes:
        node: Whose value it is.
        inputs: The nodes whose values the program reads, by slot.
        base: The node whose memory the output takes over, with its content.
        program: The launches.
        is_alias: The value lies where the first input's does; there is nothing to run.
    """

    node: Node
    inputs: Sequence[Node]
    base: Node | None
    program: Program
    is_alias: bool = False


class _Kept(NamedTuple):
    """A task with nodes named by their places in their portion."""

    node: int
    inputs: tuple[int, ...]
    base: int | None
    program: Program
    has_numbers: bool
    is_alias: bool


class Planner:
    """Schedules and renders, and remembers both."""

    def __init__(self) -> None:
        self._texts = TextCache()
        self._plans: dict[tuple[object, ...], list[_Kept]] = {}

    def plan(self, roots: Iterable[Node], limits: Limits, *, fuse: bool) -> Iterator[Task]:
        """The tasks that compute ``roots``, in an order in which they can run.

        A node that no kernel can compute within the limits fails here.
        """
        for portion in portions(roots):
            key = (limits, fuse, *describe(portion))
            kept = self._plans.get(key)
            if kept is None:
                yield from self._make(portion, key, limits, fuse=fuse)
            else:
                nodes = portion.nodes
                for each in kept:
                    yield _task(each, nodes)

    def _make(
        self, portion: Portion, key: tuple[object, ...], limits: Limits, *, fuse: bool
    ) -> Iterator[Task]:
        numbers = {node: number for number, node in enumerate(portion.nodes)}
        kept: list[_Kept] = []
        is_whole = True
        for step in steps(portion, limits, fuse=fuse):
            try:
                program = render(step, limits, self._texts)
            except AioGpuError as error:
                step.node.fail(error)
                is_whole = False
                continue
            kept.append(
                _Kept(
                    numbers[step.node],
                    tuple([numbers[node] for node in step.inputs]),
                    None if step.base is None else numbers[step.base],
                    program,
                    any(launch.numbers for launch in program.launches),
                    _is_alias(step),
                )
            )
            yield Task(step.node, step.inputs, step.base, program, _is_alias(step))
        if is_whole:
            if len(self._plans) >= MAX_PLANS:
                self._plans.clear()
            self._plans[key] = kept


def describe(portion: Portion) -> list[object]:
    """All of a portion that its plan depends on, but for the values of numbers."""
    at: dict[Node, int] = {}
    key: list[object] = []
    add = key.append
    outside = portion.noutside
    for node in portion.nodes:
        number = at[node] = len(at)
        add(node.shape)
        add(node.dtype)
        op = node.op
        if node.value is not None or node.error is not None:
            add(None)
        elif op is table.CONSTANT:
            add(op)
        elif op is table.IOTA:
            attrs: Any = node.attrs
            add(op)
            add(dtypes.words(attrs["start"], node.dtype))
            add(dtypes.words(attrs["step"], node.dtype))
        elif number < outside and op is not table.VIEW:
            add(None)
        else:
            add(op)
            for operand in node.inputs:
                add(at[operand])
            add(2 * (node.holders > 0) + (node.consumers == 1))
            if node.attrs is not None:
                add(_frozen(node.attrs))
    add(tuple(sorted([at[node] for node in portion.asked])))
    add(outside)
    return key


def _frozen(value: Any) -> Any:  # noqa: ANN401 - plain data
    """Plain data as something to look up."""
    if isinstance(value, dict):
        return tuple([(name, _frozen(value[name])) for name in value])
    if isinstance(value, list):
        return tuple([_frozen(each) for each in value])
    return value


def _task(kept: _Kept, nodes: Sequence[Node]) -> Task:
    number, inputs, base, program, has_numbers, is_alias = kept
    if has_numbers:
        program = Program(
            tuple([_with_numbers(launch, nodes) for launch in program.launches]),
            program.temporaries,
        )
    return Task(
        nodes[number],
        [nodes[at] for at in inputs],
        None if base is None else nodes[base],
        program,
        is_alias,
    )


def _with_numbers(launch: Launch, nodes: Sequence[Node]) -> Launch:
    """A launch with the numbers of other nodes in its parameters."""
    if not launch.numbers:
        return launch
    params = list(launch.params)
    for word, node, dtype in launch.numbers:
        attrs: Any = nodes[node].attrs
        words = dtypes.words(attrs["value"], dtype)
        params[word : word + len(words)] = words
    return replace(launch, params=tuple(params))


def _is_alias(step: Step) -> bool:
    """Whether a view shows its owner's elements in their order, from the first."""
    if step.node.op is not table.VIEW or step.body is None:
        return False
    first = step.body.instrs[0]
    return (
        len(step.body.instrs) == 1
        and isinstance(first, Load)
        and first.view.is_contiguous
        and first.view.offset == 0
    )
