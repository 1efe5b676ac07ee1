"""From nodes to programs, remembered: a graph of a shape that was met before is not planned anew.

A portion of the graph is described by a key: operations, shapes, dtypes and who reads whom, but
not the values of numbers. What scheduling and rendering made of it is kept under that key, with
nodes named by their places in the portion; for another portion of the same key only the numbers are
put in.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from aiogpu import dtypes
from aiogpu.errors import AioGpuError
from aiogpu.graph import table
from aiogpu.kernels.render import render
from aiogpu.kernels.writer import TextCache
from aiogpu.program import Program
from aiogpu.runtime.transfer import HostData
from aiogpu.schedule.fuse import PORTION, Portion, portions, steps
from aiogpu.schedule.order import order, serial
from aiogpu.schedule.step import Load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from aiogpu.graph.node import Node
    from aiogpu.limits import Limits
    from aiogpu.program import Launch
    from aiogpu.schedule.step import Step

MAX_PLANS: Final = 512
_NOTHING: Final = Program(())


@dataclass(slots=True)
class Task:
    """One node to be computed, and how.

    Attributes:
        node: Whose value it is.
        inputs: The nodes whose values the program reads, by slot.
        base: The node whose memory the output takes over, with its content.
        program: The launches.
        params: The parameters of each launch, with this graph's numbers.
        is_alias: The value lies where the first input's does; there is nothing to run.
    """

    node: Node
    inputs: Sequence[Node]
    base: Node | None
    program: Program
    params: Sequence[tuple[int, ...]]
    is_alias: bool = False

    @property
    def sources(self) -> Sequence[Node]:
        """The nodes whose values it reads or takes over."""
        return self.inputs if self.base is None else (*self.inputs, self.base)

    def expect(self) -> None:
        """Count it among the readers of its sources."""
        for node in self.sources:
            node.readers += 1

    def release(self) -> None:
        """It has run, or will not."""
        for node in self.sources:
            node.readers -= 1


class Queue:
    """Tasks that are going to run; until then nobody may overwrite what they read.

    That a node has consumers does not tell: a plan reads through a view, and when the view has a
    value of its own before the reader has run, the graph no longer leads to the view's owner.
    """

    def __init__(self) -> None:
        self.tasks: deque[Task] = deque()

    def add(self, task: Task) -> None:
        """Append a task, which `Task.release` must follow when it has run."""
        task.expect()
        self.tasks.append(task)

    def __enter__(self) -> Queue:
        return self

    def __exit__(self, *exc: object) -> None:
        for task in self.tasks:
            task.release()


class _Kept(NamedTuple):
    """A task with nodes named by their places in their portion."""

    node: int
    inputs: tuple[int, ...]
    base: int | None
    program: Program
    params: tuple[tuple[int, ...], ...]
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
            described, nodes = describe(portion)
            key = (limits, fuse, *described)
            kept = self._plans.get(key)
            if kept is not None:
                for each in kept:
                    yield _task(each, nodes)
                continue
            yield from self._make(portion, nodes, key, fuse=fuse)

    def known(self, roots: Sequence[Node], limits: Limits, *, fuse: bool) -> list[Task] | None:
        """As `plan`, of what is one portion and was planned before; else None."""
        asked = {root for root in roots if not root.is_done}
        if not asked:
            return []
        nodes = order(asked)
        if len(nodes) > PORTION:
            return None
        described, numbered = describe(Portion(nodes, asked))
        kept = self._plans.get((limits, fuse, *described))
        return None if kept is None else [_task(each, numbered) for each in kept]

    def _make(
        self, portion: Portion, nodes: Sequence[Node], key: tuple[Any, ...], *, fuse: bool
    ) -> Iterator[Task]:
        limits: Limits = key[0]
        numbers = {node: number for number, node in enumerate(nodes)}
        kept: list[_Kept] = []
        is_whole = True
        for step in steps(portion, numbers, limits, fuse=fuse):
            is_alias = _is_alias(step)
            try:
                program = _NOTHING if is_alias else render(step, limits, self._texts)
            except AioGpuError as error:
                step.node.fail(error)
                is_whole = False
                continue
            params = tuple([launch.params for launch in program.launches])
            task = Task(step.node, step.inputs, step.base, program, params, is_alias)
            kept.append(
                _Kept(
                    numbers[task.node],
                    tuple([numbers[node] for node in task.inputs]),
                    None if task.base is None else numbers[task.base],
                    program,
                    params,
                    any(launch.numbers for launch in program.launches),
                    task.is_alias,
                )
            )
            yield task
        if is_whole:
            if len(self._plans) >= MAX_PLANS:
                self._plans.clear()
            self._plans[key] = kept


def peak_nbytes(
    tasks: Iterable[Task], wanted: Iterable[Node], capacity: Callable[[int], int]
) -> int:
    """How many bytes more than now some tasks need at once, when run one after another.

    Args:
        tasks: In the order in which they run.
        wanted: Nodes whose values stay, besides those that arrays show.
        capacity: The memory that a value of so many bytes takes.
    """
    todo = list(tasks)
    readers = Counter(
        node for task in todo for node in {*task.inputs, task.base} if node is not None
    )
    stays = set(wanted)
    held: dict[Node, int] = {}  # what the plan made, and when nobody reads it any more, gives back
    now = most = 0
    for task in todo:
        reads = {node for node in (*task.inputs, task.base) if node is not None}
        for node in reads:
            if isinstance(node.value, HostData) and node not in held:  # uploaded at its first use
                held[node] = capacity(node.nbytes)
                stays.add(node)
                now += held[node]
        if not task.is_alias:
            base = task.base
            if base is not None and base in held and readers[base] == 1 and base not in stays:
                held[task.node] = held.pop(base)  # in its memory
            else:
                held[task.node] = sum(capacity(nbytes) for nbytes in output_nbytes(task.node))
                now += held[task.node]
        scratch = sum(capacity(nbytes) for nbytes in task.program.temporaries)
        most = max(most, now + scratch)
        for node in reads:
            readers[node] -= 1
            if not readers[node] and node in held and not node.holders and node not in stays:
                now -= held.pop(node)
    return most


def output_nbytes(node: Node) -> Sequence[int]:
    """The sizes of the buffers that a node's program writes."""
    attrs = node.attrs
    sizes: Sequence[int] = attrs.get("outputs", (node.nbytes,)) if attrs else (node.nbytes,)
    return sizes


