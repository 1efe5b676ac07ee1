"""Values of the host: what arrays are made of, and what reads give back."""

from __future__ import annotations

import struct
import sys
from array import array
from importlib.util import find_spec
from math import prod
from typing import TYPE_CHECKING, Any, Final

from aiogpu import dtypes, shapes
from aiogpu.errors import DTypeError, IntegerOverflowError, ShapeError, UsageError
from aiogpu.gpu import browser
from aiogpu.runtime.transfer import HostData

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiogpu.dtypes import DType
    from aiogpu.shapes import Shape

# What the buffer protocol calls the elements, and what they become here.
_FORMATS: Final = {
    "?": dtypes.bool_,
    "b": dtypes.int8, "B": dtypes.uint8, "c": dtypes.uint8,
    "h": dtypes.int16, "H": dtypes.uint16,
    "i": dtypes.int32, "I": dtypes.uint32, "l": dtypes.int32, "L": dtypes.uint32,
    "q": dtypes.int32, "Q": dtypes.uint32, "n": dtypes.int32, "N": dtypes.uint32,
    "e": dtypes.float16, "f": dtypes.float32, "d": dtypes.float32,
    "Zf": dtypes.complex64, "Zd": dtypes.complex64,
}  # fmt: skip
# What NumPy's kinds become where the dtype itself is not among ours.
_KINDS: Final = {
    "f": dtypes.float32, "i": dtypes.int32, "u": dtypes.uint32, "c": dtypes.complex64,
}  # fmt: skip


def capture(given: object, dtype: DType | None, operation: str) -> tuple[HostData, Shape, DType]:
    """A private copy of ``given`` as host data, with its shape and dtype.

    Raises:
        UsageError: Nothing that an array can be made of.
        ShapeError: Nested lists of uneven lengths, or more than 8 axes.
        DTypeError: Elements of a dtype that has no counterpart here; complex data as real numbers.
        IntegerOverflowError: An integer that the dtype cannot hold; the message names it.
    """
    if (found := browser.capture(given)) is not None:
        data, name, nelems = found
        native = dtypes.BY_NAME.get(name)
        if native is not None and dtype in {None, native}:
            return HostData(data, nelems * native.itemsize), (nelems,), native
        given = data.to_memoryview()
    if isinstance(given, (bool, int, float, complex, list, tuple)):
        return _from_numbers(given, dtype, operation)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(given, (numpy.ndarray, numpy.generic)):
        return _from_numpy(numpy.asarray(given), dtype, operation)
    try:
        view = memoryview(given)  # type: ignore[arg-type]
    except TypeError:
        raise UsageError(
            f"{operation}: {type(given).__name__}: takes numbers, nested lists, anything with the "
            "buffer protocol, and JS typed arrays"
        ) from None
    return _from_view(view, dtype, operation)


def capture_bytes(given: object, operation: str) -> HostData:
    """A private copy of the bytes of a buffer or a JS typed array, as they lie.

    Raises:
        UsageError: Neither of the two.
    """
    if (found := browser.capture(given)) is not None:
        data, _, _ = found
        return HostData(data, int(data.byteLength))
    try:
        copied = memoryview(given).tobytes(order="C")  # type: ignore[arg-type]
    except TypeError:
        raise UsageError(
            f"{operation}: {type(given).__name__}: takes a buffer or a JS typed array"
        ) from None
    return HostData(copied, len(copied))


