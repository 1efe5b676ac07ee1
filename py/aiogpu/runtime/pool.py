"""The one buffer table: device memory by size class, reused as soon as nobody holds it.

A buffer may be reused at once, although recorded work still reads it: the device runs commands in
order. Only uploads overtake recorded work; see `aiogpu.runtime.transfer`.
"""

from __future__ import annotations

import weakref
from collections import deque
from typing import TYPE_CHECKING

from aiogpu.errors import LimitError, OutOfMemoryError

if TYPE_CHECKING:
    from aiogpu.errors import AioGpuError
    from aiogpu.gpu.protocol import Recorder
    from aiogpu.limits import Limits
    from aiogpu.runtime.counters import Counters

MIN_NBYTES = 256
KEEP_NBYTES = 256 << 20  # unused memory that is kept for reuse


class Buffer:
    """Some device memory, and whose bytes it holds: one object for each version.

    Attributes:
        id: Number of the device buffer; another version may have it later.
        serial: Number of this version; never used again.
        nbytes: Bytes asked for.
        capacity: Bytes of the device buffer.
        error: Why the bytes are not what they should be.
        host: The same bytes on the host, where they are kept.
        is_shared: More than one value lies in it, or has lain.
    """

    __slots__ = (
        "__weakref__",
        "_pool",
        "capacity",
        "error",
        "host",
        "id",
        "is_shared",
        "nbytes",
        "serial",
    )

    def __init__(self, pool: Pool, number: int, serial: int, nbytes: int, capacity: int) -> None:
        self._pool = pool
        self.id = number
        self.serial = serial
        self.nbytes = nbytes
        self.capacity = capacity
        self.error: AioGpuError | None = None
        self.host: object = None
        self.is_shared = False

    @property
    def pool(self) -> Pool:
        """The table that it belongs to."""
        return self._pool

    def __del__(self) -> None:
        # A finaliser may run anywhere: it only leaves a note. An inherited buffer has no id.
        if self.id:
            self._pool.dead.append((self.id, self.nbytes, self.capacity))


class Pool:
    """Allocates buffers of one device.

    Attributes:
        limit: Most bytes that may be in use; None for no limit but the device's own.
        dead: Buffers that nobody holds any more, not yet taken back.
    """

    def __init__(
        self, recorder: Recorder, limits: Limits, counters: Counters, limit: int | None
    ) -> None:
        self._recorder = recorder
        self._limits = limits
        self._counters = counters
        self.limit = limit
        self.dead: deque[tuple[int, int, int]] = deque()
        self._free: dict[int, list[int]] = {}
        self._free_nbytes = 0
        self._current: dict[int, weakref.ref[Buffer]] = {}
        self._next_id = 0
        self._next_serial = 0
        self._in_use = 0
        self._asked = 0
        self._reserved = 0
        self._peak = 0
        self._count = 0

    def allocate(self, nbytes: int, operation: str) -> Buffer:
        """Memory for ``nbytes``; its content is undefined.

        Raises:
            LimitError: More than one buffer or binding of this device may have.
            OutOfMemoryError: The memory limit does not allow it, with unused memory given back.
        """
        self.collect()
        allowed = self.check_size(nbytes, operation)
        capacity = min(_size_class(nbytes), allowed & ~3)
        free = self._free.get(capacity)
        if self.limit is not None and self._in_use + capacity > self.limit:
            raise OutOfMemoryError(
                f"{operation}: {nbytes} bytes: {self._in_use} of memory_limit {self.limit} in use"
            )
        if free:
            number = free.pop()
            self._free_nbytes -= capacity
        else:
            if self.limit is not None and self._reserved + capacity > self.limit:
                self.trim(0)
            number = self._next_id = self._next_id + 1
            self._recorder.create_buffer(number, capacity)
            self._counters.buffers += 1
            self._reserved += capacity
            self._count += 1
        self._in_use += capacity
        self._asked += nbytes
        self._peak = max(self._peak, self._in_use)
        self._next_serial += 1
        buffer = Buffer(self, number, self._next_serial, nbytes, capacity)
        self._current[number] = weakref.ref(buffer)
        return buffer

    def capacity(self, nbytes: int) -> int:
        """The memory that ``nbytes`` take."""
        most = min(self._limits.max_buffer_nbytes, self._limits.max_binding_nbytes) & ~3
        return max(nbytes, min(_size_class(nbytes), most))

    def reserve(self, nbytes: int, operation: str) -> None:
        """Raise OutOfMemoryError unless the memory limit allows ``nbytes`` more than now."""
        self.collect()
        if self.limit is not None and self._in_use + nbytes > self.limit:
            raise OutOfMemoryError(
                f"{operation}: {nbytes} bytes at once: {self._in_use} of memory_limit "
                f"{self.limit} in use"
            )

    def check_size(self, nbytes: int, operation: str) -> int:
        """The most bytes that a buffer can have.

        Raises:
            LimitError: ``nbytes`` is more.
        """
        allowed = min(self._limits.max_buffer_nbytes, self._limits.max_binding_nbytes)
        if nbytes > allowed:
            raise LimitError(
                f"{operation}: {nbytes} bytes: a buffer of this device holds at most {allowed}"
            )
        return allowed

    def inherit(self, buffer: Buffer) -> Buffer:
        """The next version of ``buffer`` in the same memory; the old one can be read no more."""
        self._next_serial += 1
        following = Buffer(self, buffer.id, self._next_serial, buffer.nbytes, buffer.capacity)
        following.error = buffer.error
        self._current[buffer.id] = weakref.ref(following)
        buffer.id = 0
        return following

    @property
    def lost_reason(self) -> str | None:
        """Why the device was lost, or None."""
        return self._recorder.lost_reason()

    def collect(self) -> None:
        """Take back what nobody holds any more."""
        dead = self.dead
        while dead:
            number, nbytes, capacity = dead.popleft()
            self._in_use -= capacity
            self._asked -= nbytes
            self._free.setdefault(capacity, []).append(number)
            self._free_nbytes += capacity
        if self._free_nbytes > max(KEEP_NBYTES, self._in_use):
            self.trim(max(KEEP_NBYTES, self._in_use) // 2)

    def trim(self, keep_nbytes: int) -> None:
        """Give unused memory back, the largest buffers first, until ``keep_nbytes`` are left."""
        for capacity in sorted(self._free, reverse=True):
            numbers = self._free[capacity]
            while numbers and self._free_nbytes > keep_nbytes:
                number = numbers.pop()
                self._recorder.destroy_buffer(number)
                self._current.pop(number, None)
                self._free_nbytes -= capacity
                self._reserved -= capacity
                self._count -= 1

    def holder(self, number: int) -> Buffer | None:
        """The version that now has the device buffer ``number``."""
        reference = self._current.get(number)
        return None if reference is None else reference()

    def memory(self) -> dict[str, int]:
        """Bytes in use, reserved, at the peak, lost to size classes; and the number of buffers."""
        self.collect()
        return {
            "in_use": self._in_use,
            "reserved": self._reserved,
            "peak": self._peak,
            "padding": self._in_use - self._asked,
            "buffers": self._count,
        }


def _size_class(nbytes: int) -> int:
    """``nbytes`` rounded up so that at most an eighth is lost."""
    if nbytes <= MIN_NBYTES:
        return MIN_NBYTES
    step = max(MIN_NBYTES, 1 << (nbytes - 1).bit_length() - 4)
    return -(-nbytes // step) * step
