"""One value of the expression graph."""

from __future__ import annotations

import sys
from collections import deque
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import CodeType, FrameType

    from aiogpu.dtypes import DType
    from aiogpu.errors import AioGpuError
    from aiogpu.graph.table import Op
    from aiogpu.shapes import Shape


class Origin(NamedTuple):
    """The user's line that made a node."""

    code: CodeType
    line: int

    def __str__(self) -> str:
        return f"{self.code.co_filename}:{self.line}"


_PACKAGE = __name__.partition(".")[0]
_FREE = frozenset({"constant", "view"})  # families that no launch computes by themselves
_OURS: set[int] = set()  # ids of the global namespaces of this package's modules, as they are met


def caller() -> Origin | None:
    """The innermost frame outside of this package."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        names = frame.f_globals
        if id(names) not in _OURS:  # a lookup for our own frames, of which there are several
            if names.get("__name__", "").partition(".")[0] != _PACKAGE:
                return Origin(frame.f_code, frame.f_lineno)
            _OURS.add(id(names))
        frame = frame.f_back
    return None


# Freeing a chain of about 3000 linked objects overflows the C stack of Pyodide, beyond recovery.
# So a dying node does not free its inputs: it hands them to this worklist, and the outermost
# finaliser empties it.
_orphans: deque[tuple[Node, ...]] = deque()
_unlinking = False


class Node:
    """An operation on other nodes, and, once computed, its value.

    Attributes:
        op: The row of the op table.
        inputs: The operands; emptied when the value is there or has failed.
        shape: Its shape.
        dtype: Its dtype.
        attrs: Plain data that the operation needs beside its inputs.
        depth: Length of the longest chain of uncomputed nodes below, this one included.
        value: Where the value is: a buffer of the run half, or host data; None while uncomputed.
        error: Why there will be no value.
        holders: How many live arrays show this node.
        consumers: How many uncomputed nodes read this one.
        origin: The user's line that made it.
    """

    __slots__ = (
        "__weakref__",
        "attrs",
        "consumers",
        "depth",
        "dtype",
        "error",
        "holders",
        "inputs",
        "op",
        "origin",
        "shape",
        "value",
    )

    def __init__(
        self,
        op: Op,
        inputs: tuple[Node, ...],
        shape: Shape,
        dtype: DType,
        attrs: Mapping[str, Any] | None = None,
    ) -> None:
        self.depth: int
        self.op = op
        self.inputs = inputs
        self.shape = shape
        self.dtype = dtype
        self.attrs = attrs
        self.value: Any = None
        self.error: AioGpuError | None = None
        self.holders = 0
        self.consumers = 0
        depth: int = 0
        for node in inputs:
            node.consumers += 1
            if node.depth > depth:
                depth = node.depth
        if op.family in _FREE:
            self.depth = depth
            self.origin = None
        else:
            self.depth = depth + 1
            self.origin = caller()

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
        if self.inputs:
            for node in self.inputs:
                node.consumers -= 1
            # No name of this frame may hold an input: it would be freed when the frame ends, after
            # the worklist was emptied, and so on down the chain, one frame inside another.
            del node
            _orphans.append(self.inputs)
            self.inputs = ()
            _free_orphans()

    def __del__(self) -> None:
        if self.inputs:
            self._unlink()


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
