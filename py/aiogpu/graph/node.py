"""One value of the expression graph."""

from __future__ import annotations

import itertools
import sys
from collections import deque
from math import prod
from typing import TYPE_CHECKING, Any, Final

from aiogpu.errors import Origin

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import CodeType, FrameType

    from aiogpu.dtypes import DType
    from aiogpu.errors import AioGpuError
    from aiogpu.graph.table import Op
    from aiogpu.shapes import Shape


_PACKAGE = __name__.partition(".")[0]
_FREE = frozenset({"constant", "view"})  # families that no launch computes by themselves
_OURS: set[int] = set()  # ids of the global namespaces of this package's modules, as they are met


def caller(depth: int) -> tuple[CodeType, int] | None:
    """The innermost frame outside of this package, looked for from ``depth`` frames up."""
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None:
        names = frame.f_globals
        if id(names) not in _OURS:  # a lookup for our own frames, of which there are several
            if names.get("__name__", "").partition(".")[0] != _PACKAGE:
                return frame.f_code, frame.f_lasti
            _OURS.add(id(names))
        frame = frame.f_back
    return None


# What live arrays show and nobody has computed yet: `synchronize` computes it.
SHOWN: Final[dict[Node, None]] = {}

# Freeing a chain of about 3000 linked objects overflows the C stack of Pyodide, beyond recovery.
# So a dying node does not free its inputs: it hands them to this worklist, and the outermost
# finaliser empties it.
_orphans: deque[tuple[Node, ...]] = deque()
_unlinking = False
_serials = itertools.count()


class Node:
    """An operation on other nodes, and, once computed, its value.

    Attributes:
        op: The row of the op table.
        inputs: The operands; emptied when the value is there or has failed.
        shape: Its shape.
        dtype: Its dtype.
        attrs: Plain data that the operation needs beside its inputs.
        serial: Number in the order of making; operands have smaller ones.
        depth: Length of the longest chain of uncomputed nodes below, this one included.
        value: Where the value is: a buffer of the run half, or host data; None while uncomputed.
        error: Why there will be no value.
        holders: How many live arrays show this node.
        consumers: How many uncomputed nodes read this one.
        made: The fields of its `origin`.
        readers: How many planned tasks that have not run yet read its value, or take it over.
    """

    # What a node is born with costs nothing here: making one is the price of every operation.
    value: Any = None
    error: AioGpuError | None = None
    holders = 0
    consumers = 0
    readers = 0
    made: tuple[CodeType, int] | None = None

    def __init__(
        self,
        op: Op,
        inputs: tuple[Node, ...],
        shape: Shape,
        dtype: DType,
        attrs: Mapping[str, Any] | None = None,
        frames: int = 2,
    ) -> None:
        """As the class says; ``frames`` is how many frames of this package are on top at least."""
        self.op = op
        self.inputs = inputs
        self.shape = shape
        self.dtype = dtype
        self.attrs = attrs
        self.serial = next(_serials)
        depth: int = 0
        for node in inputs:
            node.consumers += 1
            if node.depth > depth:
                depth = node.depth
        if op.family in _FREE:
            self.depth: int = depth
        else:
            self.depth = depth + 1
            self.made = caller(frames)

    @property
    def origin(self) -> Origin | None:
        """The user's line that made it."""
        return None if self.made is None else Origin(*self.made)

    @property
    def nelems(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Size of the elements in bytes, without padding."""
        return prod(self.shape) * self.dtype.itemsize

    @property
    def is_done(self) -> bool:
        """Whether the value is there, or known to have failed."""
        return self.value is not None or self.error is not None

    def hold(self) -> None:
        """An array, or somebody like it, shows this node."""
        self.holders += 1
        if self.depth:
            SHOWN[self] = None

    def release(self) -> None:
        """It does so no more."""
        self.holders -= 1
        if not self.holders and SHOWN:
            SHOWN.pop(self, None)

    def resolve(self, value: object) -> None:
        """Set the value and let go of the sources."""
        self.value = value
        self._unlink()

    def fail(self, error: AioGpuError) -> None:
        """Record why there is no value, and let go of the sources."""
        if self.error is None:
            self.error = error.with_traceback(None)
        self.value = None
        self._unlink()

    def _unlink(self) -> None:
        self.depth = 0
        SHOWN.pop(self, None)
        if self.inputs:
            self._free_inputs()

    def _free_inputs(self) -> None:
        for node in self.inputs:
            node.consumers -= 1
        # No name of this frame may hold an input: it would be freed when the frame ends, after
        # the worklist was emptied, and so on down the chain, one frame inside another.
        del node
        _orphans.append(self.inputs)
        self.inputs = ()
        _free_orphans()

    def __del__(self) -> None:
        if self.inputs and _orphans is not None:  # names are gone when the interpreter ends
            self._free_inputs()


def _free_orphans() -> None:
    global _unlinking  # noqa: PLW0603 - the worklist belongs to the interpreter's stack, not to a runtime
    if _unlinking:
        return
    _unlinking = True
    try:
        while _orphans:
            _orphans.popleft()
    finally:
        _unlinking = False
