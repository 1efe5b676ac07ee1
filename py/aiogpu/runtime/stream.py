"""The stream: commands in the order of their issue, many to a submit.

Commands collect as plain integers; nothing crosses into JavaScript before `flush`. A batch is
submitted when it is `full` (by number, or by the work in it, so that no submit holds the GPU for
long), before a read, and around every launch whose shader we did not write: one invalid dispatch
voids its whole submit.
"""

from __future__ import annotations

import asyncio
import weakref
from array import array
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from aiogpu.gpu import protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from aiogpu.gpu.protocol import Recorder
    from aiogpu.limits import Limits
    from aiogpu.program import Launch
    from aiogpu.runtime.counters import Counters
    from aiogpu.runtime.pool import Buffer
    from aiogpu.runtime.scopes import Ledger, Made

MAX_DISPATCHES: Final = 64
# Scalar operations in one submit, and submits in flight. SwiftShader on two cores does some 2e8
# operations a second, an H200 above 3e13: some milliseconds each. "interactive" leaves the
# compositor, which shares the GPU, its turns.
BUDGETS: Final = {
    ("throughput", False): (1 << 39, 8),
    ("interactive", False): (1 << 34, 2),
    ("throughput", True): (1 << 22, 4),
    ("interactive", True): (1 << 20, 2),
}


class Piece(NamedTuple):
    """One dispatch of a launch: its first workgroup (None if it is not linear), grid and cost."""

    first: int | None
    grid: tuple[int, int, int]
    cost: int


