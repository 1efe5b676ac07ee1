"""The array: an immutable value, computed when somebody waits for it."""

from __future__ import annotations

import sys
from math import prod
from typing import TYPE_CHECKING, Any, NoReturn

from aiogpu import dtypes, evaluate, hostdata, shapes, spellings
from aiogpu.awaited import Read, reader
from aiogpu.errors import ShapeError, SyncAccessError, UsageError
from aiogpu.gpu import browser
from aiogpu.graph import blocks, build, choose, masks, select, table
from aiogpu.methods import Methods
from aiogpu.switch import SyncReads
from aiogpu.unknown import UnknownLength

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiogpu.dtypes import DType, Scalar
    from aiogpu.graph.build import Operand
    from aiogpu.graph.node import Node
    from aiogpu.graph.orders import Found
    from aiogpu.graph.table import Op
    from aiogpu.shapes import Shape
    from aiogpu.unknown import Shown


class Array(Methods):
    """An array on the GPU, or on its way there.

    Operations enqueue and return at once; only ``await x.numpy()``, ``tolist``, ``item``, ``data``
    and ``evaluate`` wait. Arrays are values: ``x[...] = v`` and ``x += v`` rebind ``x`` to a new
    one, and what was made from the old value keeps it.
    """

    __slots__ = ("__weakref__", "_cut", "_found", "_node")

    def __init__(self, node: Node, cut: str | None = None) -> None:
        self._node = node
        self._cut = cut  # how it was cut from another array, for the error of x[0][1] = 5
        node.hold()
        if node.depth > evaluate.MAX_DEPTH:
            evaluate.DEFAULT.relieve(node)

    def __del__(self) -> None:
        self._node.release()

    # What it is

    @property
    def shape(self) -> Shape:
        """Sizes of the axes."""
        return self._node.shape

    @property
    def dtype(self) -> DType:
        """The dtype."""
        return self._node.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._node.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._node.nelems

    @property
    def nbytes(self) -> int:
        """Size of the elements in bytes."""
        return self._node.nbytes

    @property
    def T(self) -> Array:  # noqa: N802 - the standard's name
        """The transpose of a matrix, as a view."""
        if self.ndim != 2:
            raise UsageError(f"T: shape {self.shape}: needs 2 axes; use permute_dims or mT")
        return Array(build.permute(self._node, (1, 0)), select.TRANSPOSED)

    @property
    def mT(self) -> Array:  # noqa: N802 - the standard's name
        """The array with its last two axes swapped, as a view."""
        if self.ndim < 2:
            raise UsageError(f"mT: shape {self.shape}: needs at least 2 axes")
        axes = list(range(self.ndim))
        axes[-2:] = axes[-1], axes[-2]
        return Array(build.permute(self._node, axes), select.TRANSPOSED)

    def __repr__(self) -> str:
        state = "failed" if self._node.error else "ready" if self._node.is_done else "pending"
        what = f"shape={self.shape} dtype={self.dtype.name}"
        return f"<aiogpu.Array {what} ({state}; await x.numpy() to read)>"

    def __len__(self) -> int:
        if not self.shape:
            raise UsageError("len: a 0-d array has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Array]:
        if not self.shape:
            raise UsageError("iter: a 0-d array cannot be iterated over")
        return (self[at] for at in range(self.shape[0]))

    # Reading

    def _asked(self) -> tuple[list[Node], Shown]:
        """What a read fetches, and what then gives the elements and their shape."""
        node = self._node
        return [node], lambda fetched: (fetched[0], node.shape)

    async def _values(self) -> tuple[memoryview, Shape]:
        nodes, shown = self._asked()
        return shown(await evaluate.DEFAULT.read(nodes))

    @reader
    def numpy(self) -> Read:
        """``await x.numpy()``: the values as a NumPy array of the same shape and dtype, a copy.

        Raises (when awaited):
            AioGpuError: The work that makes the value failed.
            DeviceLostError: The device was lost.
            ModuleNotFoundError: NumPy is not installed; `data` needs none.
        """
        return Read("numpy", self._numpy)

    async def _numpy(self) -> Any:  # noqa: ANN401 - numpy.ndarray, which the wheel does not depend on
        return hostdata.as_numpy(*await self._values(), self.dtype)

    @reader
    def data(self) -> Read:
        """``await x.data()``: the values as a C-order memoryview; flat where a size is 0."""
        return Read("data", self._data)

    async def _data(self) -> memoryview:
        return hostdata.as_memoryview(*await self._values(), self.dtype)

    @reader
    def tolist(self) -> Read:
        """``await x.tolist()``: the values as nested lists of Python numbers, or as one number."""
        return Read("tolist", self._tolist)

    async def _tolist(self) -> Any:  # noqa: ANN401 - nested lists
        return hostdata.as_list(*await self._values(), self.dtype)

    @reader
    def item(self) -> Read:
        """``await x.item()``: the one element as a Python number.

        Raises:
            UsageError: The array has not exactly one element.
        """
        self._check_one()
        return Read("item", self._item)

    def _check_one(self) -> None:
        """Raise, where that is known, if there is not exactly one element."""
        _check_one("item", self._node.shape)

    async def _item(self) -> Scalar:
        data, shape = await self._values()
        _check_one("item", shape)
        scalar: Scalar = hostdata.elements(data, self.dtype)[0]
        return scalar

    async def evaluate(self) -> Array:
        """Enqueue all that the value needs, and return the array.

        Resolves when the work is issued, not when it is done: `synchronize` waits for that.

        Raises:
            AioGpuError: The work is known to have failed.
        """
        await evaluate.DEFAULT.finish([self._node])
        return self

    def _wait(self, name: str, form: str) -> Any:  # noqa: ANN401 - a number
        if not SyncReads.is_on:
            raise SyncAccessError(
                f"{name}: {self.dtype.name} array: the value is on the GPU; write `{form}`"
            )
        return browser.wait_sync(self._item)

    def _number(self, name: str) -> Any:  # noqa: ANN401 - a number
        _check_one(name, self._node.shape)
        return self._wait(name, "await x.item()")

    def __float__(self) -> float:
        return float(self._number("float"))

    def __int__(self) -> int:
        return int(self._number("int"))

    def __complex__(self) -> complex:
        return complex(self._number("complex"))

    def __index__(self) -> int:
        if self.dtype.kind not in {"int", "uint"}:
            raise SyncAccessError(
                f"index: {self.dtype.name} array: only an integer array can be an index"
            )
        return int(self._number("index"))

    def __bool__(self) -> bool:
        return bool(self._number("bool"))

    def __format__(self, form: str) -> str:
        if not form:
            return repr(self)
        number = self._wait("format", f"{{await x.item():{form}}}")
        return format(number, form)

    def __array__(self, dtype: object = None, copy: object = None) -> Any:  # noqa: ANN401 - NumPy's protocol
        if not SyncReads.is_on:
            raise SyncAccessError(
                "__array__: an array: the values are on the GPU; write `await x.numpy()`"
            )
        values = browser.wait_sync(self._numpy)
        return values if dtype is None else values.astype(dtype)

    # Operators

    def _binary(self, op: Op, other: object, *, swap: bool = False) -> Array:
        operand = other._node if other.__class__ is Array else as_operand(other)
        if operand is None:
            refusal: Array = NotImplemented  # Python asks the other operand
            return refusal
        if swap:
            return Array(build.binary(op, operand, self._node, 4))
        return Array(build.binary(op, self._node, operand, 4))

    def __add__(self, other: object) -> Array:
        return self._binary(table.ADD, other)

    def __radd__(self, other: object) -> Array:
        return self._binary(table.ADD, other, swap=True)

    def __sub__(self, other: object) -> Array:
        return self._binary(table.SUBTRACT, other)

    def __rsub__(self, other: object) -> Array:
        return self._binary(table.SUBTRACT, other, swap=True)

    def __mul__(self, other: object) -> Array:
        return self._binary(table.MULTIPLY, other)

    def __rmul__(self, other: object) -> Array:
        return self._binary(table.MULTIPLY, other, swap=True)

    def __truediv__(self, other: object) -> Array:
        return self._binary(table.DIVIDE, other)

    def __rtruediv__(self, other: object) -> Array:
        return self._binary(table.DIVIDE, other, swap=True)

    def __floordiv__(self, other: object) -> Array:
        return self._binary(table.FLOOR_DIVIDE, other)

    def __rfloordiv__(self, other: object) -> Array:
        return self._binary(table.FLOOR_DIVIDE, other, swap=True)

    def __mod__(self, other: object) -> Array:
        return self._binary(table.REMAINDER, other)

    def __rmod__(self, other: object) -> Array:
        return self._binary(table.REMAINDER, other, swap=True)

    def __pow__(self, other: object) -> Array:
        return self._binary(table.POW, other)

    def __rpow__(self, other: object) -> Array:
        return self._binary(table.POW, other, swap=True)

    def __and__(self, other: object) -> Array:
        return self._binary(table.BITWISE_AND, other)

    def __rand__(self, other: object) -> Array:
        return self._binary(table.BITWISE_AND, other, swap=True)

    def __or__(self, other: object) -> Array:
        return self._binary(table.BITWISE_OR, other)

    def __ror__(self, other: object) -> Array:
        return self._binary(table.BITWISE_OR, other, swap=True)

    def __xor__(self, other: object) -> Array:
        return self._binary(table.BITWISE_XOR, other)

    def __rxor__(self, other: object) -> Array:
        return self._binary(table.BITWISE_XOR, other, swap=True)

    def __lshift__(self, other: object) -> Array:
        return self._binary(table.BITWISE_LEFT_SHIFT, other)

    def __rlshift__(self, other: object) -> Array:
        return self._binary(table.BITWISE_LEFT_SHIFT, other, swap=True)

    def __rshift__(self, other: object) -> Array:
        return self._binary(table.BITWISE_RIGHT_SHIFT, other)

    def __rrshift__(self, other: object) -> Array:
        return self._binary(table.BITWISE_RIGHT_SHIFT, other, swap=True)

    def __eq__(self, other: object) -> Array:  # type: ignore[override]
        return self._binary(table.EQUAL, other)

    def __ne__(self, other: object) -> Array:  # type: ignore[override]
        return self._binary(table.NOT_EQUAL, other)

    def __lt__(self, other: object) -> Array:
        return self._binary(table.LESS, other)

    def __le__(self, other: object) -> Array:
        return self._binary(table.LESS_EQUAL, other)

    def __gt__(self, other: object) -> Array:
        return self._binary(table.GREATER, other)

    def __ge__(self, other: object) -> Array:
        return self._binary(table.GREATER_EQUAL, other)

    __hash__ = None  # type: ignore[assignment]

    def __matmul__(self, other: Array) -> Array:
        return (
            Array(build.matmul(self._node, other._node))
            if isinstance(other, Array)
            else NotImplemented
        )

    def __neg__(self) -> Array:
        return Array(build.elementwise("negative", self._node))

    def __pos__(self) -> Array:
        return Array(build.elementwise("positive", self._node))

    def __abs__(self) -> Array:
        return Array(build.elementwise("abs", self._node))

    def __invert__(self) -> Array:
        return Array(build.elementwise("bitwise_invert", self._node))

    # Shapes and dtypes

    def astype(self, dtype: object, /) -> Array:
        """The values in another dtype.

        Floats truncate and saturate to integers, NaN gives 0; integers wrap.
        """
        return Array(build.cast(self._node, dtypes.as_dtype(dtype, "astype")))

    def reshape(self, *shape: int | Sequence[int]) -> Array:
        """The elements in another shape, in C order; one size may be -1."""
        sizes: Any = shape[0] if len(shape) == 1 else shape
        return Array(build.reshape(self._node, shapes.infer_size(sizes, self.size, "reshape")))

    def copy(self) -> Array:
        """The same value, free to be assigned to."""
        return Array(build.copy(self._node))

    def _reduce(
        self,
        name: str,
        axis: int | Sequence[int] | None,
        *,
        keepdims: bool,
        dtype: object = None,
    ) -> Array:
        wanted = None if dtype is None else dtypes.as_dtype(dtype, name)
        return Array(build.reduction(name, self._node, axis, keepdims=keepdims, dtype=wanted))

    def sum(
        self,
        axis: int | Sequence[int] | None = None,
        *,
        dtype: object = None,
        keepdims: bool = False,
    ) -> Array:
        """See `aiogpu.sum`."""
        return self._reduce("sum", axis, keepdims=keepdims, dtype=dtype)

    def prod(
        self,
        axis: int | Sequence[int] | None = None,
        *,
        dtype: object = None,
        keepdims: bool = False,
    ) -> Array:
        """See `aiogpu.prod`."""
        return self._reduce("prod", axis, keepdims=keepdims, dtype=dtype)

    def all(self, axis: int | Sequence[int] | None = None, *, keepdims: bool = False) -> Array:
        """See `aiogpu.all`."""
        return self._reduce("all", axis, keepdims=keepdims)

    def any(self, axis: int | Sequence[int] | None = None, *, keepdims: bool = False) -> Array:
        """See `aiogpu.any`."""
        return self._reduce("any", axis, keepdims=keepdims)

    def mean(self, axis: int | Sequence[int] | None = None, *, keepdims: bool = False) -> Array:
        """See `aiogpu.mean`."""
        return self._reduce("mean", axis, keepdims=keepdims)

    def max(self, axis: int | Sequence[int] | None = None, *, keepdims: bool = False) -> Array:
        """See `aiogpu.max`."""
        return self._reduce("max", axis, keepdims=keepdims)

    def min(self, axis: int | Sequence[int] | None = None, *, keepdims: bool = False) -> Array:
        """See `aiogpu.min`."""
        return self._reduce("min", axis, keepdims=keepdims)

    def argmax(self, axis: int | None = None, *, keepdims: bool = False) -> Array:
        """See `aiogpu.argmax`."""
        return Array(blocks.search("argmax", self._node, axis, keepdims=keepdims))

    def argmin(self, axis: int | None = None, *, keepdims: bool = False) -> Array:
        """See `aiogpu.argmin`."""
        return Array(blocks.search("argmin", self._node, axis, keepdims=keepdims))

    if not TYPE_CHECKING:  # type checkers refuse such names by themselves

        def __getattr__(self, name: str) -> NoReturn:
            raise spellings.missing("Array", name, spellings.METHODS)

    # Indexing

    def __getitem__(self, key: object) -> Array:
        if (masked := _masked(key)) is not None:
            return UnknownArray(masks.pick(self._node, masked))
        if (chosen := _chosen(key)) is not None:
            return Array(choose.pick(self._node, chosen))
        return Array(select.cut(self._node, key), select.spell(key, self._cut))

    def __setitem__(self, key: object, value: object) -> None:
        if self._cut is not None:
            raise UsageError(
                f"setitem: {select.spell(key)}: this array was cut from another and is a value of "
                "its own, so the assignment would be lost; "
                f"write x[{select.spell(key, self._cut)}] = ..., or .copy() it first"
            )
        operand = as_operand(value)
        value = as_node(value) if operand is None else operand
        if (masked := _masked(key)) is not None:
            self._rebind(masks.assign(self._node, masked, value))
        elif (chosen := _chosen(key)) is not None:
            self._rebind(choose.assign(self._node, chosen, value))
        else:
            self._rebind(select.assign(self._node, key, value))

    def _rebind(self, node: Node) -> None:
        self._node.release()
        self._node = node
        node.hold()
        evaluate.DEFAULT.relieve(node)


def _check_one(name: str, shape: Shape) -> None:
    if prod(shape) != 1:
        raise UsageError(f"{name}: shape {shape}: needs exactly one element")


class UnknownArray(UnknownLength, Array):
    """An array whose first axis is as long as its data says."""

    __slots__ = ()
    _known = Array

    def __init__(self, found: Found) -> None:
        self._found = found
        self._cut = None
        found.node.hold()
        found.length.hold()


def _masked(key: object) -> masks.Masked | None:
    """A key with a mask in it, an array of bools or one bool; None where there is none."""
    parts = key if isinstance(key, tuple) else (key,)
    kinds = _array_kinds()
    for at, part in enumerate(parts):
        if _is_mask(part):
            before, after = parts[:at], parts[at + 1 :]
            if any(isinstance(other, (bool, *kinds)) for other in (*before, *after)):
                raise UsageError("index: a mask must be the only array; cut by the others first")
            return masks.Masked(as_node(part), before, after)
    return None


def _is_mask(part: object) -> bool:
    if isinstance(part, Array):
        return part.dtype is dtypes.bool_
    while isinstance(part, list) and part:
        part = part[0]
    return isinstance(part, bool) or getattr(part, "dtype", None) == "bool"


def _array_kinds() -> tuple[type, ...]:
    """What an index may be an array as."""
    numpy = sys.modules.get("numpy")
    return (Array, list) if numpy is None else (Array, list, numpy.ndarray, numpy.bool_)


def _chosen(key: object) -> tuple[object, ...] | None:
    """A key with nodes for its arrays of integers; None where there is no array in it."""
    parts = key if isinstance(key, tuple) else (key,)
    kinds = _array_kinds()
    if not any(isinstance(part, kinds) for part in parts):
        return None
    return tuple(
        build.cast(as_node(part), dtypes.int32)
        if isinstance(part, list) and not part
        else as_node(part, None, "index")
        if isinstance(part, kinds)
        else part
        for part in parts
    )


def as_operand(given: object) -> Operand | None:
    """An operand of the graph: an array's node, or a Python number; None for anything else."""
    if isinstance(given, Array):
        return given._node
    if isinstance(given, (bool, int, float, complex)):
        return given
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(given, (numpy.ndarray, numpy.generic)):
        return as_node(given)
    return None


def _has_arrays(given: Sequence[object]) -> bool:
    """Whether nested lists hold arrays; looked for along the first of each."""
    while isinstance(given, (list, tuple)) and given:
        if any(isinstance(each, Array) for each in given):
            return True
        given = given[0]
    return False


def _stacked(given: Sequence[object], dtype: DType | None, operation: str) -> Node:
    """The node of a list of arrays, or of such lists, behind each other along a new axis."""
    nodes = [as_node(each, dtype, operation) for each in given]
    if len({node.shape for node in nodes}) > 1:
        shown = ", ".join(str(node.shape) for node in nodes)
        raise ShapeError(f"{operation}: shapes {shown}: must be the same in a list")
    meeting = build.promotion(nodes, operation)
    parts = [build.reshape(build.cast(node, meeting), (1, *node.shape)) for node in nodes]
    return blocks.concat(parts, 0)


def as_node(given: object, dtype: DType | None = None, operation: str = "array") -> Node:
    """The node of an array, or of a copy of host data.

    Raises:
        UsageError: Nothing that an array can be made of.
    """
    if isinstance(given, Array):
        return given._node if dtype is None else build.cast(given._node, dtype)
    if isinstance(given, (list, tuple)) and _has_arrays(given):
        return _stacked(given, dtype, operation)
    host, shape, found = hostdata.capture(given, dtype, operation)
    return build.leaf(host, shape, found)
