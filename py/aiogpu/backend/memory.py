"""Allocating, freeing and copying bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiogpu import dtypes, evaluate, hostdata
from aiogpu.backend.handles import Handles, count
from aiogpu.errors import UsageError
from aiogpu.graph import build
from aiogpu.shapes import View

if TYPE_CHECKING:
    from aiogpu.device import Device


class Memory(Handles):
    """Methods 21 to 24."""

    _device: Device

    def alloc(self, nbytes: int) -> int:
        """A new handle for ``nbytes`` bytes of zeros. Handles are never used again.

        Raises:
            UsageError: ``nbytes`` is negative.
            LimitError: It is more than a buffer of this device can have.
        """
        count("alloc", nbytes)
        self._device.runtime.pool.check_size(nbytes, "alloc")
        return self._keep(build.constant(0, dtypes.uint32, (-(-nbytes // 4),)), nbytes)

    def free(self, handle: int) -> None:
        """Drop the handle; who still reads its bytes keeps them.

        Raises:
            HandleError: Unknown, or freed before.
        """
        self._buffer("free", handle).node.release()
        del self._buffers[handle]

    def copy_htod(self, dst: int, data: Any, offset: int = 0) -> None:  # noqa: ANN401 - host data
        """Copy host bytes into ``dst`` from byte ``offset`` on. Recorded work keeps the old bytes.

        Args:
            dst: A handle.
            data: Anything with the buffer protocol, or a JS typed array; taken as it lies.
            offset: In bytes, a multiple of 4; so must be the size, unless it reaches the end.

        Raises:
            HandleError: ``dst`` is unknown or freed.
            UsageError: The bytes do not fit, or are not aligned.
        """
        buffer = self._buffer("copy_htod", dst)
        host = hostdata.capture_bytes(data, "copy_htod")
        words = _words("copy_htod", buffer.nbytes, offset, host.nbytes)
        leaf = build.leaf(host, (words[1],), dtypes.uint32)
        self._store(buffer, leaf, View((words[1],), (1,), words[0]))

    async def copy_dtoh(self, src: int, nbytes: int | None = None, offset: int = 0) -> memoryview:
        """The bytes of ``src``: ``nbytes`` of them, by default all, from byte ``offset`` on.

        Resolves when the work that makes them is done. Cancelling frees what the read holds.

        Raises:
            HandleError: ``src`` is unknown or freed.
            UsageError: The bytes are outside of it, or ``offset`` is not a multiple of 4.
            AioGpuError: The work that makes them failed.
        """
        buffer = self._buffer("copy_dtoh", src)
        wanted = buffer.nbytes - offset if nbytes is None else nbytes
        words = _words("copy_dtoh", buffer.nbytes, offset, wanted, exact=False)
        node = build.view(buffer.node, View((words[1],), (1,), words[0]))
        (data,) = await evaluate.DEFAULT.read([node])
        return data[:wanted]

    def copy_dtod(
        self, dst: int, src: int, nbytes: int, dst_offset: int = 0, src_offset: int = 0
    ) -> None:
        """Copy bytes between handles, which may be the same; sizes and offsets are multiples of 4.

        Raises:
            HandleError: One is unknown or freed.
            UsageError: The bytes are outside of one, or are not aligned.
        """
        target, source = self._buffer("copy_dtod", dst), self._buffer("copy_dtod", src)
        to = _words("copy_dtod", target.nbytes, dst_offset, nbytes)
        start = _words("copy_dtod", source.nbytes, src_offset, nbytes)
        node = build.view(source.node, View((to[1],), (1,), start[0]))
        self._store(target, node, View((to[1],), (1,), to[0]))


def _words(
    name: str, whole: int, offset: int, nbytes: int, *, exact: bool = True
) -> tuple[int, int]:
    """First word and number of words of a range of bytes.

    Raises:
        UsageError: The range is outside of the buffer, or not aligned.
    """
    if offset < 0 or nbytes < 0 or offset + nbytes > whole:
        raise UsageError(f"{name}: bytes {offset} to {offset + nbytes}: the handle has {whole}")
    if offset % 4 or (exact and nbytes % 4 and offset + nbytes != whole):
        raise UsageError(
            f"{name}: bytes {offset} to {offset + nbytes}: offsets and sizes are multiples of 4"
        )
    return offset // 4, -(-nbytes // 4)
