"""How far a request has got, told to the page that asked."""

import asyncio
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Sized
from contextvars import ContextVar
from typing import Final, TypeVar

from aiogpu import notebook

_Item = TypeVar("_Item")

#: The page is told at most this often: more would only fill its queue of events between two frames.
_INTERVAL_S: Final = 1 / 60


class Reporter:
    """Tells one request's page, not too often, and of the last always."""

    def __init__(self, tell: Callable[[float, float | None, str], None]) -> None:
        """Tells through ``tell(done, total, message)``."""
        self._tell = tell
        self._last = float("-inf")
        self._held_back: tuple[float, float | None, str] | None = None
        self._told_end = False

    def report(self, done: float, total: float | None, message: str) -> None:
        """Tells, unless the page was told just now; the first end is told at once."""
        now = time.monotonic()
        is_first_end = done == total and not self._told_end
        if not is_first_end and now - self._last < _INTERVAL_S:
            self._held_back = (done, total, message)
            return
        self._told_end = self._told_end or is_first_end
        self._last = now
        self._held_back = None
        self._tell(done, total, message)

    def flush(self) -> None:
        """Tells what was held back last: before the request is answered."""
        if self._held_back is not None:
            self._tell(*self._held_back)
            self._held_back = None


class _Cell:
    """The progress bar of the notebook's cell that runs."""

    def __init__(self) -> None:
        self._number: int | None = None
        self._reporter: Reporter | None = None

    def report(self, done: float, total: float | None, message: str) -> None:
        """Tells the cell's bar; makes it first, and another one after its end."""
        number = notebook.cell()
        if number is None:
            return
        if self._reporter is None or number != self._number:
            self._number, self._reporter = number, Reporter(notebook.Bar().tell)
        self._reporter.report(done, total, message)
        if done == total:
            self._reporter = None


_cell: Final = _Cell()

#: Of the request whose task runs; tasks that it starts inherit it.
current_reporter: ContextVar[Reporter | None] = ContextVar("aiogpu_reporter", default=None)


def progress(done: float, total: float | None = None, message: str = "") -> None:
    """Tells the page that asked for this work how far it has got, or shows it in a notebook's cell.

    The page's ``onProgress`` gets it at once, even while Python is busy, but at most 60 times a
    second; the last one always arrives. Does nothing when neither asked.

    Args:
        done: Of the same unit as ``total``.
        total: None when it is not known.
        message: For people to read.
    """
    reporter = current_reporter.get()
    if reporter is not None:
        reporter.report(done, total, message)
    else:
        _cell.report(done, total, message)


async def track(
    items: Iterable[_Item] | AsyncIterable[_Item], *, total: float | None = None, message: str = ""
) -> AsyncIterator[_Item]:
    """The items, with the page told of each: ``async for x in gpu.track(items)``.

    Lets other tasks run between two items now and then, so that the work can also be cancelled.

    Args:
        items: Any iterable, or asynchronous one.
        total: How many there are; ``len(items)`` where it has a length.
        message: For people to read.

    Raises:
        BaseException: Whatever ``items`` raises.
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    done = 0
    turn = time.monotonic()
    progress(0, total, message)
    async for item in _asynchronous(items):
        yield item
        done += 1
        progress(done, total, message)
        if time.monotonic() - turn >= _INTERVAL_S:
            await asyncio.sleep(0)
            turn = time.monotonic()
    if total is None:
        progress(done, done, message)


async def _asynchronous(items: Iterable[_Item] | AsyncIterable[_Item]) -> AsyncIterator[_Item]:
    if isinstance(items, AsyncIterable):
        async for item in items:
            yield item
    else:
        for item in items:
            yield item
