"""The bridge's door to JavaScript; the only file of the server that imports `js` or `pyodide`."""

import asyncio
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any

import js
from pyodide.ffi import JsBuffer, JsException, JsProxy, create_once_callable, create_proxy, to_js
from pyodide.http import pyfetch

from aiogpu import device, evaluate, surface
from aiogpu.array import Array
from aiogpu.errors import UsageError
from aiogpu.server.interrupts import Interrupts
from aiogpu.server.session import Session

_sessions: list[Session] = []


class PortDoor:
    """A session's way to the page, through a MessagePort."""

    def __init__(self, port: JsProxy, interrupts: Interrupts | None) -> None:
        """Listens only after `open`."""
        self._port = port
        self._interrupts = interrupts
        self._listener: JsProxy | None = None
        self._watched: device.Device | None = None

    def open(self, session: Session) -> None:
        """Hands what arrives, and what has been waiting in the port, to the session."""

        def receive(event: JsProxy) -> None:
            # What is no list, or an empty one, has no text, which the session refuses.
            parts = [*event.data] if js.Array.isArray(event.data) else []
            text, *others = parts or [None]
            session.receive(text, [_received(item) for item in others])

        self._listener = create_proxy(receive)
        # Setting onmessage also starts the port, unlike addEventListener.
        self._port.onmessage = self._listener

    def post(self, text: str, buffers: Sequence[object]) -> None:
        """Sends one message; the buffers are transferred, and never wasm's own memory."""
        transfer = to_js([_to_buffer(item) for item in buffers])
        self._port.postMessage(js.Array.of(text, *transfer), transfer)

    def close(self) -> None:
        """Closes the port and lets its callback go."""
        self._port.onmessage = None
        self._port.close()
        if self._listener is not None:
            self._listener.destroy()

    async def read(self, arrays: Sequence[Array]) -> Sequence[object]:
        """JavaScript typed arrays, each on a buffer of its own, never copied through wasm."""
        data: Sequence[object] = await evaluate.read_js(list(arrays))
        return data

    async def load(self, item: object) -> object:
        """The bytes of a Blob; everything else as it is."""
        if isinstance(item, JsProxy) and _is_a(item, "Blob"):
            return _to_python(await item.arrayBuffer())
        return item

    async def fetch(self, url: str) -> str:
        """The text at a URL.

        Raises:
            OSError: The server says no, or there is none; the message has the URL.
        """
        try:
            response = await pyfetch(url)
        except OSError as error:
            raise OSError(f"{url}: {error}") from error
        if not response.ok:
            raise OSError(f"{url}: HTTP {response.status}")
        text: str = await response.string()
        return text

    def watch(self, lost: Callable[[str, str], None]) -> None:
        """Calls back with reason and message when the GPU that is open now is lost."""
        current = device.DEFAULT.current
        if current is not None and current is not self._watched:
            self._watched = current

            def tell(info: JsProxy) -> None:
                lost(str(info.reason), str(info.message))

            current.gpu_device.lost.then(create_once_callable(tell))

    def interrupted(self, serial: int) -> bool:
        """Whether the interrupt of that count is still to be had; it is gone then."""
        return self._interrupts is not None and self._interrupts.take(serial)

    def attach(self, name: str, canvas: object) -> None:
        """Makes the canvas known to `gpu.canvas`."""
        surface.attach(name, canvas)


class _Shared:
    """Bytes that the page and this worker write at the same time."""

    def __init__(self, array: JsProxy) -> None:
        self._array = array

    def exchange(self, signal: int) -> int:
        """Sets the first, and gives what it was."""
        before: int = js.Atomics.exchange(self._array, 0, signal)
        return before

    def count(self) -> int:
        """The second."""
        count: int = js.Atomics.load(self._array, 1)
        return count


def open_session(port: object, interrupt: object) -> None:
    """Serves the page at the other end of a MessagePort."""
    if not isinstance(port, JsProxy):
        raise UsageError(f"serve: {type(port).__name__}: must be a MessagePort")
    interrupts = None
    if isinstance(interrupt, JsProxy):
        interrupts = Interrupts(_Shared(interrupt))
        signal.signal(signal.SIGINT, interrupts.strike)
    door = PortDoor(port, interrupts)
    # As `python file.py` would have it: the first client's names are those of __main__.
    namespace: dict[str, Any] = {"__name__": "__main__"}
    if not _sessions:
        namespace = vars(sys.modules["__main__"])
    session = Session(door, namespace, asyncio.get_event_loop())
    _sessions.append(session)
    door.open(session)


def _is_a(item: JsProxy, name: str) -> bool:
    """Whether JavaScript made it of a class of that name; a File is a Blob too."""
    made_by = getattr(getattr(item, "constructor", None), "name", None)
    return made_by in ((name, "File") if name == "Blob" else (name,))


def _received(item: object) -> object:
    """What came beside a text; as it is where it is not what it is called."""
    try:
        return _to_python(item)
    except (JsException, AttributeError, TypeError):
        return item


def _to_python(item: object) -> object:
    if not isinstance(item, JsProxy):
        return item
    if _is_a(item, "ImageBitmap"):
        return _pixels(item)
    if not _is_a(item, "ArrayBuffer"):
        return item
    # bytearray and not to_memoryview: arrays made of it are to be writable.
    data = bytearray(item.byteLength)
    if data:
        js.Uint8Array.new(item).assign_to(data)
    return data


def _pixels(bitmap: JsProxy) -> object:
    """RGBA bytes, not premultiplied; drawn here, where it stops no frame of the page's."""
    context = js.OffscreenCanvas.new(bitmap.width, bitmap.height).getContext("2d")
    context.drawImage(bitmap, 0, 0)
    data = context.getImageData(0, 0, bitmap.width, bitmap.height).data
    bitmap.close()
    return _to_python(data.buffer)


def _to_buffer(item: object) -> JsProxy:
    if isinstance(item, JsBuffer):
        buffer: JsProxy = item.buffer
        return buffer
    assert isinstance(item, bytes | memoryview)
    data: JsProxy = js.Uint8Array.new(len(item))
    if len(item):
        data.assign(item)
    return _to_buffer(data)
