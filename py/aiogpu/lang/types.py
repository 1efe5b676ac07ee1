"""The types of values in kernels: scalars are dtypes, and there are vectors and tuples of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from aiogpu import dtypes
from aiogpu.dtypes import DType


@dataclass(frozen=True, slots=True)
class Vector:
    """Two to four numbers, computed with side by side."""

    scalar: DType
    size: int


@dataclass(frozen=True, slots=True)
class Pair:
    """What a function gives that returns several values."""

    parts: tuple[Type, ...]


Type = DType | Vector | Pair

F32: Final = dtypes.float32
F16: Final = dtypes.float16
I32: Final = dtypes.int32
U32: Final = dtypes.uint32
BOOL: Final = dtypes.bool_
SCALARS: Final = (F32, F16, I32, U32, BOOL)
_SHORT: Final = {F32: "f32", F16: "f16", I32: "i32", U32: "u32", BOOL: "bool"}
_PYTHON: Final[dict[object, DType]] = {float: F32, int: I32, bool: BOOL}


def short(kind: Type | None) -> str:
    """A type as a message says it."""
    if kind is None:
        return "nothing"
    if isinstance(kind, DType):
        return _SHORT.get(kind, kind.name)
    if isinstance(kind, Vector):
        return f"vec{kind.size}[{short(kind.scalar)}]"
    return f"({', '.join(map(short, kind.parts))})"


def as_element(given: object) -> DType | None:
    """The dtype that an annotation or an argument names; None where it names none."""
    if isinstance(given, DType):
        return given
    return _PYTHON.get(given) if isinstance(given, type) else None


def in_registers(dtype: DType) -> DType:
    """The type in which an element is computed with: narrow integers widen."""
    if dtype.kind == "int":
        return I32
    return U32 if dtype.kind == "uint" else dtype


def scalar_of(kind: Type) -> DType:
    """The scalar of a scalar or vector."""
    assert not isinstance(kind, Pair)
    return kind.scalar if isinstance(kind, Vector) else kind


def wgsl(kind: Type) -> str:
    """A type in WGSL; float16 is computed with in float32 and rounded after each operation."""
    if isinstance(kind, Vector):
        return f"vec{kind.size}<{kind.scalar.compute}>"
    if isinstance(kind, Pair):
        return "Pair_" + "_".join(wgsl(part).replace("<", "_").strip(">") for part in kind.parts)
    return kind.compute
