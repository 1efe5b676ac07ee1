"""Where the two halves meet: nodes become steps, programs, launches, and values.

`Evaluator.evaluate` is the whole way, in three movements: schedule and render (pure), compile what
is missing (awaited, side by side), record (enqueued). Only recording touches the stream, and plans
are recorded one after another, in the order in which they were asked for.
"""

from __future__ import annotations

import time
from collections import deque
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, TypeVar

from aiogpu import device
from aiogpu.errors import AioGpuError, DeviceLostError, UsageError
from aiogpu.graph import table
from aiogpu.graph.node import SHOWN
from aiogpu.limits import Limits
from aiogpu.plan import Planner, Queue, output_nbytes, peak_nbytes
from aiogpu.program import FAULTS
from aiogpu.runtime.faults import NBYTES as FAULT_NBYTES
from aiogpu.runtime.pool import Buffer
from aiogpu.runtime.transfer import SLICE_S, HostData, HostTarget, JsTarget
from aiogpu.schedule.fuse import schedule

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence

    from aiogpu.array import Array
    from aiogpu.device import Opener
    from aiogpu.graph.node import Node
    from aiogpu.plan import Task
    from aiogpu.program import Launch
    from aiogpu.runtime.runtime import Runtime
    from aiogpu.runtime.transfer import Reading, Target
    from aiogpu.schedule.step import Step

_Target = TypeVar("_Target", bound="Target")

MAX_DEPTH: Final = 512  # levels of uncomputed nodes; then the stream drains by itself
MAX_UNOPENED: Final = 200_000  # the same before a device is open

EAGER: ContextVar[bool] = ContextVar("aiogpu_eager", default=False)


