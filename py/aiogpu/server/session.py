"""One client's conversation: its names, its running requests, and how it ends.

New, then started (a hello was answered), then closed. Each request is a task of its own; a page
that cancels one, or goes, cancels the task. Pure: the door to JavaScript is `port`, and tests have
a door of their own.
"""

import asyncio
import functools
import importlib.util
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, assert_never

from aiogpu.array import Array
from aiogpu.errors import ProtocolError, VersionError
from aiogpu.server import dispatch, modules, protocol
from aiogpu.server.failure import describe
from aiogpu.server.handles import Handles, PoisonedError
from aiogpu.server.incoming import Incoming
from aiogpu.server.lengths import settle_lengths
from aiogpu.server.reporter import Reporter, current_reporter
from aiogpu.server.streams import Streams
from aiogpu.server.values import Keep, Outgoing

Message: TypeAlias = dict[str, Any]


class Door(Protocol):
    """What a session needs of the world outside Python."""

    def post(self, text: str, buffers: Sequence[object]) -> None:
        """Sends one message; each buffer is bytes-like, or what `read` gave."""

    def close(self) -> None:
        """Listens no more."""

    async def read(self, arrays: Sequence[Array]) -> Sequence[object]:
        """The bytes of arrays on the GPU, in one submit, in the form that `post` takes."""

    async def load(self, item: object) -> object:
        """What came beside a message, as bytes where it has any."""

    async def fetch(self, url: str) -> str:
        """The text at a URL."""

    def watch(self, lost: Callable[[str, str], None]) -> None:
        """Calls back with reason and message when the GPU that is open now is lost."""

    def interrupted(self, serial: int) -> bool:
        """Whether the interrupt of that count is still to be had; it is gone then."""

    def attach(self, name: str, canvas: object) -> None:
        """Makes a canvas of the page's known under a name."""


