"""The dtypes, how they promote, and how Python values join them."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final, Literal

from aiogpu.errors import DTypeError, IntegerOverflowError

Kind = Literal["bool", "int", "uint", "float"]
Scalar = bool | int | float


@dataclass(frozen=True, eq=False, slots=True)
class DType:
    """A dtype: one object each, compared by identity.

    Attributes:
        name: The Array API's name.
        kind: ``bool``, ``int`` (signed), ``uint`` or ``float``.
        itemsize: Width of a stored element in bytes. Elements under 4 bytes are packed in words.
        compute: The WGSL type in which a shader computes with an element.
        format: The buffer protocol's (and ``struct``'s) character.
    """

    name: str
    kind: Kind
    itemsize: int
    compute: Literal["bool", "i32", "u32", "f32"]
    format: str

    def __repr__(self) -> str:
        return f"aiogpu.{self.name}"

    @property
    def lanes(self) -> int:
        """Elements in one 4-byte word."""
        return 4 // self.itemsize

    @property
    def is_packed(self) -> bool:
        """Whether several elements share a word."""
        return self.itemsize < 4

    @property
    def range(self) -> tuple[int, int]:
        """Smallest and largest value of an integer dtype."""
        bits = 8 * self.itemsize
        return (
            (-(1 << bits - 1), (1 << bits - 1) - 1) if self.kind == "int" else (0, (1 << bits) - 1)
        )


bool_: Final = DType("bool", "bool", 1, "bool", "?")
uint8: Final = DType("uint8", "uint", 1, "u32", "B")
int32: Final = DType("int32", "int", 4, "i32", "i")
uint32: Final = DType("uint32", "uint", 4, "u32", "I")
float32: Final = DType("float32", "float", 4, "f32", "f")

# Only stored, by `aiogpu.backend`: they are widened to float32 when they are read.
float16: Final = DType("float16", "float", 2, "f32", "e")
bfloat16: Final = DType("bfloat16", "float", 2, "f32", "H")

ALL: Final = (bool_, uint8, int32, uint32, float32)
BY_NAME: Final = {dtype.name: dtype for dtype in ALL}
INT: Final = int32  # the default integer
FLOAT: Final = float32  # the default floating-point dtype

# The Array API's table among our dtypes; an integer with a float gives the float.
_PROMOTION: Final = {
    frozenset((uint8, int32)): int32,
    frozenset((uint8, uint32)): uint32,
    frozenset((uint8, float32)): float32,
    frozenset((int32, float32)): float32,
    frozenset((uint32, float32)): float32,
}
_SPELLINGS: Final[dict[object, DType]] = {bool: bool_, int: int32, float: float32, "bool_": bool_}


def as_dtype(given: object, operation: str) -> DType:
    """The dtype that ``given`` names: ours, its name, a NumPy dtype, ``bool``, ``int``, ``float``.

    Raises:
        DTypeError: There is no such dtype here (float64 and int64 among them).
    """
    if isinstance(given, DType):
        return given
    if isinstance(given, (str, type)) and given in _SPELLINGS:
        return _SPELLINGS[given]
    name = (
        given
        if isinstance(given, str)
        else getattr(given, "name", None) or getattr(given, "__name__", "")
    )
    if (dtype := BY_NAME.get(str(name))) is not None:
        return dtype
    wanted = str(name) or repr(given)
    raise DTypeError(f"{operation}: dtype {wanted}: not available; there are {', '.join(BY_NAME)}")


def promote(first: DType, second: DType, operation: str) -> DType:
    """The dtype in which two arrays meet.

    Raises:
        DTypeError: The two do not promote: bool with a number, int32 with uint32.
    """
    if first is second:
        return first
    try:
        return _PROMOTION[frozenset((first, second))]
    except KeyError:
        raise DTypeError(
            f"{operation}: {first.name} and {second.name}: do not promote; cast one with astype"
        ) from None


def promote_scalar(dtype: DType, value: Scalar, operation: str) -> DType:
    """The dtype in which an array of ``dtype`` meets a Python number, which is weak.

    Raises:
        DTypeError: A bool array with a number.
        IntegerOverflowError: An integer that ``dtype`` cannot hold.
    """
    if isinstance(value, bool):
        return dtype
    if dtype is bool_:
        raise DTypeError(
            f"{operation}: bool and {value!r}: a bool array with a number; cast with astype"
        )
    if isinstance(value, int):
        if dtype.kind != "float":
            check_range(value, dtype, operation)
        return dtype
    return dtype if dtype.kind == "float" else FLOAT


def scalar_dtype(value: Scalar) -> DType:
    """The default dtype of a Python number."""
    return bool_ if isinstance(value, bool) else INT if isinstance(value, int) else FLOAT


def check_range(value: int, dtype: DType, operation: str) -> None:
    """Raise IntegerOverflowError when an integer ``dtype`` cannot hold ``value``."""
    low, high = dtype.range
    if not low <= value <= high:
        raise IntegerOverflowError(
            f"{operation}: {value}: outside of {dtype.name}, {low} to {high}"
        )


def word(value: Scalar, dtype: DType) -> int:
    """The 32 bits, as an unsigned integer, of ``value`` in the compute type of ``dtype``."""
    if dtype.kind == "float":
        try:
            return int.from_bytes(struct.pack("<f", value), "little")
        except OverflowError:  # a finite double beyond float32
            return 0x7F800000 if value > 0 else 0xFF800000
    return int(value) & 0xFFFFFFFF


def words(value: Scalar, dtype: DType) -> tuple[int, ...]:
    """The same for dtypes of any width: a word, or two."""
    return (word(value, dtype),)
