"""The table of handles: what each names, and how the next version of its bytes is made."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from aiogpu import dtypes, evaluate
from aiogpu.backend import layouts
from aiogpu.errors import HandleError, ShapeError, UsageError
from aiogpu.graph import build, table
from aiogpu.graph.node import SHOWN, Node
from aiogpu.shapes import View, contiguous_strides

if TYPE_CHECKING:
    from aiogpu.dtypes import DType
    from aiogpu.shapes import Shape


@dataclass(slots=True)
class Buffer:
    """What a handle names: its bytes as a flat node of words, and how many bytes were asked for."""

    node: Node
    nbytes: int


class Handles:
    """Handles and the nodes behind them; the methods of the backend stand on it."""

    def __init__(self) -> None:
        self._buffers: dict[int, Buffer] = {}
        # Another worker's handles must not be ours by accident: every table begins elsewhere.
        self._next = secrets.randbits(40) << 12

    def _keep(self, node: Node, nbytes: int) -> int:
        """A new handle for a flat node of words."""
        self._next += 1
        self._buffers[self._next] = Buffer(node, nbytes)
        _hold(node)
        return self._next

    def _buffer(self, name: str, handle: int) -> Buffer:
        """What a handle names; HandleError where it is unknown or freed."""
        buffer = self._buffers.get(handle) if isinstance(handle, int) else None
        if buffer is None:
            raise HandleError(f"{name}: handle {handle!r}: unknown here, or freed")
        return buffer

    def _check(self, name: str, label: str, buffer: Buffer, how: View, dtype: DType) -> None:
        """UsageError where a view reaches beyond the bytes of a handle."""
        last = layouts.region(how)
        if last * dtype.itemsize > buffer.nbytes:
            raise UsageError(
                f"{name}: {label}: {how.shape} reaches to byte {last * dtype.itemsize}: "
                f"the handle has {buffer.nbytes}"
            )

    def _input(self, name: str, handle: int, shape: Shape, dtype: DType = dtypes.float32) -> Node:
        """The first bytes of a handle, as they are now, as a node."""
        buffer = self._buffer(name, handle)
        if any(size < 0 for size in shape):
            raise ShapeError(f"{name}: shape {shape}: a size is negative")
        how = View.contiguous(shape)
        self._check(name, "src", buffer, how, dtype)
        return build.view(buffer.node, how, dtype)

    def _output(self, name: str, handle: int, node: Node) -> None:
        """Make ``node`` the first bytes of the next version of a handle."""
        buffer = self._buffer(name, handle)
        self._check(name, "dst", buffer, View.contiguous(node.shape), node.dtype)
        self._store(buffer, node, View(node.shape, contiguous_strides(node.shape)))

    def _store(self, buffer: Buffer, value: Node, target: View) -> None:
        """Put ``value`` where ``target`` says in the next version of a buffer."""
        if prod(value.shape) == 0:
            return
        old = buffer.node
        if value.dtype.itemsize * prod(value.shape) == old.nbytes and target == View.contiguous(
            target.shape
        ):
            node = _as_words(value, old.nelems)
        else:
            owner, how = build.view_of(old)
            is_whole = how == View.contiguous(how.shape) and owner.nbytes >= old.nbytes
            base = owner if is_whole else build.copy(old)
            attrs = {"target": target}
            node = Node(table.STORE, (base, value), old.shape, old.dtype, attrs)
        old.release()
        buffer.node = node
        _hold(node)


def _hold(node: Node) -> None:
    """A handle names ``node`` from now on; `synchronize` computes or uploads it."""
    node.hold()
    if not node.is_done:
        SHOWN[node] = None
    evaluate.DEFAULT.relieve(node)


def _as_words(value: Node, count: int) -> Node:
    """A value as a flat node of words."""
    if value.op is table.VIEW or value.op is table.CONSTANT:
        if value.dtype is dtypes.uint32 and value.shape == (count,):
            return value
        value = build.copy(value)
    return build.view(value, View((count,), (1,)), dtypes.uint32)


def count(name: str, size: int) -> int:
    """``size``, checked to be an integer that is not negative."""
    if not isinstance(size, int) or size < 0:
        raise UsageError(f"{name}: {size!r}: a size must be an integer and not negative")
    return size


def known(name: str, given: str, names: Any) -> None:  # noqa: ANN401 - names, or a dict by name
    """UsageError where ``given`` is not among ``names``."""
    if given not in names:
        raise UsageError(f"{name}: {given!r}: there are {', '.join(names)}")
