"""The dtypes, how they promote, and how Python values join them."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from math import inf
from typing import Final, Literal

from aiogpu.errors import DTypeError, IntegerOverflowError

Kind = Literal["bool", "int", "uint", "float", "complex"]
Scalar = bool | int | float | complex


@dataclass(frozen=True, eq=False, slots=True)
class DType:
    """A dtype: one object each, compared by identity.

    Attributes:
        name: The Array API's name.
        kind: ``bool``, ``int`` (signed), ``uint``, ``float`` or ``complex``.
        itemsize: Width of a stored element in bytes. Elements under 4 bytes are packed in words.
        compute: The WGSL type in which a shader computes with an element.
        format: What the buffer protocol calls the elements: ``struct``'s character, or ``Zf``.
    """

    name: str
    kind: Kind
    itemsize: int
    compute: Literal["bool", "i32", "u32", "f32", "vec2f"]
    format: str

    def __repr__(self) -> str:
        return f"aiogpu.{self.name}"

    @property
    def lanes(self) -> int:
        """Elements in one 4-byte word, at least 1."""
        return max(1, 4 // self.itemsize)

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
int8: Final = DType("int8", "int", 1, "i32", "b")
int16: Final = DType("int16", "int", 2, "i32", "h")
int32: Final = DType("int32", "int", 4, "i32", "i")
uint8: Final = DType("uint8", "uint", 1, "u32", "B")
uint16: Final = DType("uint16", "uint", 2, "u32", "H")
uint32: Final = DType("uint32", "uint", 4, "u32", "I")
float16: Final = DType("float16", "float", 2, "f32", "e")
float32: Final = DType("float32", "float", 4, "f32", "f")
complex64: Final = DType("complex64", "complex", 8, "vec2f", "Zf")

# Only stored, by `aiogpu.backend`: widened to float32 when it is read.
bfloat16: Final = DType("bfloat16", "float", 2, "f32", "H")

ALL: Final = (
    bool_, int8, int16, int32, uint8, uint16, uint32, float16, float32, complex64,
)  # fmt: skip
BY_NAME: Final = {dtype.name: dtype for dtype in ALL}
INT: Final = int32  # the default integer
FLOAT: Final = float32  # the default floating-point dtype

COMPLEX: Final = complex64  # the default complex dtype

_SPELLINGS: Final[dict[object, DType]] = {
    bool: bool_, int: INT, float: FLOAT, complex: COMPLEX, "bool_": bool_,
}  # fmt: skip


# Dtypes of NumPy that WebGPU has not, since it computes in 32 bits at most; what to take instead.
WIDE: Final = {
    "float64": "float32", "int64": "int32", "uint64": "uint32", "complex128": "complex64",
}  # fmt: skip


def as_dtype(given: object, operation: str) -> DType:
    """The dtype that ``given`` names: ours, its name, a NumPy dtype, or a Python type of numbers.

    Raises:
        DTypeError: There is no such dtype here (float64, int64 and complex128 among them).
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
    if wanted in WIDE:
        raise DTypeError(
            f"{operation}: dtype {wanted}: not available: WebGPU computes in 32 bits at most: "
            f"use {WIDE[wanted]}"
        )
    raise DTypeError(f"{operation}: dtype {wanted}: not available; there are {', '.join(BY_NAME)}")


def _meet(first: DType, second: DType) -> DType | None:
    """Where two dtypes meet, by the Array API's table among ours; None where it has no entry.

    The standard leaves integers with floats open; they meet as in NumPy, but within 32 bits.
    """
    kinds = {first.kind, second.kind}
    if "bool" in kinds:
        return first if first is second else None
    if "complex" in kinds:
        return complex64
    if len(kinds) == 1:
        return first if first.itemsize >= second.itemsize else second
    if "float" in kinds:
        number, other = (first, second) if first.kind == "float" else (second, first)
        return float16 if number is float16 and other.itemsize == 1 else float32
    signed, unsigned = (first, second) if first.kind == "int" else (second, first)
    return next(
        (
            wide
            for wide in (int8, int16, int32)
            if wide.itemsize >= signed.itemsize and wide.itemsize > unsigned.itemsize
        ),
        None,
    )


