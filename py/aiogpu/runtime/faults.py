"""Faults that only the data show: one word per device that kernels set and reads look at."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from aiogpu.errors import AxisError, UsageError

if TYPE_CHECKING:
    from aiogpu.gpu.protocol import Recorder
    from aiogpu.program import Launch, Origin
    from aiogpu.runtime.pool import Buffer, Pool
    from aiogpu.runtime.stream import Stream
    from aiogpu.runtime.transfer import Reading, Transfer

# The number of a launch; then what a kernel in debug mode says more of the first fault: the number
# of its launch, a line, an index, and the size that it is outside of.
NBYTES: Final = 20


class Faults:
    """The fault word. A launch that can fail sets it to its own number.

    Attributes:
        is_armed: Such a launch was recorded since the word was last looked at.
    """

    def __init__(self, recorder: Recorder, pool: Pool, stream: Stream) -> None:
        self._recorder = recorder
        self._pool = pool
        self._stream = stream
        self._buffer: Buffer | None = None
        # Of each what it is called, what it reports, and the kernel that can say more.
        self._launches: list[tuple[str, str, Origin | None]] = []
        self.is_armed = False

    def arm(self, launch: Launch, params: tuple[int, ...], origin: object) -> tuple[int, ...]:
        """A launch's parameters with the number under which it reports."""
        assert launch.fault_at is not None
        name = f"{launch.label} (line {origin})" if origin else launch.label
        self._launches.append((name, launch.fault, launch.origin))
        self.is_armed = True
        at = launch.fault_at
        return (*params[:at], len(self._launches), *params[at + 1 :])

    def buffer(self) -> Buffer:
        """The word's buffer; 0 at first."""
        if self._buffer is None:
            self._buffer = self._pool.allocate(NBYTES, "faults")
            self._clear()
        return self._buffer

    def _clear(self) -> None:
        assert self._buffer is not None
        self._stream.flush()  # a write overtakes what is not submitted
        self._recorder.write(self._buffer.id, 0, bytes(NBYTES), 0, NBYTES)

    def read(self, transfer: Transfer) -> Reading:
        """Record a read of the word."""
        self.is_armed = False
        return transfer.look(self.buffer(), NBYTES)

    def check(self, data: memoryview) -> None:
        """Raise when the word was set.

        Raises:
            AxisError: A launch met an index out of range.
            UsageError: A launch met a matrix that it could not work with.
        """
        number, detailed, line, index, size = struct.unpack("<IIiiI", data)
        if not number:
            return
        self._clear()
        name, fault, kernel = self._launches[(detailed or number) - 1]
        if detailed and kernel is not None:
            said = f"{kernel.fault(line, index, size)}\n  launched as {name}"
            raise AxisError(said).at(kernel.place(line))
        if fault:
            raise UsageError(f"{name}: {fault}")
        raise AxisError(f"{name}: an index is out of range")
