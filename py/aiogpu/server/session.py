"""One client's conversation: its names, its running requests, and how it ends.

New, then started (a hello was answered), then closed. Each request is a task of its own; a page
that cancels one, or goes, cancels the task. Pure: the door to JavaScript is `port`, and tests have
a door of their own.
"""

import asyncio
import functools
import importlib.util
import json
from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

from aiogpu.array import Array
from aiogpu.errors import DeviceLostError, ProtocolError, VersionError
from aiogpu.server import modules, protocol
from aiogpu.server.dispatch import perform
from aiogpu.server.failure import describe
from aiogpu.server.lengths import settle_lengths
from aiogpu.server.reporter import Reporter, current_reporter
from aiogpu.server.values import Outgoing

Message: TypeAlias = dict[str, Any]


class Door(Protocol):
    """What a session needs of the world outside Python."""

    def post(self, text: str, buffers: Sequence[object]) -> None:
        """Sends one message; each buffer is bytes-like, or what `read` gave."""

    def close(self) -> None:
        """Listens no more."""

    async def read(self, arrays: Sequence[Array]) -> Sequence[object]:
        """The bytes of arrays on the GPU, in one submit, in the form that `post` takes."""

    async def fetch(self, url: str) -> str:
        """The text at a URL."""

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
        # Asked once: a later micropip.install must not change the type of a page's arrays.
        self._to_numpy = importlib.util.find_spec("numpy") is not None

    def receive(self, text: object, buffers: Sequence[object]) -> None:
        """Takes one message; never raises for what is in it."""
        try:
            self._take(protocol.parse(text), buffers)
        except ProtocolError as error:
            self._post({"type": "error", "id": protocol.identity(text), "error": describe(error)})

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
        elif not self._started or self._ending is not None:
            raise ProtocolError(f"request {request.id}: before hello was answered, or after close")
        elif request.id in self._tasks:
            raise ProtocolError(f"request {request.id}: that id is in use")
        else:
            task = self._loop.create_task(self._answer(request, buffers))
            self._tasks[request.id] = task
            task.add_done_callback(functools.partial(self._forget, request.id))

    async def _start(self, hello: protocol.Hello, transferred: Sequence[object]) -> None:
        stage = "version"
        try:
            _check_version(hello.version)
            stage = "canvas"
            for name, position in hello.canvases.items():
                self._door.attach(name, transferred[position])
            stage = "modules"
            texts = await asyncio.gather(*map(self._door.fetch, hello.modules.values()))
            modules.install(dict(zip(hello.modules, texts, strict=True)))
        # A module may raise anything at all, and the page must not wait for ever.
        except BaseException as error:  # noqa: BLE001
            self._post({"type": "failed", "stage": stage, "error": describe(error)})
        else:
            self._started = True
            self._post({"type": "ready", "version": protocol.VERSION})

    async def _answer(
        self, request: protocol.Run | protocol.Call, buffers: Sequence[object]
    ) -> None:
        current_reporter.set(Reporter(lambda *progress: self._report(request.id, *progress)))
        try:
            value = await perform(request, buffers, self._namespace, to_numpy=self._to_numpy)
            await settle_lengths(value)
            outgoing = Outgoing(value)
            if outgoing.pending:
                data = await self._door.read(list(outgoing.pending.values()))
                for position, item in zip(outgoing.pending, data, strict=True):
                    outgoing.buffers[position] = item
            self._post({"type": "done", "id": request.id, "value": outgoing.tree}, outgoing.buffers)
        # SystemExit too: it must reach the page, and not end the loop.
        except BaseException as error:  # noqa: BLE001
            self._tell_loss(error)
            self._post({"type": "error", "id": request.id, "error": describe(error)})

    def _forget(self, id_: int, task: asyncio.Task[None]) -> None:
        del self._tasks[id_]
        if task.cancelled():
            # Before its first step: then not a line of it has run, and it has answered nothing.
            error = describe(asyncio.CancelledError())
            self._post({"type": "error", "id": id_, "error": error})

    async def _end(self) -> None:
        """Cancels what runs and waits for it; the page does not wait for ever."""
        tasks: list[asyncio.Task[None]] = list(self._tasks.values())
        if self._starting is not None and not self._starting.done():
            tasks.append(self._starting)
        for task in tasks:
            task.cancel()
        await _settled(tasks)
        self._post({"type": "closed"})
        self._door.close()

    def _report(self, id_: int, done: float, total: float | None, message: str) -> None:
        self._post(
            {"type": "progress", "id": id_, "done": done, "total": total, "message": message}
        )

    def _tell_loss(self, error: BaseException) -> None:
        if isinstance(error, DeviceLostError):
            self._post({"type": "devicelost", "reason": "unknown", "message": str(error)})

    def _post(self, message: Message, buffers: Sequence[object] = ()) -> None:
        self._door.post(
            json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":")), buffers
        )


def _check_version(version: str) -> None:
    if version != protocol.VERSION:
        raise VersionError(
            f"connect: client {version}, wheel {protocol.VERSION}: they must be equal"
        )


async def _settled(tasks: Sequence[asyncio.Task[None]]) -> None:
    if tasks:
        await asyncio.wait(tasks)
