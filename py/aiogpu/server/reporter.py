"""How far a request has got, told to the page that asked."""

import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Final

#: The page is told at most this often: more would only fill its queue of events between two frames.
_INTERVAL_S: Final = 1 / 60


class Reporter:
    """Tells one request's page, not too often."""

    def __init__(self, tell: Callable[[float, float | None, str], None]) -> None:
        """Tells through ``tell(done, total, message)``."""
        self._tell = tell
        self._last = float("-inf")

    def report(self, done: float, total: float | None, message: str) -> None:
        """Tells, unless the page was told just now; the end is always told."""
        now = time.monotonic()
        if done == total or now - self._last >= _INTERVAL_S:
            self._last = now
            self._tell(done, total, message)


#: Of the request whose task runs; tasks that it starts inherit it.
current_reporter: ContextVar[Reporter | None] = ContextVar("aiogpu_reporter", default=None)


def progress(done: float, total: float | None = None, message: str = "") -> None:
    """Tells the page that asked for this work how far it has got; does nothing when no page did.

    The page's ``onProgress`` gets it at once, even while Python is busy, but at most 60 times a
    second; ``done == total`` always arrives.

    Args:
        done: Of the same unit as ``total``.
        total: None when it is not known.
        message: For people to read.
    """
    reporter = current_reporter.get()
    if reporter is not None:
        reporter.report(done, total, message)