def _from_numpy(values: Any, dtype: DType | None, operation: str) -> tuple[HostData, Shape, DType]:  # noqa: ANN401 - numpy.ndarray
    shape = shapes.check(values.shape, operation)
    kind = values.dtype.kind
    native = dtypes.BY_NAME.get(values.dtype.name) or _KINDS.get(kind)
    if native is None:
        raise DTypeError(
            f"{operation}: dtype {values.dtype}: there are {', '.join(dtypes.BY_NAME)}"
        )
    wanted = dtype or native
    dtypes.check_cast(native, wanted, operation)
    is_same = values.dtype.name == wanted.name
    if wanted.kind in {"int", "uint"} and kind in "iu" and values.size and not is_same:
        for value in (int(values.min()), int(values.max())):
            _check_data(value, wanted, str(values.dtype), operation)
    numpy = sys.modules["numpy"]
    if wanted.kind in {"int", "uint"} and kind == "f":
        values = _truncate(numpy, values, wanted)
    with numpy.errstate(all="ignore"):
        copied = numpy.array(values, dtype=wanted.name, order="C", copy=True)
    # A zero-size array has no buffer to speak of.
    data = memoryview(copied.reshape(-1).view("u1")) if copied.size else memoryview(b"")
    return HostData(data, copied.nbytes), shape, wanted


def _truncate(numpy: Any, values: Any, wanted: DType) -> Any:  # noqa: ANN401 - NumPy and its arrays
    """Floats to integers as the GPU does it: truncate, saturate at the ends, NaN gives 0."""
    low, high = wanted.range
    return numpy.clip(numpy.nan_to_num(numpy.trunc(values.astype("f8")), nan=0.0), low, high)


def _check_data(value: int, dtype: DType, given: str, operation: str) -> None:
    low, high = dtype.range
    if not low <= value <= high:
        raise IntegerOverflowError(
            f"{operation}: {given} data: {value} does not fit {dtype.name}, {low} to {high}"
        )


def _from_view(
    view: memoryview, dtype: DType | None, operation: str
) -> tuple[HostData, Shape, DType]:
    order = view.format[0] if view.format[:1] in {"<", ">", "=", "@", "!"} else ""
    form = view.format.removeprefix(order)
    native = _FORMATS.get(form)
    if native is None:
        raise DTypeError(f"{operation}: buffer format {view.format!r}: no dtype for it")
    shape = shapes.check(view.shape or (), operation)
    if form == native.format and dtype in {None, native} and order in {"", "<", "=", "@"}:
        data = view.tobytes(order="C")
        return HostData(data, len(data)), shape, native
    data = view.tobytes(order="C")
    return _from_bytes(data, form, order, shape, dtype or native, operation)


def _from_bytes(
    data: bytes, form: str, order: str, shape: Shape, dtype: DType, operation: str
) -> tuple[HostData, Shape, DType]:
    """Elements of a ``struct`` format and byte order, one by one."""
    part = form.removeprefix("Z")
    code = f"{order}{'B' if part == 'c' else part}"
    numbers: list[Any] = [number for (number,) in struct.iter_unpack(code, data)]
    if form != part:
        dtypes.check_cast(dtypes.complex64, dtype, operation)
        numbers = [complex(*pair) for pair in zip(numbers[::2], numbers[1::2], strict=True)]
    return _pack(numbers, shape, dtype, form, operation)


def _from_numbers(
    given: object, dtype: DType | None, operation: str
) -> tuple[HostData, Shape, DType]:
    shape, values = _flatten(given, operation)
    if dtype is None:
        if values and all(isinstance(value, bool) for value in values):
            dtype = dtypes.bool_
        elif values and all(isinstance(value, int) for value in values):
            dtype = dtypes.INT
        else:
            dtype = dtypes.COMPLEX if _has_complex(values) else dtypes.FLOAT
    elif _has_complex(values):
        dtypes.check_cast(dtypes.COMPLEX, dtype, operation)
    return _pack(values, shapes.check(shape, operation), dtype, "Python", operation)


def _has_complex(values: list[Any]) -> bool:
    return any(isinstance(value, complex) for value in values)


def _flatten(given: object, operation: str) -> tuple[Shape, list[Any]]:
    """Shape and elements of nested lists, level by level."""
    shape: list[int] = []
    level: Sequence[Any] = [given]
    while any(isinstance(item, (list, tuple)) for item in level):
        lengths = {len(item) if isinstance(item, (list, tuple)) else -1 for item in level}
        if len(lengths) != 1:
            raise ShapeError(f"{operation}: nested lists: uneven lengths at axis {len(shape)}")
        shape.append(lengths.pop())
        level = [inner for item in level for inner in item]
    if not level and not shape:
        shape = [0]
    numpy = sys.modules.get("numpy")
    values = [
        item.item() if numpy is not None and isinstance(item, numpy.generic) else item
        for item in level
    ]
    for item in values:
        if not isinstance(item, (bool, int, float, complex)):
            raise UsageError(f"{operation}: {type(item).__name__} in a list: takes Python numbers")
    return tuple(shape), values


