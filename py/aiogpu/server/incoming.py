"""Values of the page, out of the wire's JSON; `values` is the other direction.

Nothing that arrives is evaluated.
"""

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from aiogpu.errors import ProtocolError
from aiogpu.server.protocol import Tree
from aiogpu.server.values import FORMATS, MOST_LEVELS


class Incoming:
    """The values of one message."""

    def __init__(
        self,
        buffers: Sequence[object],
        *,
        to_numpy: bool,
        find: Callable[[int], object] | None = None,
    ) -> None:
        """Holds what the trees refer to.

        Args:
            buffers: What came beside the message; arrays are views of these.
            to_numpy: Whether arrays become ``numpy.ndarray`` or ``memoryview``.
            find: Gives what a handle stands for.
        """
        self._buffers = buffers
        self._to_numpy = to_numpy
        self._find = find

    def items(self, tree: Mapping[str, Tree], level: int = 0) -> dict[str, object]:
        """The values of an object's trees, by name; see `value`."""
        return {key: self.value(item, level) for key, item in tree.items()}

    def value(self, tree: Tree, level: int = 0) -> object:
        """The value that a tree of the page's is.

        Raises:
            ProtocolError: The tree says what the buffers do not hold, or is too deep.
            HandleError: It has a handle that is no more.
            AioGpuError: What the operation failed with whose result is meant.
        """
        if level > MOST_LEVELS + 1:
            raise ProtocolError(f"value: nested deeper than {MOST_LEVELS} levels")
        if isinstance(tree, list):
            return [self.value(item, level + 1) for item in tree]
        if not isinstance(tree, dict):
            return tree
        return self._tagged(tree, level) if "$" in tree else self.items(tree, level + 1)

    def _tagged(self, tree: dict[str, Tree], level: int) -> object:
        kind, value = tree["$"], tree.get("value")
        if kind == "array":
            return self._array(tree)
        if kind == "handle":
            return self._held(tree.get("handle"))
        if kind == "bytes":
            return bytes(self._buffer(tree.get("buffer")))
        if kind in ("number", "int") and isinstance(value, str):
            return _number(float if kind == "number" else int, value)
        if kind != "object" or not isinstance(value, dict):
            raise ProtocolError(f'value: "$" is {kind!r:.80}: no such kind of value')
        return self.items(value, level + 1)

    def _held(self, handle: Tree) -> object:
        if self._find is None or not isinstance(handle, int) or isinstance(handle, bool):
            raise ProtocolError(f"value: handle {handle!r:.80}: not one that can be meant here")
        return self._find(handle)

    def _buffer(self, index: Tree) -> bytes | bytearray | memoryview:
        if (
            not isinstance(index, int)
            or isinstance(index, bool)
            or not 0 <= index < len(self._buffers)
        ):
            raise ProtocolError(f"value: buffer {index!r:.80}: there are {len(self._buffers)}")
        buffer = self._buffers[index]
        if not isinstance(buffer, bytes | bytearray | memoryview):
            raise ProtocolError(f"value: buffer {index} is a {type(buffer).__name__}")
        return buffer

    def _array(self, tree: dict[str, Tree]) -> object:
        dtype, shape, offset = (tree.get(name) for name in ("dtype", "shape", "offset"))
        if not (isinstance(dtype, str) and dtype in FORMATS and _is_size(offset)):
            raise ProtocolError(f"value: {tree!r:.200}: not an array")
        assert isinstance(offset, int)
        sides = _sides(shape)
        buffer = self._buffer(tree.get("buffer"))
        form = FORMATS[dtype].removeprefix("Z")
        whole = sides if form == FORMATS[dtype] else [*sides, 2]
        nbytes = math.prod(whole) * struct.calcsize(form)
        data = memoryview(buffer)[offset : offset + nbytes]
        if data.nbytes != nbytes:
            what = f"{dtype} {tuple(sides)} takes {nbytes} bytes at {offset}"
            raise ProtocolError(f"value: {what}: the buffer ends before")
        if self._to_numpy:
            import numpy as np

            return np.frombuffer(data, dtype).reshape(sides)
        # memoryview knows no shape with a zero in it: such an array is flat. Nor does it know
        # complex numbers: their parts are along a last axis of 2.
        return data.cast(form, *([whole] if nbytes else []))  # type: ignore[call-overload]


#: What NumPy and memoryview both take.
_MOST_AXES: Final = 32


def _sides(shape: Tree) -> list[int]:
    if not isinstance(shape, list) or len(shape) > _MOST_AXES or not all(map(_is_size, shape)):
        raise ProtocolError(f"value: shape {shape!r:.200}: not a shape")
    sides: list[int] = shape  # type: ignore[assignment]  # checked above
    return sides


def _is_size(side: object) -> bool:
    return isinstance(side, int) and not isinstance(side, bool) and 0 <= side < 2**53


def _number(number: type[float] | type[int], text: str) -> float | int:
    try:
        return number(text)
    except ValueError as error:
        raise ProtocolError(f"value: {error}") from None
