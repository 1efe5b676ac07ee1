"""What the run half asks of WebGPU. `browser` does it; `recording` writes it down.

Buffers, pipelines, reads and surfaces are numbers that the caller chooses. Sizes and offsets are
bytes. Commands are 32-bit words, laid out as `recorder.js` says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from array import array

    from aiogpu.limits import Limits
    from aiogpu.program import Launch

DISPATCH: Final = 1
SIZED: Final = 1 << 16  # flag in a dispatch's number of buffers: their sizes follow them
COPY: Final = 2
READ: Final = 3
DRAW: Final = 4

FAILED: Final = 1 << 16  # flag in a status: `failures` has something to say
LOST: Final = 1 << 17  # flag in a status: the device is lost
UNFINISHED: Final = FAILED - 1  # mask in a status: submits not known to be finished


class Failure:
    """One GPU error, as the device reported it.

    Attributes:
        kind: ``buffer``, ``write``, ``pipeline``, ``submit``, ``draw`` or ``uncaptured``.
        id: The number of the buffer, pipeline, submit (from 1) or surface.
        type: The class of the GPUError.
        message: The browser's text.
    """

    __slots__ = ("id", "kind", "message", "type")

    def __init__(self, kind: str, id: int, type: str, message: str) -> None:  # noqa: A002 - the wire's names
        self.kind = kind
        self.id = id
        self.type = type
        self.message = message


class Recorder(Protocol):
    """One device. Everything is enqueued; only what is ``async`` waits."""

    crossings: int  # calls into JavaScript

    def create_buffer(self, buffer: int, nbytes: int) -> None:
        """Make a storage buffer; errors arrive as failures of kind ``buffer``."""

    def destroy_buffer(self, buffer: int) -> None:
        """Give a buffer's memory back once the work that uses it is done."""

    def write(self, buffer: int, offset: int, data: Any, start: int, nbytes: int) -> None:  # noqa: ANN401 - host memory or a JS array
        """Copy bytes into a buffer, after all submitted and before all later work."""

    async def compile(self, pipeline: int, launch: Launch) -> str:
        """Compile a launch's pipeline. Gives "" or what the compiler said."""

    def compile_now(self, pipeline: int, launch: Launch) -> None:
        """The same without waiting; errors arrive as failures of kind ``pipeline``."""

    def submit(self, words: array[int]) -> int:
        """Encode and submit commands as one submit. Gives the status."""

    async def wait(self, read: int) -> int:
        """Resolve when the bytes of a READ are there, or something failed. Gives the status."""

    def fetch_into(self, read: int, target: memoryview) -> None:
        """Copy a finished read's bytes to host memory."""

    def new_js(self, nbytes: int) -> Any:  # noqa: ANN401 - a JS Uint8Array
        """A new JS array of bytes."""

    def fetch_into_js(self, read: int, target: Any, offset: int, nbytes: int) -> None:  # noqa: ANN401 - a JS Uint8Array
        """Copy the first bytes of a finished read to ``offset`` in a JS array."""

    def typed_js(self, target: Any, dtype: str) -> Any:  # noqa: ANN401 - a JS typed array
        """The bytes of a JS array as the typed array of a dtype."""

    def release(self, read: int) -> None:
        """Give a read's staging buffer back, finished or not."""

    async def turn(self) -> None:
        """Give the event loop a turn, timers included."""

    async def drain(self, most: int) -> int:
        """Resolve when at most ``most`` submits are unfinished. Gives the status."""

    def failures(self) -> list[Failure]:
        """What failed since the last call."""

    def attach(self, surface: int, canvas: Any) -> str:  # noqa: ANN401 - a JS canvas
        """Take a canvas for drawing. Gives "" or why not."""

    def lost_reason(self) -> str | None:
        """Why the device was lost, or None."""

    def destroy(self) -> None:
        """Destroy the device."""


class AdapterInfo(Protocol):
    """What an adapter says of itself."""

    @property
    def vendor(self) -> str:
        """Such as ``nvidia``; empty where the browser hides it."""

    @property
    def architecture(self) -> str:
        """Such as ``hopper``."""

    @property
    def description(self) -> str:
        """Free text."""

    @property
    def is_fallback(self) -> bool:
        """Whether it is software."""

    @property
    def features(self) -> frozenset[str]:
        """Names of WebGPU features."""

    @property
    def limits(self) -> dict[str, int]:
        """WebGPU limits by name."""


class Host(Protocol):
    """The surroundings: where devices come from."""

    def environment(self) -> dict[str, Any]:
        """What was found here; see `aiogpu.environment`."""

    async def request_adapter(self, power_preference: str | None) -> tuple[AdapterInfo, Any]:
        """An adapter's data, and the host's own object for it."""

    async def request_device(
        self,
        adapter: Any,  # noqa: ANN401 - the host's object
        features: list[str],
        limits: dict[str, int],
    ) -> tuple[Recorder, Limits, Any]:
        """A device, its limits, and the host's own object for it."""

    async def adopt_device(self, device: Any) -> tuple[Recorder, Limits, AdapterInfo]:  # noqa: ANN401 - a GPUDevice
        """A recorder on a GPUDevice that somebody else opened."""
