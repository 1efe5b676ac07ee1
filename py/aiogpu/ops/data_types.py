"""Data type functions of the Array API standard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aiogpu import dtypes
from aiogpu.array import Array
from aiogpu.errors import DTypeError, UsageError

if TYPE_CHECKING:
    from aiogpu.dtypes import DType, Scalar

_KINDS: Final = {
    "bool": ("bool",),
    "signed integer": ("int",),
    "unsigned integer": ("uint",),
    "integral": ("int", "uint"),
    "real floating": ("float",),
    "complex floating": ("complex",),
    "numeric": ("int", "uint", "float", "complex"),
}


@dataclass(frozen=True, slots=True)
class FInfo:
    """What a floating-point dtype can hold; of complex64, what its parts can.

    Attributes:
        bits: Width of a number.
        eps: Distance from 1 to the next number.
        max: The largest finite number.
        min: The smallest, which is ``-max``.
        smallest_normal: The smallest positive number with all its digits; adapters may take what
            is smaller for 0, though not in float16.
        dtype: The real dtype.
    """

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


@dataclass(frozen=True, slots=True)
class IInfo:
    """What an integer dtype can hold.

    Attributes:
        bits: Width of a number.
        max: The largest number.
        min: The smallest.
        dtype: The dtype.
    """

    bits: int
    max: int
    min: int
    dtype: DType


def _of(given: object, operation: str) -> DType:
    return given.dtype if isinstance(given, Array) else dtypes.as_dtype(given, operation)


def astype(x: Array, dtype: object, /, *, copy: bool = True, device: object = None) -> Array:
    """``x`` in another dtype.

    Floats truncate and saturate to integers, NaN gives 0; integers wrap; true is what is not 0.

    Args:
        x: The array.
        dtype: The dtype.
        copy: Whether an array that has the dtype is copied too; values are not changed in place,
            so that only memory is at stake.
        device: None, or "webgpu".

    Raises:
        DTypeError: There is no such dtype, or ``x`` is complex and it is a real one.
        UsageError: Another device.
    """
    result = (x if device is None else x.to_device(device)).astype(dtype)
    return result.copy() if copy and result.dtype is x.dtype else result


def finfo(type: object, /) -> FInfo:
    """The limits of a floating-point dtype, or of that of an array.

    Raises:
        DTypeError: Not float16, float32 or complex64.
    """
    given = _of(type, "finfo")
    if given.kind not in {"float", "complex"}:
        raise DTypeError(f"finfo: {given.name}: takes float16, float32 and complex64; use iinfo")
    dtype = dtypes.float32 if given.kind == "complex" else given
    digits, largest = (10, 15) if dtype is dtypes.float16 else (23, 127)
    most = (2 - 2.0**-digits) * 2.0**largest
    return FInfo(8 * dtype.itemsize, 2.0**-digits, most, -most, 2.0 ** (1 - largest), dtype)


def iinfo(type: object, /) -> IInfo:
    """The limits of an integer dtype, or of that of an array.

    Raises:
        DTypeError: Not an integer dtype.
    """
    dtype = _of(type, "iinfo")
    if dtype.kind not in {"int", "uint"}:
        raise DTypeError(f"iinfo: {dtype.name}: takes integer dtypes; use finfo")
    low, high = dtype.range
    return IInfo(8 * dtype.itemsize, high, low, dtype)


def isdtype(dtype: object, kind: object) -> bool:
    """Whether a dtype is of a kind.

    Args:
        dtype: A dtype, as anything that names one.
        kind: A dtype; or ``"bool"``, ``"signed integer"``, ``"unsigned integer"``, ``"integral"``,
            ``"real floating"``, ``"complex floating"`` or ``"numeric"``; or a tuple of these, any
            of which will do.

    Raises:
        DTypeError: ``dtype`` or ``kind`` is nothing of that.
    """
    given = dtypes.as_dtype(dtype, "isdtype")
    kinds = kind if isinstance(kind, tuple) else (kind,)
    found = [_is_kind(given, each) for each in kinds]  # all of them, lest a wrong one pass
    return True in found


def _is_kind(dtype: DType, kind: object) -> bool:
    if isinstance(kind, str) and kind in _KINDS:
        return dtype.kind in _KINDS[kind]
    return dtype is dtypes.as_dtype(kind, "isdtype")


def result_type(*arrays_and_dtypes: object) -> DType:
    """The dtype in which arrays, dtypes and Python numbers meet; the numbers are weak.

    Raises:
        UsageError: Nothing is given.
        DTypeError: They do not promote, or one of them is no dtype.
        IntegerOverflowError: A Python integer does not fit.
    """
    if not arrays_and_dtypes:
        raise UsageError("result_type: nothing given: takes at least one array, dtype or number")
    numbers: list[Scalar] = []
    meeting: DType | None = None
    for given in arrays_and_dtypes:
        if isinstance(given, (bool, int, float, complex)):
            numbers.append(given)
            continue
        dtype = _of(given, "result_type")
        meeting = dtype if meeting is None else dtypes.promote(meeting, dtype, "result_type")
    for number in numbers:
        meeting = (
            dtypes.scalar_dtype(number)
            if meeting is None
            else dtypes.promote_scalar(meeting, number, "result_type")
        )
    assert meeting is not None
    return meeting


def can_cast(from_: object, to: object, /) -> bool:
    """Whether promotion takes a dtype, or an array's, to another.

    Stricter than `astype`, which casts whatever loses no imaginary part: int32 can be cast to
    float32 and complex64, but not to int8, and bool to nothing else.
    """
    given, wanted = _of(from_, "can_cast"), dtypes.as_dtype(to, "can_cast")
    try:
        return dtypes.promote(given, wanted, "can_cast") is wanted
    except DTypeError:
        return False
