"""Launches kept to be repeated: the commands of a whole plan, in which only buffers change.

What is computed on the way keeps its memory, which stays with the recipe: the device runs commands
in order, so that a repetition may overwrite what the one before has left there.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from aiogpu import execute
from aiogpu.gpu import protocol
from aiogpu.graph import table
from aiogpu.plan import output_nbytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aiogpu.graph.node import Node
    from aiogpu.plan import Task
    from aiogpu.program import Launch
    from aiogpu.runtime.pool import Buffer
    from aiogpu.runtime.runtime import Runtime
    from aiogpu.runtime.scopes import Made


class UnrepeatableError(Exception):
    """A launch cannot be repeated blindly: it may fault, is not ours, or must be cut.

    Attributes:
        is_for_now: It is only not known yet whether its shader compiles.
    """

    def __init__(self, *, is_for_now: bool = False) -> None:
        super().__init__()
        self.is_for_now = is_for_now


class Recipe:
    """What computes ``wanted`` nodes from ``given`` ones.

    Buffers that change are named by slots: those given, and then those of the results.

    Attributes:
        runtime: The device whose pipelines and buffers it names.
        budget: How much work one submit could hold when it was made.
    """

    def __init__(
        self,
        runtime: Runtime,
        tasks: Iterable[Task],
        given: Sequence[Node],
        wanted: Sequence[Node],
    ) -> None:
        """Writes the commands down; nothing runs.

        Raises:
            AioGpuError: There is no memory for what is computed on the way.
            UnrepeatableError: A launch cannot be repeated.
        """
        self.runtime = runtime
        self.budget = runtime.stream.budget
        self._words: list[int] = []
        self._patches: list[tuple[int, int]] = []  # where in the words, and the slot
        self._cost = 0
        self._launches = 0
        self._held: dict[Buffer, None] = {}
        self._made: list[tuple[int, str]] = []  # bytes and names of the results that are made
        self._values: dict[Node, tuple[int | Buffer, ...]] = {
            node: (slot,) for slot, node in enumerate(given)
        }
        self._ngiven = len(given)
        self._wanted = {node for node in wanted if node not in self._values}
        tasks = list(tasks)
        for task in reversed(tasks):  # what shows another's memory
            if (task.is_alias or task.node.op is table.PICK) and task.node in self._wanted:
                self._wanted.add(task.inputs[0])
        for task in tasks:
            self._write(task)
        # What is wanted may be given, or may show other memory.
        self._results = [self._bound(node) for node in wanted]
        self._values.clear()
        self._shared = [
            at
            for at, result in enumerate(self._results)
            if not isinstance(result, int)
            or result < self._ngiven
            or self._results.count(result) > 1
        ]
        self._ids = [buffer.id for buffer in self._held]

    def _bound(self, node: Node) -> int | Buffer:
        """The slot that a node is in, or its buffer, which never changes then."""
        found = self._values.get(node)
        if found is None:
            buffer = execute.buffer(self.runtime, node)
            self._held[buffer] = None
            found = self._values[node] = (buffer,)
        return found[0]

    def _write(self, task: Task) -> None:
        node = task.node
        if node.op is table.PICK:
            assert node.attrs is not None
            self._values[node] = (self._values[task.inputs[0]][node.attrs["index"]],)
            return
        if task.is_alias:
            self._values[node] = (self._bound(task.inputs[0]),)
            return
        slots = [self._bound(source) for source in task.inputs]
        made = [self._memory(node, nbytes) for nbytes in output_nbytes(node)]
        changed: dict[int, int] = node.attrs.get("changed", {}) if node.attrs else {}
        for at, operand in changed.items():
            self._copy(self._bound(node.inputs[operand]), made[at], node.inputs[operand])
        if task.base is not None:
            self._copy(self._bound(task.base), made[0], task.base)
        self._values[node] = tuple(made)
        slots += made
        slots += [self._temporary(nbytes, node) for nbytes in task.program.temporaries]
        for launch, params in zip(task.program.launches, task.params, strict=True):
            self._dispatch(launch, params, slots)

    def _memory(self, node: Node, nbytes: int) -> int | Buffer:
        if node in self._wanted:
            self._made.append((nbytes, node.op.name))
            return self._ngiven + len(self._made) - 1
        return self._temporary(nbytes, node)

    def _temporary(self, nbytes: int, node: Node) -> Buffer:
        buffer = self.runtime.pool.allocate(nbytes, node.op.name)
        self._held[buffer] = None
        return buffer

    def _copy(self, source: int | Buffer, target: int | Buffer, node: Node) -> None:
        self._words.append(protocol.COPY)
        for slot in (source, target):
            self._name(slot)
            self._words.append(0)
        self._words.append(-(-node.nbytes // 4) * 4)

    def _name(self, slot: int | Buffer) -> None:
        if isinstance(slot, int):
            self._patches.append((len(self._words), slot))
            self._words.append(0)
        else:
            self._words.append(slot.id)

    def _dispatch(
        self, launch: Launch, params: tuple[int, ...], slots: Sequence[int | Buffer]
    ) -> None:
        stream = self.runtime.stream
        can = launch.is_checked and launch.fault_at is None and stream.has_room(launch)
        if not can or not isinstance(launch.groups, int):
            raise UnrepeatableError
        if launch.origin is not None and not self.runtime.pipelines.has(launch):
            raise UnrepeatableError(is_for_now=True)
        pipeline = self.runtime.pipelines.now(launch)
        if pipeline in self.runtime.pipelines.untried:
            raise UnrepeatableError(is_for_now=True)
        count = len(launch.bindings) + protocol.SIZED * bool(launch.sizes)
        self._words += (protocol.DISPATCH, pipeline, launch.groups, 1, 1, count)
        for at in launch.bindings:
            self._name(slots[at])
        self._words += (*launch.sizes, len(params), *params)
        self._cost += launch.cost * launch.groups
        self._launches += 1

    def repeat(self, given: Sequence[Buffer], made: Made) -> list[Buffer]:
        """Record the commands once more.

        Args:
            given: The buffers of the given nodes.
            made: Where in the user's code.

        Returns:
            The buffers of the wanted nodes.

        Raises:
            OutOfMemoryError: The memory limit does not allow the results.
        """
        pool = self.runtime.pool
        slots = [*given, *[pool.allocate(nbytes, name) for nbytes, name in self._made]]
        words = self._words.copy()
        for at, slot in self._patches:
            words[at] = slots[slot].id
        new = slots[self._ngiven :]
        work = (
            "compile",
            made,
            0,
            tuple([buffer.serial for buffer in slots[: self._ngiven]]),
            tuple([weakref.ref(buffer) for buffer in new]),
            tuple([buffer.serial for buffer in new]),
        )
        ids = [buffer.id for buffer in slots] + self._ids
        self.runtime.stream.repeat(words, ids, work, self._launches, self._cost)
        results = [slots[each] if isinstance(each, int) else each for each in self._results]
        for at in self._shared:
            results[at].is_shared = True
        return results
