"""A device that computes nothing and writes everything down, for tests without a GPU.

It decodes the same command words as recorder.js, so that tests see dispatches, copies and reads.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiogpu.errors import DeviceLostError
from aiogpu.gpu import protocol
from aiogpu.gpu.protocol import Failure

if TYPE_CHECKING:
    from array import array

    from aiogpu.program import Launch


@dataclass(frozen=True, slots=True)
class Dispatch:
    """A dispatch as it was submitted."""

    label: str
    grid: tuple[int, int, int]
    buffers: tuple[int, ...]
    params: tuple[int, ...]


@dataclass(slots=True)
class RecordingRecorder:
    """A fake of `aiogpu.gpu.protocol.Recorder`.

    Attributes:
        submits: The decoded commands of every submit: `Dispatch`, or a tuple that begins with
            ``copy``, ``read`` or ``draw``.
        launches: Every compiled launch, by pipeline number.
        live: Sizes of the live buffers, by number.
        refuse: Text that a compiler says of shaders that contain ``refuse_marker``.
        bytes_of: What reads give back; zeros where absent.
    """

    submits: list[list[Any]] = field(default_factory=list)
    launches: dict[int, Launch] = field(default_factory=dict)
    live: dict[int, int] = field(default_factory=dict)
    writes: list[tuple[int, int, int]] = field(default_factory=list)
    compiles: int = 0
    refuse_marker: str = "@refuse"
    crossings: int = 0
    lost: str | None = None
    _failed: list[Failure] = field(default_factory=list)
    reads: dict[int, int] = field(default_factory=dict)

    def create_buffer(self, buffer: int, nbytes: int) -> None:
        """Write down a buffer."""
        assert buffer not in self.live
        self.crossings += 1
        self.live[buffer] = nbytes

    def destroy_buffer(self, buffer: int) -> None:
        """Forget a buffer."""
        self.crossings += 1
        del self.live[buffer]

    def write(self, buffer: int, offset: int, data: Any, start: int, nbytes: int) -> None:  # noqa: ANN401, ARG002 - the protocol's
        """Write down an upload."""
        self.crossings += 1
        assert offset + nbytes <= self.live[buffer]
        self.writes.append((buffer, offset, nbytes))

    async def compile(self, pipeline: int, launch: Launch) -> str:
        """Refuse shaders that hold the marker, take all others."""
        self._guard()
        self.crossings += 1
        self.compiles += 1
        self.launches[pipeline] = launch
        return "1:1 refused" if self.refuse_marker in launch.wgsl else ""

    def compile_now(self, pipeline: int, launch: Launch) -> None:
        """The same; a refusal becomes a failure."""
        self.crossings += 1
        self.compiles += 1
        self.launches[pipeline] = launch
        if self.refuse_marker in launch.wgsl:
            self._failed.append(Failure("pipeline", pipeline, "GPUPipelineError", "1:1 refused"))

    def submit(self, words: array[int]) -> int:
        """Decode the commands."""
        self.crossings += 2
        commands: list[Any] = []
        at = 0
        while at < len(words):
            match words[at]:
                case protocol.DISPATCH:
                    pipeline, x, y, z, count = words[at + 1 : at + 6]
                    nbuffers = count % protocol.SIZED
                    buffers = tuple(words[at + 6 : at + 6 + nbuffers])
                    assert all(buffer in self.live for buffer in buffers)
                    first = at + 7 + nbuffers * (1 + count // protocol.SIZED)
                    nparams = words[first - 1]
                    label = self.launches[pipeline].label
                    commands.append(
                        Dispatch(label, (x, y, z), buffers, tuple(words[first : first + nparams]))
                    )
                    at = first + nparams
                case protocol.COPY:
                    commands.append(("copy", *words[at + 1 : at + 6]))
                    at += 6
                case protocol.READ:
                    commands.append(("read", *words[at + 1 : at + 5]))
                    self.reads[words[at + 1]] = words[at + 4]
                    at += 5
                case protocol.DRAW:
                    commands.append(("draw", *words[at + 1 : at + 6]))
                    at += 6
                case unknown:
                    raise AssertionError(f"unknown command {unknown}")
        self.submits.append(commands)
        return self._status()

    async def wait(self, read: int) -> int:  # noqa: ARG002 - the protocol's
        """Resolve at once."""
        self._guard()
        self.crossings += 1
        return self._status()

    def fetch_into(self, read: int, target: memoryview) -> None:
        """Zeros."""
        self.crossings += 2
        assert len(target) == self.reads[read]
        target[:] = bytes(len(target))

    def new_js(self, nbytes: int) -> Any:  # noqa: ANN401 - the protocol's
        """Zeros."""
        self.crossings += 1
        return bytearray(nbytes)

    def fetch_into_js(self, read: int, target: Any, offset: int, nbytes: int) -> None:  # noqa: ANN401 - the protocol's
        """Zeros."""
        self.crossings += 1
        assert read in self.reads
        target[offset : offset + nbytes] = bytes(nbytes)

    def typed_js(self, target: Any, dtype: str) -> Any:  # noqa: ANN401 - the protocol's
        """The bytes, and the dtype's name."""
        self.crossings += 1
        return target, dtype

    def release(self, read: int) -> None:
        """Forget a read."""
        self.crossings += 1
        self.reads.pop(read, None)

    async def turn(self) -> None:
        """Give the event loop a turn."""
        await asyncio.sleep(0)

    async def drain(self, most: int) -> int:  # noqa: ARG002 - the protocol's
        """Resolve at once."""
        self._guard()
        self.crossings += 1
        return self._status()

    def failures(self) -> list[Failure]:
        """What failed since the last call."""
        failed, self._failed = self._failed, []
        return failed

    def fail(self, kind: str, number: int, message: str, error: str = "GPUValidationError") -> None:
        """Make something fail, as the device would report it."""
        self._failed.append(Failure(kind, number, error, message))

    def attach(self, surface: int, canvas: Any) -> str:  # noqa: ANN401, ARG002 - the protocol's
        """Take any canvas."""
        return ""

    def lost_reason(self) -> str | None:
        """What `lose` was told."""
        return self.lost

    def lose(self, reason: str) -> None:
        """Lose the device."""
        self.lost = reason

    def destroy(self) -> None:
        """Lose the device."""
        self.lost = "destroyed"

    def _status(self) -> int:
        return protocol.FAILED * bool(self._failed) + protocol.LOST * (self.lost is not None)

    def _guard(self) -> None:
        if self.lost is not None:
            raise DeviceLostError(f"device lost: {self.lost}")
