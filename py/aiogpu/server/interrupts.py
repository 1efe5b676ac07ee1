"""Where the page's `interrupt()` strikes: the user's Python, never what runs around it."""

import sys
from types import FrameType
from typing import Final, Protocol

#: What the first byte holds until somebody has taken the interrupt.
_SIGINT: Final = 2

#: Of no user; `aiogpu` itself, whose work must not be left half done, is asked for apart.
_NOBODYS: Final = sys.stdlib_module_names | {"pyodide", "_pyodide"}


class Shared(Protocol):
    """Two bytes that the page writes too: the signal, and how many interrupts there were."""

    def exchange(self, signal: int, /) -> int:
        """Sets the signal, and gives the one before."""

    def count(self) -> int:
        """The other one."""


class Interrupts:
    """The shared bytes, and who takes an interrupt.

    A KeyboardInterrupt in the event loop or in the engine would end or spoil more than the user's
    code, so that one which finds them stays where it is: Python looks there again soon.
    """

    def __init__(self, shared: Shared) -> None:
        """Watches nothing by itself: Python, which finds a signal, zeroes it and calls `strike`."""
        self._shared = shared

    def strike(self, _signum: int, frame: FrameType | None) -> None:
        """Handles SIGINT.

        Raises:
            KeyboardInterrupt: The user's code runs, or what it has called outside this package.
        """
        if _is_users(frame):
            raise KeyboardInterrupt
        self._shared.exchange(_SIGINT)

    def take(self, serial: int) -> bool:
        """Takes an interrupt that nobody has had; a later one than that stays."""
        waits = self._shared.exchange(0) == _SIGINT
        # The page counts before it sets the signal.
        if waits and self._shared.count() != serial:
            self._shared.exchange(_SIGINT)
            return False
        return waits


def _is_users(frame: FrameType | None) -> bool:
    while frame is not None:
        package, _, rest = str(frame.f_globals.get("__name__")).partition(".")
        if package == "aiogpu":
            # The simulator runs the user's kernels.
            return rest.startswith("lang")
        if package not in _NOBODYS:
            return True
        frame = frame.f_back
    return False