class Stream:
    """The open batch, and what is known of those before.

    Attributes:
        unfinished: Submits that are not known to be finished, as of the last call to the device.
        window: Most of them that may be in flight before new work waits.
        is_lost: The device said that it is lost.
        touched: Numbers of the buffers that the open batch uses.
        ledger: Where errors are put on values.
        serial: How many submits went out.
    """

    def __init__(
        self, recorder: Recorder, limits: Limits, counters: Counters, ledger: Ledger
    ) -> None:
        self._recorder = recorder
        self._limits = limits
        self._counters = counters
        self.ledger = ledger
        self._words: list[int] = []
        self._works: list[tuple[Any, ...]] = []
        self._dispatches = 0
        self._cost = 0
        self.serial = 0
        self._next_read = 0
        self.touched: set[int] = set()
        self._is_scheduled = False
        self.unfinished = 0
        self.is_lost = False
        self.set_pace("throughput")

    def set_pace(self, pace: str) -> None:
        """Choose how much work one submit may hold, and how many may be in flight."""
        self._budget, self.window = BUDGETS[pace, self._limits.is_fallback]

    @property
    def is_full(self) -> bool:
        """Whether the open batch should be submitted."""
        return self._dispatches >= MAX_DISPATCHES or self._cost >= self._budget

    @property
    def budget(self) -> int:
        """How much work one submit may hold."""
        return self._budget

    @property
    def is_open(self) -> bool:
        """Whether new work need not wait."""
        return self.unfinished <= self.window

    def has_room(self, launch: Launch) -> bool:
        """Whether a linear launch need not be cut."""
        groups = launch.groups
        return (
            isinstance(groups, int)
            and groups * launch.cost * 4 <= self._budget
            and groups <= self._limits.max_groups
        )

    def pieces(self, launch: Launch) -> Iterator[Piece]:
        """The dispatches that a launch is cut into."""
        if not isinstance(launch.groups, int):
            x, y, z = launch.groups
            yield Piece(None, launch.groups, launch.cost * x * y * z)
            return
        # A quarter of a submit each: a submit overshoots by no more, and four share its crossings.
        most = max(1, self._budget // (4 * max(launch.cost, 1)))
        most = min(most, self._limits.max_groups**2)
        if most > self._limits.max_groups:  # in whole rows: a piece has no workgroup of the next
            most -= most % self._limits.max_groups
        for first in range(0, launch.groups, most):
            count = min(most, launch.groups - first)
            rows = -(-count // self._limits.max_groups)
            yield Piece(first, (-(-count // rows), rows, 1), launch.cost * count)

    def dispatch(
        self,
        pipeline: int,
        launch: Launch,
        params: tuple[int, ...],
        buffers: Sequence[Buffer],
        piece: Piece | None,
        made: Made,
    ) -> None:
        """Record a piece of a launch, or the whole of one that `has_room`."""
        if piece is None:
            grid: tuple[int, ...] = (launch.groups, 1, 1)  # type: ignore[assignment]
            self._cost += launch.cost * launch.groups  # type: ignore[operator]
        else:
            grid = piece.grid
            self._cost += piece.cost
            if piece.first is not None:
                params = (piece.first, *params[1:])
        ids = [buffer.id for buffer in buffers]
        count = len(ids) + protocol.SIZED * bool(launch.sizes)
        self._words += (
            protocol.DISPATCH, pipeline, *grid, count, *ids, *launch.sizes, len(params), *params,
        )  # fmt: skip
        written = buffers[-1:]
        if launch.writes != 1 << (len(ids) - 1):
            written = [each for at, each in enumerate(buffers) if launch.writes >> at & 1]
        self._work(launch.label, made, pipeline, buffers, written)
        self.touched.update(ids)
        self._dispatches += 1
        self._counters.dispatches += 1

    def repeat(
        self,
        words: list[int],
        ids: Iterable[int],
        work: tuple[Any, ...],
        ndispatches: int,
        cost: int,
    ) -> None:
        """Record commands that were written before.

        Args:
            words: The commands.
            ids: Numbers of the buffers that they use.
            work: Who is to blame: the fields of a `aiogpu.runtime.scopes.Work`.
            ndispatches: How many dispatches they are.
            cost: Of all of them.
        """
        self._words += words
        self._works.append(work)
        self.touched.update(ids)
        self._dispatches += ndispatches
        self._cost += cost
        self._counters.dispatches += ndispatches
        if self.is_full:
            self.flush()

    def follow(self, older: int, newer: Buffer) -> None:
        """Note that a version stands on the bytes of an older one, given by its serial."""
        self._works.append(("store", None, 0, (older,), (weakref.ref(newer),), (newer.serial,)))

    def copy(
        self,
        source: Buffer,
        target: Buffer,
        nbytes: int,
        source_offset: int = 0,
        target_offset: int = 0,
    ) -> None:
        """Record a copy between buffers; sizes and offsets in bytes, multiples of 4."""
        self._words += (protocol.COPY, source.id, source_offset, target.id, target_offset, nbytes)
        self._work("copy", None, 0, [source], [target])
        self.touched.update((source.id, target.id))

    def read(self, source: Buffer, nbytes: int, offset: int = 0) -> int:
        """Record a read; the number under which the device has it after the next flush."""
        self.touched.add(source.id)
        self._next_read += 1
        self._words += (protocol.READ, self._next_read, source.id, offset, nbytes)
        return self._next_read

    def draw(self, surface: int, source: Buffer, width: int, height: int, form: int) -> None:
        """Record the drawing of a buffer to a canvas."""
        self._words += (protocol.DRAW, surface, source.id, width, height, form)
        self.touched.add(source.id)

    def _work(
        self,
        label: str,
        made: Made,
        pipeline: int,
        reads: Sequence[Buffer],
        written: Sequence[Buffer],
    ) -> None:
        # Only a failure looks at it, so it is put together when that comes.
        self._works.append(
            (
                label,
                made,
                pipeline,
                tuple([buffer.serial for buffer in reads]),
                tuple([weakref.ref(buffer) for buffer in written]),
                tuple([buffer.serial for buffer in written]),
            )
        )

    def flush(self) -> None:
        """Submit the open batch, if there is anything in it."""
        if not self._words:
            return
        words, self._words = array("I", self._words), []
        works, self._works = self._works, []
        self._dispatches = self._cost = 0
        self.touched = set()
        self.serial += 1
        self.ledger.submitted(self.serial, works)
        self._counters.submits += 1
        self.note(self._recorder.submit(words))

    def flush_soon(self) -> None:
        """Submit at once if the device has nothing to do, else when the event loop has its turn.

        A submit costs some 0.2 ms of the thread; while the device is busy, what is evaluated piece
        by piece shares one.
        """
        if self.unfinished == 0:
            self.flush()
        elif not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._flush_now)

    def _flush_now(self) -> None:
        self._is_scheduled = False
        self.flush()

    def note(self, status: int) -> None:
        """Take in a status of the device."""
        self.unfinished = status & protocol.UNFINISHED
        if status & protocol.LOST:
            self.is_lost = True
        if status & protocol.FAILED:
            self.ledger.blame(self._recorder.failures())
        self.ledger.confirm(self.serial - self.unfinished)

    async def breathe(self, most: int | None = None) -> None:
        """Resolve once no more submits are unfinished than the window, or ``most``, allows."""
        most = self.window if most is None else most
        if self.unfinished > most or most == 0:
            self.note(await self._recorder.drain(most))
