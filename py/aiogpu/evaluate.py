"""Where the two halves meet: nodes become steps, programs, launches, and values.

`Evaluator.evaluate` is the whole way, in three movements: schedule and render (pure), compile what
is missing (awaited, side by side), record (enqueued). Only recording touches the stream, and plans
are recorded one after another, in the order in which they were asked for.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, TypeVar

from aiogpu import device, execute
from aiogpu.errors import AioGpuError, DeviceLostError, UsageError
from aiogpu.graph.node import SHOWN
from aiogpu.limits import Limits
from aiogpu.plan import Planner, Queue, peak_nbytes
from aiogpu.runtime.faults import NBYTES as FAULT_NBYTES
from aiogpu.runtime.pool import Buffer
from aiogpu.runtime.transfer import SLICE_S, HostData, HostTarget, JsTarget
from aiogpu.schedule.fuse import schedule

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from aiogpu.array import Array
    from aiogpu.device import Opener
    from aiogpu.graph.node import Node
    from aiogpu.plan import Task
    from aiogpu.runtime.runtime import Runtime
    from aiogpu.runtime.transfer import Reading, Target
    from aiogpu.schedule.step import Step

_Target = TypeVar("_Target", bound="Target")

MAX_DEPTH: Final = 512  # levels of uncomputed nodes; then the stream drains by itself
MAX_UNOPENED: Final = 200_000  # the same before a device is open

EAGER: ContextVar[bool] = ContextVar("aiogpu_eager", default=False)


class Evaluator:
    """Computes nodes on the interpreter's default device.

    Attributes:
        is_recording: Nodes are being made that stand for others.
    """

    def __init__(self, opener: Opener) -> None:
        self._opener = opener
        self._planner = Planner()
        self.is_recording = False
        self._preparing: set[asyncio.Future[None]] = set()

    @contextmanager
    def only_recording(self) -> Iterator[None]:
        """Nodes that are made within stand for others: none of them may run."""
        self.is_recording = True
        try:
            yield
        finally:
            self.is_recording = False

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
        if node.depth <= MAX_DEPTH or self.is_recording:
            return
        if self.runtime is not None:
            self.drain([node])
        elif node.depth > MAX_UNOPENED:
            raise UsageError(
                f"{node.op.name}: {node.depth} pending operations: no device is open yet; "
                "await something first"
            )

    async def evaluate(self, nodes: Sequence[Node]) -> Runtime:
        """Enqueue all work that ``nodes`` need. Errors stay with the nodes.

        Raises:
            DeviceError: No device could be opened.
            DeviceLostError: It was lost meanwhile.
            OutOfMemoryError: The memory limit does not allow it: nothing ran, and nothing failed.
        """
        if (runtime := self._at_once(nodes)) is not None:
            return runtime
        with _pinned(nodes):
            runtime = await self.open()
            async with runtime.lock:
                await self._evaluate(runtime, nodes)
        return runtime

    def _at_once(self, nodes: Sequence[Node]) -> Runtime | None:
        """As `evaluate`, where nothing is to be waited for and all is known; else None.

        That is the usual case, and passing through the event loop's machinery would cost as much
        as the work itself.
        """
        runtime = self.runtime
        if (
            runtime is None
            or runtime.lock.locked()
            or runtime.pool.limit is not None
            or not runtime.stream.is_open
        ):
            return None
        for node in nodes:
            if node.value.__class__ is HostData:
                return None
        with _pinned(nodes):
            tasks = self._planner.known(nodes, runtime.limits, fuse=not EAGER.get())
            if tasks is None:
                return None
            if not all(execute.is_ready(runtime, task) for task in tasks):
                return None
            self._run_all(runtime, tasks)
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
                await execute.upload_sources(runtime, tasks[0])
                submits = execute.run(runtime, tasks.popleft())
                try:
                    for _ in submits:
                        await runtime.stream.breathe()
                finally:
                    submits.close()
                if time.perf_counter() - turn > SLICE_S:
                    await runtime.recorder.turn()
                    turn = time.perf_counter()
        for node in nodes:
            try:
                await execute.upload(runtime, node)
            except AioGpuError as error:
                node.fail(error)

    def drain(self, nodes: Sequence[Node]) -> None:
        """Enqueue all work that ``nodes`` need, at once and without a turn of the event loop."""
        tasks = self.tasks(nodes)
        assert self.runtime is not None
        self._run_all(self.runtime, tasks)

    def tasks(self, nodes: Sequence[Node]) -> list[Task]:
        """What would be run for ``nodes``."""
        runtime = self.runtime
        assert runtime is not None
        return list(self._planner.plan(nodes, runtime.limits, fuse=not EAGER.get()))

    def prepare(self, tasks: Sequence[Task]) -> None:
        """Compile what tasks need, while other things go on."""
        runtime = self.runtime
        assert runtime is not None
        launches = [launch for task in tasks for launch in task.program.launches]
        preparing = asyncio.ensure_future(runtime.pipelines.prepare(launches))
        self._preparing.add(preparing)
        preparing.add_done_callback(self._prepared)

    def _prepared(self, preparing: asyncio.Future[None]) -> None:
        self._preparing.discard(preparing)
        if not preparing.cancelled():
            preparing.exception()  # whoever uses the pipelines will meet it

    def _run_all(self, runtime: Runtime, tasks: list[Task]) -> None:
        """Run tasks, and take them out of the list: nobody may hold what is computed meanwhile."""
        with Queue() as planned:
            while tasks:
                planned.add(tasks.pop())
            planned.tasks.reverse()
            while planned.tasks:
                for _ in execute.run(runtime, planned.tasks.popleft()):
                    pass

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
        runtime = await self.evaluate(nodes)
        for node in nodes:
            self._check(runtime, node)
        buffers = [execute.buffer(runtime, node) for node in nodes]
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


DEFAULT = Evaluator(device.DEFAULT)


async def read_js(arrays: Sequence[Array]) -> list[Any]:
    """The values as JS typed arrays, each on an ArrayBuffer of its own; all by one submit."""
    return await DEFAULT.read_js([x._node for x in arrays])
