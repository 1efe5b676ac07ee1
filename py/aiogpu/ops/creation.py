"""Creation functions of the Array API standard, and `array`."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from aiogpu import dtypes, shapes
from aiogpu.array import Array, as_node
from aiogpu.errors import DTypeError, UsageError
from aiogpu.graph import build, table
from aiogpu.graph.node import Node
from aiogpu.ops.inspection import check_device
from aiogpu.runtime.transfer import HostData

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiogpu.dtypes import DType, Scalar


def _dtype(dtype: object, operation: str, device: object = None) -> DType | None:
    check_device(device, operation)
    return None if dtype is None else dtypes.as_dtype(dtype, operation)


def array(obj: object, /, dtype: object = None) -> Array:
    """A new array of a copy of ``obj``.

    Args:
        obj: A Python number, nested lists, anything with the buffer protocol (NumPy arrays), a JS
            typed array, or an array.
        dtype: The dtype; that of ``obj`` by default. float64 data becomes float32, complex128 data
            complex64; int64 data becomes int32 when every value fits.

    Raises:
        IntegerOverflowError: An integer does not fit; the message names it and the dtype.
        DTypeError: There is no such dtype here, or complex data would lose its imaginary part.
        ShapeError: Nested lists are uneven, or there are more than 8 axes.
        UsageError: Nothing that an array can be made of.
    """
    return Array(as_node(obj, _dtype(dtype, "array"), "array"))


def asarray(
    obj: object,
    /,
    dtype: object = None,
    *,
    device: object = None,
    copy: bool | None = None,
    keep_host: bool = False,
) -> Array:
    """The same as `array`, as the standard spells it. Host data is always copied.

    Args:
        obj: As for `array`.
        dtype: As for `array`.
        device: None, or "webgpu".
        copy: False is refused for host data, which must be copied to the GPU.
        keep_host: Keep the copy on the host, so that the array survives the loss of its device.

    Raises:
        UsageError: ``copy=False`` with host data.
        IntegerOverflowError: An integer does not fit.
        DTypeError: There is no such dtype here.
    """
    if copy is False and not isinstance(obj, Array):
        raise UsageError("asarray: copy=False: host data must be copied to the GPU")
    node = as_node(obj, _dtype(dtype, "asarray", device), "asarray")
    if keep_host and isinstance(node.value, HostData):
        node.value.is_kept = True
    return Array(node)


def full(
    shape: int | Sequence[int], fill_value: Scalar, *, dtype: object = None, device: object = None
) -> Array:
    """An array of one number; takes no memory before it is read or assigned to.

    Args:
        shape: Sizes of the axes.
        fill_value: A number.
        device: None, or "webgpu".
        dtype: By default that of a NumPy number, else bool, int32, float32 or complex64, as the
            number is.

    Raises:
        IntegerOverflowError: The number does not fit the dtype.
        DTypeError: A float in an integer array, or a complex number in a real one.
    """
    wanted = _dtype(dtype, "full", device) or dtypes.BY_NAME.get(
        str(getattr(fill_value, "dtype", ""))  # NumPy's numbers have one
    )
    fill_value = dtypes.number(fill_value, "full")
    wanted = wanted or dtypes.scalar_dtype(fill_value)
    if isinstance(fill_value, complex):
        dtypes.check_cast(dtypes.COMPLEX, wanted, "full")
    if wanted.kind in {"int", "uint"} and isinstance(fill_value, float):
        raise DTypeError(f"full: {fill_value!r}: a float in an {wanted.name} array")
    return Array(build.constant(fill_value, wanted, shapes.check(shape, "full")))


def zeros(shape: int | Sequence[int], *, dtype: object = None, device: object = None) -> Array:
    """An array of zeros; float32 by default."""
    return full(shape, 0, dtype=dtypes.FLOAT if dtype is None else dtype, device=device)


def ones(shape: int | Sequence[int], *, dtype: object = None, device: object = None) -> Array:
    """An array of ones; float32 by default."""
    return full(shape, 1, dtype=dtypes.FLOAT if dtype is None else dtype, device=device)


def empty(shape: int | Sequence[int], *, dtype: object = None, device: object = None) -> Array:
    """An array whose values are not specified (zeros, as it happens); float32 by default."""
    return zeros(shape, dtype=dtype, device=device)


def full_like(
    x: Array, /, fill_value: Scalar, *, dtype: object = None, device: object = None
) -> Array:
    """`full` of the shape, and by default the dtype, of ``x``."""
    return full(x.shape, fill_value, dtype=x.dtype if dtype is None else dtype, device=device)


def zeros_like(x: Array, /, *, dtype: object = None, device: object = None) -> Array:
    """`zeros` of the shape, and by default the dtype, of ``x``."""
    return full_like(x, 0, dtype=dtype, device=device)


def ones_like(x: Array, /, *, dtype: object = None, device: object = None) -> Array:
    """`ones` of the shape, and by default the dtype, of ``x``."""
    return full_like(x, 1, dtype=dtype, device=device)


def empty_like(x: Array, /, *, dtype: object = None, device: object = None) -> Array:
    """`empty` of the shape, and by default the dtype, of ``x``."""
    return full_like(x, 0, dtype=dtype, device=device)


def _real(given: object, operation: str) -> float:
    number = dtypes.number(given, operation)
    if isinstance(number, complex):
        raise DTypeError(f"{operation}: complex numbers: takes and gives real numbers")
    return number


def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: object = None,
    device: object = None,
) -> Array:
    """Numbers from ``start`` up to, not including, ``stop``; computed on the GPU.

    Args:
        start: First number; with ``stop`` left out, the end, and the first number is 0.
        stop: The end.
        step: Distance between numbers; not 0.
        device: None, or "webgpu".
        dtype: By default int32 when all three are integers, else float32.

    Raises:
        UsageError: ``step`` is 0.
        DTypeError: The dtype or a number is complex, or the dtype is bool.
        IntegerOverflowError: A number does not fit the dtype.
    """
    first, last, step = (
        _real(each, "arange")
        for each in ((0, start, step) if stop is None else (start, stop, step))
    )
    wanted = _dtype(dtype, "arange", device)
    if wanted is not None and wanted.kind in {"bool", "complex"}:
        raise DTypeError(f"arange: {wanted.name}: takes and gives real numbers")
    if step == 0:
        raise UsageError("arange: step 0: must not be zero")
    is_whole = all(isinstance(number, int) for number in (first, last, step))
    if not is_whole and not isfinite((last - first) / step):
        raise UsageError(f"arange: from {first} to {last} by {step}: there is no such number")
    if wanted is None:
        wanted = dtypes.INT if is_whole else dtypes.FLOAT
    count = max(0, -int(-(last - first) // step))
    if wanted.kind in {"int", "uint"} and count:
        for value in (first, first + (count - 1) * step):
            dtypes.check_range(int(value), wanted, "arange")
    return Array(Node(table.IOTA, (), (count,), wanted, {"start": first, "step": step}))


def linspace(
    start: complex,
    stop: complex,
    /,
    num: int,
    *,
    dtype: object = None,
    device: object = None,
    endpoint: bool = True,
) -> Array:
    """``num`` evenly spaced numbers from ``start`` to ``stop``, included if ``endpoint``.

    Args:
        start: First number, real or complex.
        stop: The end.
        num: How many.
        device: None, or "webgpu".
        dtype: float32 by default, complex64 where a number is complex.
        endpoint: Whether ``stop`` is the last number.

    Raises:
        UsageError: ``num`` is negative.
        DTypeError: A number is complex and the dtype is not.
    """
    if num < 0:
        raise UsageError(f"linspace: num {num}: must not be negative")
    start, stop = dtypes.number(start, "linspace"), dtypes.number(stop, "linspace")
    is_complex = isinstance(start, complex) or isinstance(stop, complex)
    wanted = _dtype(dtype, "linspace", device) or (dtypes.COMPLEX if is_complex else dtypes.FLOAT)
    if is_complex:
        dtypes.check_cast(dtypes.COMPLEX, wanted, "linspace")
    parts = num - 1 if endpoint else num
    step = (stop - start) / parts if parts > 0 else 0.0
    values = [start + at * step for at in range(num)]
    if endpoint and num > 1:
        values[-1] = stop
    return array([value + 0.0 for value in values], dtype=wanted)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: object = None,
    device: object = None,
) -> Array:
    """A matrix with ones on the ``k``-th diagonal and zeros elsewhere; float32 by default."""
    check_device(device, "eye")
    columns = n_rows if n_cols is None else n_cols
    row = arange(n_rows).reshape(n_rows, 1)
    column = arange(columns).reshape(1, columns)
    near = max(-n_rows, min(columns, k))  # beyond that there are no ones
    return (column - row == near).astype(dtypes.FLOAT if dtype is None else dtype)


def meshgrid(*arrays: Array, indexing: str = "xy") -> list[Array]:
    """Coordinates of a grid from those along its axes, as views.

    Args:
        arrays: One axis each, of one dtype.
        indexing: ``xy``, where the second array runs along the first axis, or ``ij``.

    Raises:
        UsageError: Another ``indexing``, or arrays that have not one axis.
    """
    if indexing not in {"xy", "ij"}:
        raise UsageError(f"meshgrid: indexing {indexing!r}: must be 'xy' or 'ij'")
    if any(x.ndim != 1 for x in arrays):
        shown = ", ".join(str(x.shape) for x in arrays)
        raise UsageError(f"meshgrid: shapes {shown}: each needs one axis")
    order = list(range(len(arrays)))
    if indexing == "xy":
        order[:2] = order[:2][::-1]
    sizes = [0] * len(arrays)
    for at, x in zip(order, arrays, strict=True):
        sizes[at] = x.size
    shape = tuple(sizes)
    result = []
    for at, x in zip(order, arrays, strict=True):
        alone = tuple(x.size if k == at else 1 for k in range(len(arrays)))
        result.append(Array(build.broadcast_to(build.reshape(x._node, alone), shape)))
    return result


def tril(x: Array, /, *, k: int = 0) -> Array:
    """The lower triangles of matrices: zeros above the ``k``-th diagonal.

    Raises:
        UsageError: There are fewer than two axes.
    """
    return _triangle("tril", x, k)


def triu(x: Array, /, *, k: int = 0) -> Array:
    """The upper triangles of matrices: zeros below the ``k``-th diagonal.

    Raises:
        UsageError: There are fewer than two axes.
    """
    return _triangle("triu", x, k)


def _triangle(name: str, x: Array, k: int) -> Array:
    if x.ndim < 2:
        raise UsageError(f"{name}: shape {x.shape}: needs at least 2 axes")
    rows, columns = x.shape[-2:]
    off = arange(columns) - arange(rows).reshape(rows, 1)
    inside = off <= k if name == "tril" else off >= k
    zero = build.constant(False if x.dtype.kind == "bool" else 0, x.dtype)
    return Array(build.elementwise("where", inside._node, x._node, zero))


def from_dlpack(x: object, /, *, device: object = None, copy: bool | None = None) -> Array:  # noqa: ARG001 - the standard's signature
    """Refused: DLPack exchanges pointers, and WebGPU has none.

    Raises:
        UsageError: Always.
    """
    raise UsageError("from_dlpack: WebGPU memory has no address; use asarray, which copies")