def describe(portion: Portion) -> tuple[list[object], list[Node]]:
    """All of a portion that its plan depends on, but for the values of numbers.

    Returns:
        The description, in which nodes are named by numbers; and the nodes by their numbers. What
        stands on nothing has its number from its first reader, so that it does not matter when it
        was made.
    """
    at: dict[Node, int] = {}
    key: list[object] = [portion.noutside]
    add = key.append
    outside = portion.nodes[: portion.noutside]
    apart = {node for node in outside if node.op is not table.VIEW} if outside else ()
    for node in portion.nodes:
        inputs = node.inputs
        if not inputs or node in apart:
            continue
        op = node.op
        add(op)
        for operand in inputs:
            number = at.get(operand)
            if number is None:
                number = at[operand] = len(at)
                _describe_ground(operand, add)
            add(number)
        add(node.shape)
        add(node.dtype)
        add(2 * (node.holders > 0) + (node.consumers == 1))
        if node.attrs is not None:
            add(_frozen(node.attrs))
        at[node] = len(at)
    for node in sorted(portion.asked, key=serial):
        number = at.get(node)
        if number is None:
            number = at[node] = len(at)
            _describe_ground(node, add)
        add(number)
    return key, list(at)


def _describe_ground(node: Node, add: Callable[[object], None]) -> None:
    """A node as one that stands on nothing: a value, or what is computed elsewhere, or a number."""
    add(node.shape)
    add(node.dtype)
    if node.is_done or node.inputs:
        add(None)
        return
    add(node.op)
    attrs: Any = node.attrs
    if node.op is table.IOTA:
        add(dtypes.words(attrs["start"], node.dtype))
        add(dtypes.words(attrs["step"], node.dtype))
    elif node.op is not table.CONSTANT and attrs is not None:
        add(_frozen(attrs))


def _frozen(value: Any) -> Any:  # noqa: ANN401 - plain data
    """Plain data as something to look up."""
    if isinstance(value, dict):
        return tuple([(name, _frozen(value[name])) for name in value])
    if isinstance(value, list):
        return tuple([_frozen(each) for each in value])
    return value


def _task(kept: _Kept, nodes: Sequence[Node]) -> Task:
    number, inputs, base, program, params, has_numbers, is_alias = kept
    if has_numbers:
        params = tuple([_with_numbers(launch, nodes) for launch in program.launches])
    return Task(
        nodes[number],
        [nodes[at] for at in inputs],
        None if base is None else nodes[base],
        program,
        params,
        is_alias,
    )


def _with_numbers(launch: Launch, nodes: Sequence[Node]) -> tuple[int, ...]:
    """A launch's parameters with the numbers of other nodes in them."""
    if not launch.numbers:
        return launch.params
    params = list(launch.params)
    for word, node, dtype in launch.numbers:
        attrs: Any = nodes[node].attrs
        words = dtypes.words(attrs["value"], dtype)
        params[word : word + len(words)] = words
    return tuple(params)


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
