"""Bytes in and out: host data on its way to a buffer, reads on their way to the host."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from aiogpu.gpu.protocol import FAILED

if TYPE_CHECKING:
    from aiogpu.gpu.protocol import Recorder
    from aiogpu.runtime.counters import Counters
    from aiogpu.runtime.pool import Buffer, Pool
    from aiogpu.runtime.stream import Stream

CHUNK_NBYTES: Final = 4 << 20  # one writeBuffer of 256 MB blocked the thread for 0.8 s


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
        for start in range(0, host.nbytes, CHUNK_NBYTES):
            if start:
                await asyncio.sleep(0)
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

    async def settle(self, read: int, source: Buffer) -> None:
        """Resolve when the bytes of a read are there and are known to be good.

        Raises:
            AioGpuError: The work that made them failed.
            DeviceLostError: The device was lost.
        """
        while True:
            self._counters.proxies += 1
            try:
                status = await self._recorder.wait(read)
            finally:
                self._counters.proxies -= 1
            had_failed = self._failed(status)
            if source.error is not None:
                raise source.error
            if not had_failed:
                return

    def _failed(self, status: int) -> bool:
        self._stream.note(status)
        return bool(status & FAILED)

    def to_host(self, read: int, nbytes: int) -> memoryview:
        """The bytes of a settled read."""
        data = memoryview(bytearray(-(-nbytes // 4) * 4))
        self._recorder.fetch_into(read, data)
        return data[:nbytes]

    def to_js(self, read: int, nbytes: int, dtype: str) -> Any:  # noqa: ANN401 - a JS typed array
        """The bytes of a settled read as a JS typed array that owns them."""
        return self._recorder.fetch_js(read, nbytes, dtype)

    def release(self, read: int) -> None:
        """Give back what a read holds on the device, finished or not."""
        self._recorder.release(read)
