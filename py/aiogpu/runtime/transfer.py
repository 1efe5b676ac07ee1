"""Bytes in and out: host data on its way to a buffer, reads on their way to the host."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Any, Final, Protocol

from aiogpu.gpu.protocol import FAILED

if TYPE_CHECKING:
    from aiogpu.gpu.protocol import Recorder
    from aiogpu.runtime.counters import Counters
    from aiogpu.runtime.pool import Buffer, Pool
    from aiogpu.runtime.stream import Stream

# One writeBuffer of 256 MB blocked the thread for 0.8 s, one of 1 MB up to 28 ms.
CHUNK_NBYTES: Final = 512 << 10
SLICE_S: Final = 0.008  # of one task between two turns of the event loop
READ_NBYTES: Final = 8 << 20  # bytes of one chunk of a read
READS_IN_FLIGHT: Final = 2  # chunks of one read


class HostData:
    """A private copy of an array's bytes, in C order, not yet on a device.

    Attributes:
        data: Something with the buffer protocol, or a JS typed array.
        nbytes: Its size in bytes.
        is_kept: It outlives its upload, so that the array survives the loss of its device.
    """

    __slots__ = ("data", "is_kept", "nbytes")

    def __init__(self, data: Any, nbytes: int) -> None:  # noqa: ANN401 - host memory or a JS array
        self.data = data
        self.nbytes = nbytes
        self.is_kept = False


class Transfer:
    """Uploads and reads of one device."""

    def __init__(self, recorder: Recorder, pool: Pool, stream: Stream, counters: Counters) -> None:
        self._recorder = recorder
        self._pool = pool
        self._stream = stream
        self._counters = counters

    def upload(self, host: HostData, operation: str) -> Buffer:
        """Copy host data to a buffer of its own, in one go."""
        buffer = self._target(host, operation)
        self._recorder.write(buffer.id, 0, host.data, 0, host.nbytes)
        return buffer

    async def upload_in_chunks(self, host: HostData, operation: str) -> Buffer:
        """The same, with a turn of the event loop between chunks."""
        buffer = self._target(host, operation)
        turn = time.perf_counter()
        for start in range(0, host.nbytes, CHUNK_NBYTES):
            if time.perf_counter() - turn > SLICE_S:
                await self._recorder.turn()
                turn = time.perf_counter()
            # The buffer is new to everybody, so no recorded work can use it by now.
            self._recorder.write(
                buffer.id, start, host.data, start, min(CHUNK_NBYTES, host.nbytes - start)
            )
        return buffer

    def _target(self, host: HostData, operation: str) -> Buffer:
        buffer = self._pool.allocate(host.nbytes, operation)
        if buffer.id in self._stream.touched:
            # writeBuffer overtakes what is not submitted yet, which may read the old bytes.
            self._stream.flush()
        self._counters.uploads += 1
        return buffer

    def begin(self, source: Buffer, nbytes: int) -> Reading:
        """Record the first reads of ``nbytes`` bytes; they go out with the next flush."""
        self._counters.reads += 1
        return self.look(source, nbytes)

    def look(self, source: Buffer, nbytes: int) -> Reading:
        """The same for bytes that nobody asked for by themselves: not counted."""
        reading = Reading(self, source, nbytes)
        reading.extend()
        return reading

    async def settle(self, read: int, source: Buffer) -> None:
        """Resolve when the bytes of a read are there and are known to be good.

        Raises:
            AioGpuError: The work that made them failed.
            DeviceLostError: The device was lost.
        """
        while True:
            if source.error is not None:  # then the read may not have gone out at all
                raise source.error
            self._counters.proxies += 1
            try:
                status = await self._recorder.wait(read)
            finally:
                self._counters.proxies -= 1
            self._stream.note(status)
            if source.error is None and not status & FAILED:
                return

    def release(self, read: int) -> None:
        """Give back what a read holds on the device, finished or not."""
        self._recorder.release(read)


class Reading:
    """A read under way: chunk by chunk, so that work issued later need not wait for all of it.

    Two chunks are in flight at a time: the device copies one while the other is fetched.
    """

    __slots__ = ("_at", "_chunks", "_nbytes", "_source", "_transfer")

    def __init__(self, transfer: Transfer, source: Buffer, nbytes: int) -> None:
        self._transfer = transfer
        self._source = source
        self._nbytes = nbytes
        self._at = 0
        self._chunks: deque[tuple[int, int, int]] = deque()  # read, offset, bytes

    def extend(self) -> None:
        """Record reads of the next chunks."""
        while self._at < self._nbytes and len(self._chunks) < READS_IN_FLIGHT:
            size = min(READ_NBYTES, self._nbytes - self._at)
            read = self._transfer._stream.read(self._source, -(-size // 4) * 4, self._at)
            self._chunks.append((read, self._at, size))
            self._at += size

    async def into(self, target: Target) -> None:
        """Resolve when all bytes are in ``target``. Cancelling gives back what the read holds.

        Raises:
            AioGpuError: The work that made them failed.
            DeviceLostError: The device was lost.
        """
        transfer = self._transfer
        try:
            while self._chunks:
                read, offset, size = self._chunks[0]
                await transfer.settle(read, self._source)
                target.take(transfer._recorder, read, offset, size)
                self._chunks.popleft()
                transfer.release(read)
                if self._at < self._nbytes:
                    self.extend()
                    transfer._stream.flush()
        finally:
            self.close()

    def close(self) -> None:
        """Give back what the read still holds."""
        while self._chunks:
            self._transfer.release(self._chunks.popleft()[0])


class Target(Protocol):
    """Where the bytes of a read go."""

    def take(self, recorder: Recorder, read: int, offset: int, nbytes: int) -> None:
        """Copy the bytes of a settled read to ``offset``."""


class HostTarget:
    """Host memory."""

    def __init__(self, nbytes: int) -> None:
        self._padded = memoryview(bytearray(-(-nbytes // 4) * 4))
        self.data = self._padded[:nbytes]

    def take(self, recorder: Recorder, read: int, offset: int, nbytes: int) -> None:
        """Copy the bytes of a settled read to ``offset``."""
        recorder.fetch_into(read, self._padded[offset : offset + -(-nbytes // 4) * 4])


class JsTarget:
    """A JavaScript ArrayBuffer of its own."""

    def __init__(self, recorder: Recorder, nbytes: int) -> None:
        self.array = recorder.new_js(nbytes)

    def take(self, recorder: Recorder, read: int, offset: int, nbytes: int) -> None:
        """Copy the bytes of a settled read to ``offset``."""
        recorder.fetch_into_js(read, self.array, offset, nbytes)