class Evaluator:
    """Computes nodes on the interpreter's default device."""

    def __init__(self, opener: Opener) -> None:
        self._opener = opener
        self._planner = Planner()

    @property
    def runtime(self) -> Runtime | None:
        """The runtime of the open device, if there is one."""
        current = self._opener.current
        return None if current is None else current.runtime

    async def open(self) -> Runtime:
        """The runtime of the default device; opens it at first use."""
        return (await self._opener.open()).runtime

    def relieve(self, node: Node) -> None:
        """Drain the stream when the graph under ``node`` has grown deep.

        Raises:
            UsageError: No device is open yet and the graph has grown too deep.
        """
        if node.depth <= MAX_DEPTH:
            return
        if self.runtime is not None:
            self.drain([node])
        elif node.depth > MAX_UNOPENED:
            raise UsageError(
                f"{node.op.name}: {node.depth} pending operations: no device is open yet; "
                "await something first"
            )

    async def evaluate(self, nodes: Iterable[Node]) -> Runtime:
        """Enqueue all work that ``nodes`` need. Errors stay with the nodes.

        Raises:
            DeviceError: No device could be opened.
            DeviceLostError: It was lost meanwhile.
            OutOfMemoryError: The memory limit does not allow it: nothing ran, and nothing failed.
        """
        wanted = list(nodes)
        with _pinned(wanted):
            runtime = await self.open()
            async with runtime.lock:
                await self._evaluate(runtime, wanted)
        return runtime

    async def _evaluate(self, runtime: Runtime, nodes: Sequence[Node]) -> None:
        try:
            await self._record(runtime, nodes)
        except DeviceLostError:
            runtime.stream.is_lost = runtime.lost_reason is not None
            raise

    async def _record(self, runtime: Runtime, nodes: Sequence[Node]) -> None:
        turn = time.perf_counter()
        with Queue() as planned:
            for task in self._planner.plan(nodes, runtime.limits, fuse=not EAGER.get()):
                planned.add(task)
                if time.perf_counter() - turn > SLICE_S:
                    await runtime.recorder.turn()
                    turn = time.perf_counter()
            task = None  # type: ignore[assignment] # nobody but the queue may hold what is computed
            tasks = planned.tasks
            if runtime.pool.limit is not None:
                runtime.pool.reserve(peak_nbytes(tasks, nodes, runtime.pool.capacity), "evaluate")
            await runtime.pipelines.prepare(
                [launch for each in tasks for launch in each.program.launches]
            )
            while tasks:
                await self._run(runtime, tasks.popleft(), paced=True)
                if time.perf_counter() - turn > SLICE_S:
                    await runtime.recorder.turn()
                    turn = time.perf_counter()
        for node in nodes:
            if isinstance(node.value, HostData):
                try:
                    await self._buffer(runtime, node, paced=True)
                except AioGpuError as error:
                    node.fail(error)

    def drain(self, nodes: Sequence[Node]) -> None:
        """Enqueue all work that ``nodes`` need, at once and without a turn of the event loop."""
        runtime = self.runtime
        assert runtime is not None
        with Queue() as planned:
            for task in self._planner.plan(nodes, runtime.limits, fuse=not EAGER.get()):
                planned.add(task)
            task = None  # type: ignore[assignment] # as in `_record`
            while planned.tasks:
                _finish(self._run(runtime, planned.tasks.popleft(), paced=False))

    async def _run(self, runtime: Runtime, task: Task, *, paced: bool) -> None:
        """Record one task of a queue; afterwards its node has a value or an error."""
        node = task.node
        try:
            if node.is_done:  # another plan was here meanwhile
                return
            runtime.check_alive()
            slots = []
            for source in task.sources:
                value = _on_device(runtime, source)
                if value is None:
                    value = await self._buffer(runtime, source, paced=paced)
                slots.append(value)
            value = _outputs(runtime, task, slots)
            for launch, params in zip(task.program.launches, task.params, strict=True):
                for _ in _record(runtime, launch, params, slots, node):
                    if paced:
                        await runtime.stream.breathe()
            node.resolve(value)
        except AioGpuError as error:
            # An array of a device that was lost before says nothing about this one.
            if isinstance(error, DeviceLostError) and runtime.lost_reason is not None:
                runtime.stream.is_lost = True
            node.fail(error)
        finally:
            task.release()

    async def _buffer(self, runtime: Runtime, node: Node, *, paced: bool) -> Buffer:
        """The buffer of a node that has a value; host data is uploaded at its first use."""
        value = node.value
        if isinstance(value, Buffer) and value.pool is not runtime.pool and value.host is not None:
            value = value.host  # its device was lost
        if isinstance(value, HostData):
            host, transfer = value, runtime.transfer
            if paced:
                value = await transfer.upload_in_chunks(host, "array")
            else:
                value = transfer.upload(host, "array")
            value.host = host if host.is_kept else None
            node.value = value
        assert isinstance(value, Buffer)
        runtime.check_owner(value, node.op.name)
        return value

    async def read(self, nodes: Sequence[Node]) -> list[memoryview]:
        """The bytes of ``nodes``, all of them by one submit as far as they are not long.

        Raises:
            AioGpuError: The first of the nodes' errors.
            DeviceLostError: The device was lost.
        """
        targets = await self._read(nodes, lambda node: HostTarget(node.nbytes))
        return [target.data for target in targets]

    async def read_js(self, nodes: Sequence[Node]) -> list[Any]:
        """The same as JS typed arrays, each on an ArrayBuffer of its own, past Python's memory."""
        recorder = (await self.open()).recorder
        targets = await self._read(nodes, lambda node: JsTarget(recorder, node.nbytes))
        pairs = zip(nodes, targets, strict=True)
        return [recorder.typed_js(target.array, node.dtype.name) for node, target in pairs]

    async def _read(self, nodes: Sequence[Node], make: Callable[[Node], _Target]) -> list[_Target]:
        """Compute and read ``nodes``; memory on the host is made when the device has computed."""
        targets: list[_Target] = []
        with _pinned(nodes):
            runtime, readings = await self._issue_reads(nodes)
            try:
                for node in nodes:
                    targets.append(make(node))
                    await self._settle(runtime, node, readings[0].into(targets[-1]))
                    readings.popleft()
            finally:
                for reading in readings:
                    reading.close()
        await self._check_faults(runtime)
        return targets

    async def _issue_reads(self, nodes: Sequence[Node]) -> tuple[Runtime, deque[Reading]]:
        """Compute ``nodes`` and record reads of them."""
        runtime = await self.open()
        async with runtime.lock:
            await self._evaluate(runtime, nodes)
            for node in nodes:
                self._check(runtime, node)
            buffers = [await self._buffer(runtime, node, paced=True) for node in nodes]
            readings = deque(
                runtime.transfer.begin(buffer, node.nbytes)
                for buffer, node in zip(buffers, nodes, strict=True)
            )
            runtime.stream.flush()
        return runtime, readings

    async def _settle(self, runtime: Runtime, node: Node, reading: Awaitable[None]) -> None:
        try:
            await reading
        except DeviceLostError:
            runtime.stream.is_lost = True
            raise
        except AioGpuError as error:
            node.fail(error)
            self._check(runtime, node)

    async def _check_faults(self, runtime: Runtime) -> None:
        """Raise when a launch before this met data that it could not work with.

        Raises:
            AxisError: An index was out of range.
        """
        if not runtime.faults.is_armed:
            return
        word = HostTarget(FAULT_NBYTES)
        reading = runtime.faults.read(runtime.transfer)
        runtime.stream.flush()
        try:
            await reading.into(word)
        except BaseException:
            runtime.faults.is_armed = True  # not looked at after all
            raise
        runtime.faults.check(word.data)

    def _check(self, runtime: Runtime, node: Node) -> None:
        if isinstance(node.value, Buffer) and node.value.error is not None:
            node.fail(node.value.error)
        if node.error is not None:
            runtime.ledger.seen(node.error)
            raise node.error.again()

    async def finish(self, nodes: Sequence[Node]) -> None:
        """Enqueue all work that ``nodes`` need and raise the first error that is known.

        Raises:
            AioGpuError: The first of the nodes' errors.
        """
        runtime = await self.evaluate(nodes)
        runtime.stream.flush_soon()
        for node in nodes:
            self._check(runtime, node)

    async def synchronize(self) -> None:
        """See `aiogpu.synchronize`."""
        pending = [node for node in SHOWN if not node.is_done]
        runtime = self.runtime
        if runtime is None and not pending:
            return
        try:
            runtime = await self.evaluate(pending)
            runtime.stream.flush()
            await runtime.stream.breathe(0)
        except DeviceLostError:
            if runtime is not None:
                runtime.stream.is_lost = True
            raise
        for node in pending:
            # What stood on a device that was lost before says so when it is awaited; the work of
            # this device is done all the same.
            if not isinstance(node.error, DeviceLostError):
                self._check(runtime, node)
        await self._check_faults(runtime)
        if (error := runtime.ledger.take_unseen()) is not None:
            raise error.again()

    def plan(self, nodes: Sequence[Node]) -> list[Step]:
        """The steps that ``nodes`` would take."""
        limits = self.runtime.limits if self.runtime is not None else Limits()
        return list(schedule(nodes, limits, fuse=not EAGER.get()))