def _pack(
    values: list[Any], shape: Shape, dtype: DType, given: str, operation: str
) -> tuple[HostData, Shape, DType]:
    if dtype.kind == "bool":
        data = bytes(map(bool, values))
    elif dtype.kind == "complex":
        parts = [part for number in map(complex, values) for part in (number.real, number.imag)]
        data = array("f", [dtypes.rounded(part, dtypes.float32) for part in parts]).tobytes()
    elif dtype.kind == "float":  # by struct: array knows no float16
        rounded = [dtypes.rounded(value, dtype) for value in values]
        data = struct.pack(f"<{len(rounded)}{dtype.format}", *rounded)
    else:
        data = array(
            dtype.format, [_integer(value, dtype, given, operation) for value in values]
        ).tobytes()
    assert len(data) == prod(shape) * dtype.itemsize
    return HostData(data, len(data)), shape, dtype


def _integer(value: float, dtype: DType, given: str, operation: str) -> int:
    if isinstance(value, float):
        low, high = dtype.range
        return 0 if value != value else int(max(low, min(high, value)))
    _check_data(int(value), dtype, given, operation)
    return int(value)


def as_numpy(data: memoryview, shape: Shape, dtype: DType) -> Any:  # noqa: ANN401 - numpy.ndarray
    """Bytes as a NumPy array that owns them."""
    try:
        import numpy
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "numpy(): NumPy is not installed; use `await x.data()` or `await x.tolist()`"
        ) from error
    return numpy.frombuffer(data, dtype=dtype.name).reshape(shape)


def elements(data: memoryview, dtype: DType) -> Sequence[Any]:
    """Bytes as a flat sequence of Python numbers: a memoryview where it knows the dtype."""
    raw: Any = data  # the overloads of cast() know only literal formats
    if dtype.kind == "complex":
        parts = raw.cast("f").tolist()
        return [complex(*pair) for pair in zip(parts[::2], parts[1::2], strict=True)]
    if dtype is dtypes.float16:  # memoryview knows it from Python 3.12 on
        return struct.unpack(f"<{len(data) // 2}e", data)
    flat: memoryview[Any] = raw.cast(dtype.format)
    return flat


def as_memoryview(data: memoryview, shape: Shape, dtype: DType) -> memoryview[Any]:
    """Bytes as a memoryview of elements; flat where a size is 0, which it refuses in a shape.

    No memoryview has complex elements: complex64 gives float32 with an axis of 2 appended, real and
    imaginary part.

    Raises:
        UsageError: float16 before Python 3.12, whose memoryview does not know it.
    """
    raw: Any = data
    form = dtype.format.removeprefix("Z")
    whole = (*shape, 2) if dtype.kind == "complex" else shape
    try:
        shaped: memoryview[Any] = raw.cast(form) if 0 in whole else raw.cast(form, whole)
    except ValueError as error:
        raise UsageError(
            f"data: {dtype.name}: no memoryview of it before Python 3.12; use tolist() or numpy()"
        ) from error
    return shaped


def as_list(data: memoryview, shape: Shape, dtype: DType) -> Any:  # noqa: ANN401 - nested lists
    """Bytes as nested lists of Python numbers; a number for shape ()."""
    values = list(elements(data, dtype))
    if not shape:
        return values[0]
    for axis in range(len(shape) - 1, 0, -1):
        size = shape[axis]
        count = prod(shape[:axis])
        values = [values[i * size : (i + 1) * size] for i in range(count)]
    return values


def has_numpy() -> bool:
    """Whether NumPy can be imported."""
    return "numpy" in sys.modules or find_spec("numpy") is not None
