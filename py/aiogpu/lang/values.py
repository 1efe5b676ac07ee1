"""What an expression of a kernel can be while it is compiled, and how types meet.

A value is `Const` (known now: a number, a dtype, a function, a module), `Pack` (several values), a
`tree.Memory` (something with elements), a `Method` of one, or an expression of the typed tree.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from aiogpu import dtypes
from aiogpu.errors import DTypeError
from aiogpu.lang import tree
from aiogpu.lang.types import BOOL, F16, F32, I32, U32, Pair, Type, Vector

if TYPE_CHECKING:
    from aiogpu.dtypes import DType


@dataclass(frozen=True, slots=True)
class Const:
    """Something that is known when the kernel is compiled."""

    value: Any


@dataclass(frozen=True, slots=True)
class Pack:
    """Several values: a tuple."""

    items: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Method:
    """A method of a memory."""

    memory: tree.Memory
    name: str


Value = Const | Pack | Method | tree.Memory | tree.Expr


class TypeTrouble(Exception):  # noqa: N818 - caught where the line is known
    """Types that do not fit; the checker adds the line."""


FOLD: Final[dict[str, Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
    "floordiv": operator.floordiv, "mod": operator.mod, "pow": operator.pow,
    "and": operator.and_, "or": operator.or_, "xor": operator.xor, "shl": operator.lshift,
    "shr": operator.rshift, "lt": operator.lt, "le": operator.le, "gt": operator.gt,
    "ge": operator.ge, "eq": operator.eq, "ne": operator.ne, "neg": operator.neg,
    "invert": operator.invert, "not": operator.not_,
}  # fmt: skip


def is_number(value: object) -> bool:
    """Whether a compile-time value is a number that a kernel can compute with."""
    return isinstance(value, (bool, int, float))


def plain(value: Any) -> Any:  # noqa: ANN401 - whatever a name stands for
    """A NumPy scalar as the Python number that it is."""
    if type(value).__module__ == "numpy" and hasattr(value, "item") and not value.shape:
        return value.item()
    return value


def default_type(value: object) -> DType:
    """The type of a Python number that meets nothing."""
    if isinstance(value, bool):
        return BOOL
    return I32 if isinstance(value, int) else F32


def meet(first: Type, second: Type) -> Type:
    """The type in which two typed values meet.

    Raises:
        TypeTrouble: There is none.
    """
    if first == second:
        return first
    if isinstance(first, Pair) or isinstance(second, Pair):
        raise TypeTrouble("several values at once")
    if isinstance(first, Vector) or isinstance(second, Vector):
        return _meet_vectors(first, second)
    try:
        return dtypes.promote(first, second, "")
    except DTypeError:
        pass
    if BOOL in (first, second):
        raise TypeTrouble("write int(...) or float(...) around the bool")
    raise TypeTrouble("write gl.i32(...) or gl.u32(...) around one of them")


def _meet_vectors(first: DType | Vector, second: DType | Vector) -> Type:
    sizes = {each.size for each in (first, second) if isinstance(each, Vector)}
    scalars = [each.scalar if isinstance(each, Vector) else each for each in (first, second)]
    if len(sizes) > 1:
        raise TypeTrouble("vectors of different lengths")
    met = meet(scalars[0], scalars[1])
    assert not isinstance(met, (Vector, Pair))
    if any(isinstance(e, Vector) and e.scalar is not met for e in (first, second)):
        raise TypeTrouble("make the vector of the other type first")
    return Vector(met, sizes.pop())


def meet_number(kind: Type, value: object) -> Type:
    """The type in which a typed value meets a Python number, which is weak.

    Raises:
        TypeTrouble: The type has no room for it.
    """
    if isinstance(kind, Pair):
        raise TypeTrouble("several values at once")
    if isinstance(kind, Vector):
        meet_number(kind.scalar, value)
        return kind
    if isinstance(value, bool) != (kind is BOOL):
        raise TypeTrouble("write int(...) or float(...) around the bool")
    if isinstance(value, float):
        return kind if kind.kind in {"float", "bool"} else F32
    if kind is U32 and isinstance(value, int) and value < 0:
        raise TypeTrouble("u32 has no negative numbers; write gl.i32(...) around it")
    return kind


def literal(value: Any, kind: DType, line: int) -> tree.Lit:  # noqa: ANN401 - a Python number
    """A number of a type.

    Raises:
        TypeTrouble: The type has no room for it.
    """
    if kind is BOOL:
        return tree.Lit(kind, line, bool(value))
    if kind in (F32, F16):
        if isinstance(value, int) and abs(value) > 1 << 128:
            value = math.copysign(math.inf, value)
        return tree.Lit(kind, line, dtypes.rounded(float(value), kind))
    if isinstance(value, float):
        raise TypeTrouble(f"{value!r} is a float; write int({value!r})")
    low, high = kind.range
    if not low <= value <= high:
        raise TypeTrouble(f"{value} is outside of {kind.name}, {low} to {high}")
    return tree.Lit(kind, line, int(value))


def wrapped(value: Any, kind: DType, line: int) -> tree.Lit:  # noqa: ANN401 - a Python number
    """A number cast to a type, as `gl.u32(-1)` is."""
    if kind in (I32, U32):
        if isinstance(value, float):
            low, high = kind.range
            value = (
                0
                if math.isnan(value)
                else max(low, min(high, math.trunc(max(-1e300, min(1e300, value)))))
            )
        value = int(value) & 0xFFFFFFFF
        if kind is I32 and value > 0x7FFFFFFF:
            value -= 1 << 32
    return literal(value, kind, line)
