"""Arrays that stay with Python and that the page knows by number.

The page numbers the results of its operations from 1 up, so that it need not wait for an answer;
the server numbers what a run or a call gives as a handle from -1 down.
"""

from collections.abc import Iterable

from aiogpu.array import Array
from aiogpu.errors import AioGpuError, HandleError, ProtocolError
from aiogpu.ops.creation import asarray
from aiogpu.server.incoming import Incoming
from aiogpu.server.operations import find
from aiogpu.server.protocol import Op, Tree


class PoisonedError(Exception):
    """An array is needed whose operation has failed."""

    def __init__(self, error: BaseException, handle: int) -> None:
        """Carries the operation's own error, and whose result it was."""
        super().__init__(handle)
        self.error = error
        self.handle = handle


class Handles:
    """One page's arrays."""

    def __init__(self) -> None:
        """Holds none."""
        self._held: dict[int, Array | PoisonedError] = {}
        self._last = 0

    def __len__(self) -> int:
        """How many the page holds, failed ones included."""
        return len(self._held)

    def find(self, handle: int) -> Array:
        """The array of a handle.

        Raises:
            HandleError: There is none: it was disposed, or never made.
            PoisonedError: The operation that should have made it has failed.
        """
        held = self._held.get(handle)
        if held is None:
            raise HandleError(f"array {handle}: was disposed, or is not this client's")
        if isinstance(held, PoisonedError):
            # A new object each time: what is raised collects a traceback.
            raise PoisonedError(held.error, held.handle)
        return held

    def keep(self, value: object) -> Tree:
        """Keeps an array, or a copy of a NumPy array, and gives the tree that names it."""
        array = value if isinstance(value, Array) else asarray(value)
        self._last -= 1
        self._held[self._last] = array
        sides: list[Tree] = list(array.shape)
        return {"$": "handle", "handle": self._last, "dtype": array.dtype.name, "shape": sides}

    def apply(self, op: Op, incoming: Incoming) -> None:
        """Does an operation; its failure becomes its result.

        Raises:
            ProtocolError: The number is not one that the page may choose.
        """
        if op.handle <= 0 or op.handle in self._held:
            raise ProtocolError(f"op: handle {op.handle}: in use, or not above zero")
        try:
            args = [incoming.value(item) for item in op.args]
            result: Array | PoisonedError = find(op.name)(*args, **incoming.items(op.kwargs))
        except PoisonedError as poisoned:
            result = poisoned
        # Whatever NumPy or an operation makes of nonsense, too: the page is told when it reads.
        except Exception as error:  # noqa: BLE001
            kept = error.again() if isinstance(error, AioGpuError) else error
            result = PoisonedError(kept.with_traceback(None), op.handle)
        self._held[op.handle] = result

    def free(self, handles: Iterable[int]) -> None:
        """Lets arrays go; one that is not there has gone already."""
        for handle in handles:
            self._held.pop(handle, None)
