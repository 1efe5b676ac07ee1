"""Where the values of integer expressions lie: what lets a check of bounds be left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aiogpu import dtypes
from aiogpu.lang import tree
from aiogpu.lang.types import I32, U32

if TYPE_CHECKING:
    from aiogpu.dtypes import DType
    from aiogpu.lang.tree import Expr, Interval

INT_MAX: Final = 0x7FFFFFFF
_RANGES: Final = {I32: (-INT_MAX - 1, INT_MAX), U32: (0, 0xFFFFFFFF)}
_NOT_NEGATIVE: Final = (0, INT_MAX)
_NARROW: Final[dict[DType, Interval]] = {  # of array elements
    dtypes.int8: (-128, 127), dtypes.uint8: (0, 255), dtypes.int16: (-32768, 32767),
    dtypes.uint16: (0, 65535),
}  # fmt: skip


def interval(expr: Expr, workgroup: tuple[int, ...]) -> Interval | None:
    """Where the values of an integer expression lie; None where nothing is known.

    Args:
        expr: The expression.
        workgroup: The workgroup's sizes, the fastest last.
    """
    match expr:
        case tree.Lit(value=int() as value) if not isinstance(value, bool):
            return value, value
        case tree.Var(local=local):
            return local.interval
        case tree.Size():
            return _NOT_NEGATIVE
        case tree.Id(kind=kind, axis=axis):
            return _of_id(kind, axis, workgroup)
        case tree.Load(memory=memory, default=None):
            return _NARROW.get(memory.dtype)
        case tree.Op(
            name="mul", args=(tree.Id(kind="groups", axis=axis), tree.Lit(value=size))
        ) if (
            0 < size <= _of_id("local", axis, workgroup)[1] + 1  # type: ignore[operator]
        ):  # a call has no more invocations along an axis: see `binding.grid_of`
            return int(size), INT_MAX  # type: ignore[arg-type]
        case tree.Op(name=name, args=args) if expr.type in _RANGES:
            known = [interval(arg, workgroup) for arg in args]
            return _within(expr, _of_op(name, known))
    return None


def _of_id(kind: str, axis: int, workgroup: tuple[int, ...]) -> Interval:
    if kind == "local":
        return 0, (workgroup[-1 - axis] if axis < len(workgroup) else 1) - 1
    if kind == "index":
        total = 1
        for size in workgroup:
            total *= size
        return 0, total - 1
    return _NOT_NEGATIVE


def _within(expr: Expr, found: Interval | None) -> Interval | None:
    """The interval, unless the type would wrap somewhere in it."""
    if found is None or expr.type not in _RANGES:
        return None
    low, high = _RANGES[expr.type]
    return found if low <= found[0] and found[1] <= high else None


def _of_op(name: str, args: list[Interval | None]) -> Interval | None:  # noqa: C901 - one case an operation
    first = args[0]
    second = args[1] if len(args) > 1 else None
    if name == "mod" and second is not None and second[0] > 0:
        return 0, second[1] - 1
    if name == "and":
        tops = [each[1] for each in args if each is not None and each[0] >= 0]
        return (0, min(tops)) if tops else None
    if name == "min" and first is not None and second is not None:
        return min(first[0], second[0]), min(first[1], second[1])
    if name == "max" and first is not None and second is not None:
        return max(first[0], second[0]), max(first[1], second[1])
    if first is None:
        return None
    if name == "cast":
        return first
    if name == "neg":
        return -first[1], -first[0]
    if second is None:
        return None
    if name == "add":
        return first[0] + second[0], first[1] + second[1]
    if name == "sub":
        return first[0] - second[1], first[1] - second[0]
    if name == "mul":
        ends = [a * b for a in first for b in second]
        return min(ends), max(ends)
    if name == "floordiv" and second[0] > 0:
        ends = [a // b for a in first for b in second]
        return min(ends), max(ends)
    if name == "shr" and second[0] >= 0 and second[1] < 32:
        ends = [a >> b for a in first for b in second]
        return min(ends), max(ends)
    if name == "shl" and second[0] >= 0 and second[1] < 32:
        ends = [a << b for a in first for b in second]
        return min(ends), max(ends)
    return None