def _on_device(runtime: Runtime, source: Node) -> Any:  # noqa: ANN401 - a buffer, or several
    """The value of ``source`` if it can be bound as it is, else None.

    Raises:
        AioGpuError: What the source failed with.
    """
    if source.error is not None:
        raise source.error
    value = source.value
    if value.__class__ is Buffer:
        return value if value.pool is runtime.pool and value.error is None else None
    return value if value.__class__ is tuple else None


def _outputs(runtime: Runtime, task: Task, slots: list[Any]) -> Any:  # noqa: ANN401 - the same
    """What the task's node will have as its value; appends what the launches bind to ``slots``."""
    node = task.node
    if node.op is table.PICK:
        assert node.attrs is not None
        return slots[0][node.attrs["index"]]
    if task.is_alias:
        slots[0].is_shared = True
        return slots[0]
    pool = runtime.pool
    if task.base is None:
        # A kernel's output may begin with the bytes of an operand, which it changes.
        changed: dict[int, int] = node.attrs.get("changed", {}) if node.attrs else {}
        bases = {at: node.inputs[operand] for at, operand in changed.items()}
        made = [
            _successor(runtime, bases[at], slots[task.inputs.index(bases[at])])
            if at in bases
            else pool.allocate(nbytes, node.op.name)
            for at, nbytes in enumerate(output_nbytes(node))
        ]
    else:
        made = [_successor(runtime, task.base, slots.pop())]
    slots += made
    for nbytes in task.program.temporaries:
        slots.append(pool.allocate(nbytes, node.op.name))
    return made[0] if len(made) == 1 else tuple(made)


def _record(
    runtime: Runtime, launch: Launch, params: tuple[int, ...], slots: list[Buffer], node: Node
) -> Iterable[None]:
    """Record a launch; what comes out of it, one after another, are the submits it filled."""
    if launch.fault_at is None:
        buffers = [slots[at] for at in launch.bindings]
    else:
        faults = runtime.faults
        buffers = [slots[at] if at != FAULTS else faults.buffer() for at in launch.bindings]
        params = faults.arm(launch, params, node.origin)
    return runtime.launch(launch, params, buffers, node.made)


def _successor(runtime: Runtime, base: Node, old: Buffer) -> Buffer:
    """A buffer with the bytes of ``base``, to be changed: its own if nobody else can see it."""
    is_last = base.holders == 0 and base.consumers == 1 and base.readers == 1
    if is_last and not old.is_shared and old.host is None:
        serial = old.serial
        new = runtime.pool.inherit(old)
        runtime.stream.follow(serial, new)
        return new
    new = runtime.pool.allocate(old.nbytes, "store")
    runtime.stream.copy(old, new, -(-old.nbytes // 4) * 4)
    return new


@contextmanager
def _pinned(nodes: Sequence[Node]) -> Iterator[None]:
    """Keep the values of ``nodes`` as they are: no store may take over their memory."""
    for node in nodes:
        node.holders += 1
    try:
        yield
    finally:
        for node in nodes:
            node.holders -= 1


def _finish(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine that does not wait."""
    try:
        coroutine.send(None)
    except StopIteration:
        return
    raise AssertionError("a drain must not wait")


DEFAULT = Evaluator(device.DEFAULT)


async def read_js(arrays: Sequence[Array]) -> list[Any]:
    """The values as JS typed arrays, each on an ArrayBuffer of its own; all by one submit."""
    return await DEFAULT.read_js([x._node for x in arrays])
