"""Arrays whose first axis is as long as their data says, until they are evaluated.

On the device such an array has room for as many elements as there can be, and beside it the number
of those that there are. A read fetches both by one submit and cuts. ``await x.evaluate()`` reads
the number and makes ``x`` an ordinary array. Anything else that needs ``x`` raises and names it;
under `aiogpu.sync_reads` it waits instead.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, ClassVar

from aiogpu import evaluate
from aiogpu.errors import UsageError
from aiogpu.gpu import browser
from aiogpu.graph import orders
from aiogpu.switch import SyncReads

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

    from aiogpu.dtypes import DType
    from aiogpu.graph.node import Node
    from aiogpu.graph.orders import Found
    from aiogpu.shapes import Shape

    Shown = Callable[[Sequence[memoryview]], tuple[memoryview, Shape]]

_PACKAGE = __name__.partition(".")[0]


class UnknownLength:
    """What differs in an array while its length is not known.

    Stands before `aiogpu.Array` among the bases of a class. When the length is there, the object's
    class becomes ``_known``: names that refer to it refer to an ordinary array then.
    """

    __slots__ = ()
    _known: ClassVar[type]
    _found: Found
    _cut: str | None

    def __del__(self) -> None:
        self._found.node.release()
        self._found.length.release()

    @property
    def _node(self) -> Any:  # noqa: ANN401 - a node; Array has a slot here
        """The node, for whoever needs all of the array."""
        if not SyncReads.is_on:
            raise UsageError(
                f"{_operation()}: shape {self._shape}: the size depends on data; "
                "`await x.evaluate()` first, or ask for a fixed size= where it was made"
            )
        browser.wait_sync(self.evaluate)
        return self._node  # of an ordinary array, by now

    @_node.setter
    def _node(self, _: Node) -> None:
        raise AssertionError("a node is set when the length is known")

    @property
    def _shape(self) -> tuple[int | None, ...]:
        return (None, *self._found.node.shape[1:])

    @property
    def shape(self) -> Any:  # noqa: ANN401 - a shape with None in it; Array's has none
        """Sizes of the axes: None for the one that is not known; known under sync_reads."""
        return self._node.shape if SyncReads.is_on or _is_ours(sys._getframe(1)) else self._shape

    @property
    def dtype(self) -> DType:
        """The dtype."""
        return self._found.node.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._found.node.shape)

    @property
    def size(self) -> Any:  # noqa: ANN401 - a number or None
        """Number of elements: None while it is not known."""
        return self._node.nelems if SyncReads.is_on or _is_ours(sys._getframe(1)) else None

    def __repr__(self) -> str:
        return (
            f"<aiogpu.Array shape={self._shape} dtype={self.dtype.name} "
            "(None until `await x.evaluate()`; await x.numpy() to read)>"
        )

    def _check_one(self) -> None:
        """Whether there is one element is known when it is read."""

    def _asked(self) -> tuple[list[Node], Shown]:
        found = self._found

        def shown(fetched: Sequence[memoryview]) -> tuple[memoryview, Shape]:
            count = _number(fetched[1])
            row = found.node.nbytes // max(1, found.node.shape[0])
            return fetched[0][: count * row], (count, *found.node.shape[1:])

        return [found.node, found.length], shown

    async def evaluate(self) -> Any:  # noqa: ANN401 - an Array
        """Compute the array and how long it is, and return it as an ordinary array.

        Resolves when the length was read. What is much shorter than it could be is copied, so that
        it keeps only the memory that it needs.

        Raises:
            AioGpuError: The work failed.
        """
        found = self._found
        (number,) = await evaluate.DEFAULT.read([found.length])
        if isinstance(self, UnknownLength):  # nobody else evaluated it meanwhile
            node = orders.rows(found, _number(number))
            node.hold()
            found.node.release()
            found.length.release()
            del self._found
            self.__class__ = self._known
            self._node = node
        await evaluate.DEFAULT.finish([self._node])
        return self


def _number(data: memoryview) -> int:
    return int(data.cast("B").cast("i")[0])


def _is_ours(frame: FrameType | None) -> bool:
    """Whether a frame is of this package: it needs a whole shape, without None."""
    if frame is None:
        return False
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == _PACKAGE


def _operation() -> str:
    """The function of this package that the user called."""
    name = "array"
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and _is_ours(frame):
        name = frame.f_code.co_name.strip("_")
        frame = frame.f_back
    return name
