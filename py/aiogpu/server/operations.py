"""The operations that a page may ask for by name, on arrays that it knows by handle."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from aiogpu.array import Array
from aiogpu.errors import UsageError
from aiogpu.ops import (
    creation,
    data_types,
    elementwise,
    linalg,
    manipulation,
    searching,
    statistical,
)

Operation = Callable[..., Array]


def find(name: str) -> Operation:
    """The operation of a name.

    Raises:
        UsageError: There is none.
    """
    operation = _OPERATIONS.get(name)
    if operation is None:
        raise UsageError(f"array: {name!r:.80}: no such operation")
    return operation


def _slice(x: Array, /, keys: Sequence[object]) -> Array:
    """``x[keys]``, of which each is a number, None for a whole axis, or [start, stop, step]."""
    return x[tuple(_key(key) for key in _operand(x, keys))]


def _operand(x: object, keys: object) -> Sequence[object]:
    if not isinstance(x, Array) or not isinstance(keys, list):
        raise UsageError(f"slice: {type(keys).__name__}: must be a list, one item an axis")
    return keys


def _key(key: object) -> int | slice:
    if key is None:
        return slice(None)
    if isinstance(key, int) and not isinstance(key, bool):
        return key
    if isinstance(key, list) and 1 <= len(key) <= 3:
        return slice(*key) if len(key) > 1 else slice(key[0], None)
    raise UsageError(f"slice: {key!r:.80}: must be a number, null, or [start, stop, step]")


def _transpose(x: Array, /, axes: Sequence[int] | None = None) -> Array:
    return manipulation.permute_dims(x, range(x.ndim)[::-1] if axes is None else axes)


def _on_arrays(function: Callable[..., Array], count: int) -> Operation:
    """The function, with its first operands made arrays where they are data."""

    def operation(*args: Any, **kwargs: Any) -> Array:  # noqa: ANN401 - whatever the page sent
        operands = [
            creation.asarray(each) if isinstance(each, memoryview | list) else each
            for each in args[:count]
        ]
        if operands and not any(isinstance(each, Array) for each in operands):
            operands[0] = creation.asarray(operands[0])
        return function(*operands, *args[count:], **kwargs)

    return operation


def _named(count: int, *functions: Callable[..., Array]) -> dict[str, Operation]:
    return {function.__name__: _on_arrays(function, count) for function in functions}


# fmt: off
_OPERATIONS: Final[dict[str, Operation]] = {
    "asarray": creation.asarray,
    "slice": _on_arrays(_slice, 1),
    "transpose": _on_arrays(_transpose, 1),
    **_named(
        1,
        manipulation.reshape, data_types.astype,
        statistical.sum, statistical.prod, statistical.mean, statistical.max, statistical.min,
        statistical.all, statistical.any, statistical.std, statistical.var,
        searching.argmax, searching.argmin,
        elementwise.negative, elementwise.abs, elementwise.exp, elementwise.log, elementwise.sqrt,
        elementwise.square, elementwise.tanh, elementwise.sin, elementwise.cos,
        elementwise.floor, elementwise.round, elementwise.logical_not,
    ),
    **_named(
        2,
        elementwise.add, elementwise.subtract, elementwise.multiply, elementwise.divide,
        elementwise.floor_divide, elementwise.remainder, elementwise.pow,
        elementwise.maximum, elementwise.minimum,
        elementwise.equal, elementwise.not_equal, elementwise.less, elementwise.less_equal,
        elementwise.greater, elementwise.greater_equal,
        elementwise.logical_and, elementwise.logical_or,
        linalg.matmul,
    ),
    **_named(3, searching.where),
}
# fmt: on