_PROMOTION: Final = {(one, two): _meet(one, two) for one in ALL for two in ALL}


def promote(first: DType, second: DType, operation: str) -> DType:
    """The dtype in which two arrays meet.

    Raises:
        DTypeError: The two do not promote: bool with a number, uint32 with a signed integer.
    """
    if first is second:
        return first
    met = _PROMOTION.get((first, second))
    if met is None:
        raise DTypeError(
            f"{operation}: {first.name} and {second.name}: do not promote; cast one with astype"
        )
    return met


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
        if dtype.kind in {"int", "uint"}:
            check_range(value, dtype, operation)
        return dtype
    if isinstance(value, complex):
        return COMPLEX
    return FLOAT if dtype.kind in {"int", "uint"} else dtype


def number(given: object, operation: str) -> Scalar:
    """A number, Python's or NumPy's, as Python's.

    Raises:
        DTypeError: Something else.
    """
    if isinstance(given, (bool, int, float, complex)):
        return given
    value = given.item() if hasattr(given, "item") and getattr(given, "shape", None) == () else None
    if not isinstance(value, (bool, int, float, complex)):
        raise DTypeError(f"{operation}: {type(given).__name__}: must be a number")
    return value


def scalar_dtype(value: Scalar) -> DType:
    """The default dtype of a Python number."""
    if isinstance(value, bool):
        return bool_
    return INT if isinstance(value, int) else FLOAT if isinstance(value, float) else COMPLEX


def check_range(value: int, dtype: DType, operation: str) -> None:
    """Raise IntegerOverflowError when an integer ``dtype`` cannot hold ``value``."""
    low, high = dtype.range
    if not low <= value <= high:
        raise IntegerOverflowError(
            f"{operation}: {value}: outside of {dtype.name}, {low} to {high}"
        )


def check_cast(given: DType, wanted: DType, operation: str) -> None:
    """Raise DTypeError for a cast that would lose imaginary parts: complex to a real number."""
    if given.kind == "complex" and wanted.kind not in {"complex", "bool"}:
        raise DTypeError(
            f"{operation}: {given.name} to {wanted.name}: would lose the imaginary part; "
            "take real(x), imag(x) or abs(x)"
        )


def rounded(value: float, dtype: DType) -> float:
    """A Python number in the precision of a float dtype: to nearest even, infinite beyond it."""
    form = "<e" if dtype is float16 else "<f"
    try:
        number: float = struct.unpack(form, struct.pack(form, float(value)))[0]
    except OverflowError:
        return inf if value > 0 else -inf
    return number


def words(value: Scalar, dtype: DType) -> tuple[int, ...]:
    """The 32-bit words, as unsigned integers, of ``value`` in the compute type of ``dtype``.

    Two for complex64, the real part's and the imaginary part's; else one. float16 is computed with
    in float32: the word is that of the nearest float16.

    Raises:
        DTypeError: A complex number, and the dtype is a real one.
    """
    if isinstance(value, complex):
        check_cast(COMPLEX, dtype, "number")
    if dtype.kind == "complex":
        number = value if isinstance(value, complex) else complex(rounded(value, float32))
        return word(number.real, float32), word(number.imag, float32)
    if dtype.kind == "float":
        assert not isinstance(value, complex)
        return (int.from_bytes(struct.pack("<f", rounded(value, dtype)), "little"),)
    if dtype.kind == "bool":
        return (int(bool(value)),)
    assert not isinstance(value, complex)
    return (int(value) & 0xFFFFFFFF,)


def word(value: Scalar, dtype: DType) -> int:
    """`words` of a dtype that has only one."""
    (only,) = words(value, dtype)
    return only
