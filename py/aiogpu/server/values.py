"""Values on their way to the page, as the wire's JSON; `incoming` is the other direction.

Plain data stays plain. What JSON lacks is an object with a "$" key, as ``web/wire.js`` describes
it: arrays, numbers that are not finite, integers past 2^53, and objects that have such a key
themselves.
"""

import dataclasses
import inspect
import math
import struct
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from aiogpu.array import Array
from aiogpu.errors import UsageError
from aiogpu.server.protocol import Tree

#: Writes down a value that stays on this side.
Keep: TypeAlias = Callable[[Any], Tree]

#: A value nested deeper than this is refused, and so is what contains itself.
MOST_LEVELS: Final = 100

_LARGEST_EXACT: Final = 2**53 - 1

#: What the buffer protocol calls the type of an item, by dtype.
FORMATS: Final = {
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int64": "q",
    "uint8": "B",
    "uint16": "H",
    "uint32": "I",
    "uint64": "Q",
    "float16": "e",
    "float32": "f",
    "float64": "d",
    "complex64": "Zf",
    "bool": "?",
}

#: The other direction, with the sizes that C's types have here: `l` is 4 bytes on WebAssembly.
_DTYPES: Final = {
    **{form: f"int{struct.calcsize(form) * 8}" for form in "bhilqn"},
    **{form: f"uint{struct.calcsize(form) * 8}" for form in "cBHILQN"},
    **{form: f"float{struct.calcsize(form) * 8}" for form in "efd"},
    "?": "bool",
    "Zf": "complex64",
}


class Outgoing:
    """One value on its way to the page: a tree, and the buffers that travel beside it."""

    def __init__(self, value: object, keep: Keep | None = None, open_: Keep | None = None) -> None:
        """Walks the value at once; reads nothing from the GPU.

        Args:
            value: What is to cross.
            keep: Gives the tree for an array that stays here; without it arrays cross themselves.
            open_: Gives the tree for a generator; without it generators cannot cross.

        Raises:
            UsageError: Something in it cannot cross; the message says where, from "value" on.
        """
        self.buffers: list[object] = []
        #: Arrays on the GPU, by the position that waits for their bytes in `buffers`.
        self.pending: dict[int, Array] = {}
        self._keep = keep
        self._open = open_
        self.tree: Tree = self._encode(value, "value", 0)

    def _encode(self, value: object, path: str, level: int) -> Tree:
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, int):
            return (
                int(value)
                if abs(value) <= _LARGEST_EXACT
                else {"$": "int", "value": str(int(value))}
            )
        if isinstance(value, float):
            return (
                float(value) if math.isfinite(value) else {"$": "number", "value": _infinite(value)}
            )
        if isinstance(value, Array):
            return self._pend(value, path) if self._keep is None else self._keep(value)
        if level == MOST_LEVELS:
            raise UsageError(f"{path}: nested deeper than {MOST_LEVELS} levels, or contains itself")
        return self._encode_items(value, path, level + 1)

    def _encode_items(self, value: object, path: str, level: int) -> Tree:
        if isinstance(value, Mapping):
            return self._encode_mapping(value, path, level)
        if isinstance(value, list | tuple | range):
            return [
                self._encode(item, f"{path}[{index}]", level) for index, item in enumerate(value)
            ]
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            names = [field.name for field in dataclasses.fields(value)]
            return self._encode_mapping({name: getattr(value, name) for name in names}, path, level)
        if _is_numpy_scalar(value):
            return self._encode(_number(value, path), path, level)
        if self._open is not None and isinstance(value, Generator | AsyncGenerator):
            return self._open(value)
        if self._keep is not None and _is_numpy_array(value):
            return self._keep(value)
        return self._encode_buffer(value, path)

    def _encode_mapping(self, value: Mapping[Any, object], path: str, level: int) -> Tree:
        tree: dict[str, Tree] = {}
        for key, item in value.items():
            if not isinstance(key, str | int) or isinstance(key, bool):
                raise UsageError(f"{path}: key {key!r}: a key must be a str or an int")
            if str(key) in tree:
                raise UsageError(
                    f"{path}: keys {key!r} and {str(key)!r}: the same name on the page"
                )
            step = f".{key}" if isinstance(key, str) and key.isidentifier() else f"[{key!r}]"
            tree[str(key)] = self._encode(item, path + step, level)
        return {"$": "object", "value": tree} if "$" in tree else tree

    def _encode_buffer(self, value: object, path: str) -> Tree:
        try:
            view = memoryview(value)  # type: ignore[arg-type]  # what has no buffer raises TypeError
        except (TypeError, ValueError, BufferError):
            raise _refused(path, value) from None
        # Both platforms are little-endian: "<" says what is so anyway, and ">" is not in the table.
        dtype = _DTYPES.get(view.format.lstrip("@=<"))
        if dtype is None:
            raise UsageError(
                f"{path}: {type(value).__name__} of format {view.format!r}: no typed array fits it"
            )
        self.buffers.append(view.cast("B") if view.c_contiguous and view.nbytes else view.tobytes())
        return _array(dtype, view.shape, len(self.buffers) - 1)

    def _pend(self, value: Array, path: str) -> Tree:
        if value.dtype.name not in FORMATS:
            raise UsageError(f"{path}: an array of {value.dtype.name}: no typed array fits it")
        position = len(self.buffers)
        self.buffers.append(None)
        self.pending[position] = value
        return _array(value.dtype.name, value.shape, position)


def _array(dtype: str, shape: Sequence[int | None] | None, position: int) -> Tree:
    sides: list[Tree] = list(shape or ())
    return {"$": "array", "dtype": dtype, "shape": sides, "buffer": position, "offset": 0}


def _infinite(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _is_numpy_scalar(value: object) -> bool:
    """Told without importing NumPy."""
    return (
        type(value).__module__ == "numpy" and hasattr(value, "item") and value.__hash__ is not None
    )


def _is_numpy_array(value: object) -> bool:
    """Told without importing NumPy."""
    return type(value).__module__ == "numpy" and type(value).__name__ == "ndarray"


def _number(value: object, path: str) -> int | float:
    """The Python number in a NumPy scalar, whose own buffer would cross as bytes."""
    item = value.item()  # type: ignore[attr-defined]
    if not isinstance(item, int | float):
        raise _refused(path, value)
    return item


def _refused(path: str, value: object) -> UsageError:
    if inspect.isawaitable(value):
        return UsageError(f"{path}: {type(value).__name__}: cannot cross to the page: add await")
    return UsageError(f"{path}: {type(value).__name__}: cannot cross to the page")