class Session:
    """Serves one client over one door."""

    def __init__(
        self, door: Door, namespace: dict[str, Any], loop: asyncio.AbstractEventLoop
    ) -> None:
        """Waits for a hello.

        Args:
            door: The way to the page.
            namespace: Global names of what the client runs; they stay from run to run.
            loop: Where its tasks run.
        """
        self._door = door
        self._namespace = namespace
        self._loop = loop
        self._tasks: dict[int, asyncio.Task[None]] = {}
        # Held, since the loop itself holds tasks only weakly.
        self._starting: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[None] | None = None
        self._started = False
        self._marked_only = False
        self._handles = Handles()
        self._streams = Streams()
        self._stopping: set[asyncio.Task[None]] = set()
        # Requests whose values are still to be read, and what the page let go meanwhile: it may
        # dispose an array as soon as it has sent it.
        self._undecoded: set[int] = set()
        self._interrupted: set[int] = set()
        self._freed: list[int] = []
        # Asked once: a later micropip.install must not change the type of a page's arrays.
        self._to_numpy = importlib.util.find_spec("numpy") is not None

    def receive(self, text: object, buffers: Sequence[object]) -> None:
        """Takes one message; never raises for what is in it."""
        try:
            self._take(protocol.parse(text), buffers)
        except ProtocolError as error:
            id_ = protocol.identity(text)
            self._post({"type": "error", "id": id_, "error": describe(error), "handle": None})

    def _take(self, request: protocol.Request, buffers: Sequence[object]) -> None:
        if isinstance(request, protocol.Hello):
            if self._starting is not None:
                raise ProtocolError("hello: was said before")
            self._starting = self._loop.create_task(self._start(request, buffers))
        elif isinstance(request, protocol.Close):
            self._ending = self._ending or self._loop.create_task(self._end())
        elif isinstance(request, protocol.Cancel):
            # An id that is not there has been answered already.
            if request.id in self._tasks:
                self._tasks[request.id].cancel()
        elif isinstance(request, protocol.Interrupt):
            if self._door.interrupted(request.serial):
                # It came before the code that it was meant for had begun.
                self._interrupted |= self._undecoded
        else:
            self._work(request, buffers)

    def _work(
        self,
        request: protocol.Asked | protocol.Op | protocol.Free | protocol.Stop,
        buffers: Sequence[object],
    ) -> None:
        if not self._started or self._ending is not None:
            raise ProtocolError("request: before hello was answered, or after close")
        if isinstance(request, protocol.Op):
            self._handles.apply(request, self._incoming(buffers))
        elif isinstance(request, protocol.Free):
            self._freed += request.handles
            self._sweep()
        elif isinstance(request, protocol.Stop):
            stopping = self._loop.create_task(self._streams.stop(request.stream))
            self._stopping.add(stopping)
            stopping.add_done_callback(self._stopped)
        elif request.id in self._tasks or request.id <= 0:
            raise ProtocolError(f"request {request.id}: that id is in use, or not above zero")
        else:
            self._undecoded.add(request.id)
            task = self._loop.create_task(self._answer(request, buffers))
            self._tasks[request.id] = task
            task.add_done_callback(functools.partial(self._forget, request.id))

    def _incoming(self, buffers: Sequence[object]) -> Incoming:
        return Incoming(buffers, to_numpy=self._to_numpy, find=self._handles.find)

    def _decoded(self, id_: int) -> None:
        self._undecoded.discard(id_)
        self._sweep()

    def _begin(self, id_: int) -> None:
        """Says that a request's values have been read, and that the user's code is next."""
        self._decoded(id_)
        if id_ in self._interrupted:
            raise KeyboardInterrupt

    def _sweep(self) -> None:
        if not self._undecoded and self._freed:
            self._handles.free(self._freed)
            self._freed.clear()

    async def _start(self, hello: protocol.Hello, transferred: Sequence[object]) -> None:
        stage = "version"
        try:
            _check_version(hello.version)
            stage = "canvas"
            _check_positions(hello.canvases, len(transferred))
            for name, position in hello.canvases.items():
                self._door.attach(name, transferred[position])
            self._marked_only = hello.expose == "marked"
            stage = "modules"
            texts = await asyncio.gather(*map(self._door.fetch, hello.modules.values()))
            modules.install(dict(zip(hello.modules, texts, strict=True)))
        # A module may raise anything at all, and the page must not wait for ever.
        except BaseException as error:  # noqa: BLE001
            self._post({"type": "failed", "stage": stage, "error": describe(error)})
        else:
            self._started = True
            self._post({"type": "ready", "version": protocol.VERSION})

    async def _answer(self, request: protocol.Asked, buffers: Sequence[object]) -> None:
        reporter = Reporter(lambda *progress: self._report(request.id, *progress))
        current_reporter.set(reporter)
        try:
            loaded = [await self._door.load(item) for item in buffers]
            value = await self._perform(request, self._incoming(loaded))
            reporter.flush()
            result = getattr(request, "result", "value")
            await self._send(request.id, value, self._handles.keep if result == "handle" else None)
        # SystemExit too: it must reach the page, and not end the loop.
        except BaseException as error:  # noqa: BLE001
            self._fail(request.id, error)
        finally:
            self._decoded(request.id)
            self._interrupted.discard(request.id)
            self._door.watch(self._tell_loss)

    async def _perform(self, request: protocol.Asked, incoming: Incoming) -> object:
        if isinstance(request, protocol.Run | protocol.Call):
            return await dispatch.perform(
                request,
                incoming,
                self._namespace,
                marked_only=self._marked_only,
                decoded=lambda: self._begin(request.id),
            )
        if isinstance(request, protocol.Read):
            return await self._read(request)
        self._begin(request.id)
        if isinstance(request, protocol.Next):
            return await self._streams.next(request.stream)
        if isinstance(request, protocol.Import):
            dispatch.import_module(request.module, marked_only=self._marked_only)
            return None
        if isinstance(request, protocol.Install):
            await dispatch.install(request.packages, marked_only=self._marked_only)
            return None
        assert_never(request)

    async def _read(self, request: protocol.Read) -> object:
        arrays = [self._handles.find(handle) for handle in request.handles]
        self._begin(request.id)
        if request.form == "item":
            return [await array.item() for array in arrays]
        if request.form == "shape":
            for array in arrays:
                await array.evaluate()
            return [{"shape": list(x.shape), "dtype": x.dtype.name} for x in arrays]
        return arrays

    async def _send(self, id_: int, value: object, keep: Keep | None) -> None:
        await settle_lengths(value)
        outgoing = Outgoing(value, keep, self._streams.open)
        if outgoing.pending:
            data = await self._door.read(list(outgoing.pending.values()))
            for position, item in zip(outgoing.pending, data, strict=True):
                outgoing.buffers[position] = item
        self._post({"type": "done", "id": id_, "value": outgoing.tree}, outgoing.buffers)

    def _fail(self, id_: int, error: BaseException) -> None:
        handle = None
        if isinstance(error, PoisonedError):
            handle = error.handle
            error = error.error
        self._post({"type": "error", "id": id_, "error": describe(error), "handle": handle})

    def _forget(self, id_: int, task: asyncio.Task[None]) -> None:
        del self._tasks[id_]
        # It has answered, except when it was cancelled before its first step, or an interrupt came
        # while it did.
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error is not None:
            self._decoded(id_)
            self._fail(id_, error)

    def _stopped(self, task: asyncio.Task[None]) -> None:
        self._stopping.discard(task)
        if not task.cancelled():
            # What a `finally` clause raised: nobody waits for it.
            task.exception()

    async def _end(self) -> None:
        """Cancels what runs and waits for it; the page does not wait for ever."""
        tasks: list[asyncio.Task[None]] = list(self._tasks.values())
        if self._starting is not None and not self._starting.done():
            tasks.append(self._starting)
        for task in tasks:
            task.cancel()
        await _settled(tasks)
        await self._streams.stop_all()
        self._post({"type": "closed"})
        self._door.close()

    def _report(self, id_: int, done: float, total: float | None, message: str) -> None:
        self._post(
            {"type": "progress", "id": id_, "done": done, "total": total, "message": message}
        )

    def _tell_loss(self, reason: str, message: str) -> None:
        self._post({"type": "devicelost", "reason": reason, "message": message})

    def _post(self, message: Message, buffers: Sequence[object] = ()) -> None:
        self._door.post(
            json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":")), buffers
        )


def _check_version(version: str) -> None:
    if version != protocol.VERSION:
        raise VersionError(
            f"connect: client {version}, wheel {protocol.VERSION}: they must be equal"
        )


def _check_positions(canvases: Mapping[str, int], count: int) -> None:
    for name, position in canvases.items():
        if not 0 <= position < count:
            raise ProtocolError(f"hello: canvas {name!r:.80}: {position}: is not there")


async def _settled(tasks: Sequence[asyncio.Task[None]]) -> None:
    if tasks:
        await asyncio.wait(tasks)
