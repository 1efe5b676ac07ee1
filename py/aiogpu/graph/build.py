"""Making nodes: dtype rules, broadcasting, and the composition of views."""

from __future__ import annotations

from contextvars import ContextVar
from math import prod
from typing import TYPE_CHECKING, Any, Final

from aiogpu import dtypes, shapes
from aiogpu.errors import DTypeError, ShapeError, UsageError
from aiogpu.graph import table
from aiogpu.graph.node import Node
from aiogpu.shapes import Shape, View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiogpu.dtypes import DType, Scalar
    from aiogpu.graph.table import Op

Operand = Node | bool | int | float | complex

# Whether rows give way to their fast ones: what is made then computes by WGSL's own functions.
FAST: Final[ContextVar[bool]] = ContextVar("aiogpu_fast_math", default=False)


def constant(value: Scalar, dtype: DType, shape: Shape = ()) -> Node:
    """A number in every element; takes no memory until it is read."""
    if isinstance(value, int) and not isinstance(value, bool) and dtype.kind in {"int", "uint"}:
        dtypes.check_range(value, dtype, "full")
    if dtype.kind == "float" and not isinstance(value, complex):
        value = dtypes.rounded(value, dtype)
    return Node(table.CONSTANT, (), shape, dtype, {"value": value})


def leaf(value: object, shape: Shape, dtype: DType) -> Node:
    """Data that is there: host data, or a buffer."""
    node = Node(table.LEAF, (), shape, dtype)
    node.resolve(value)
    return node


_SCALARS: dict[tuple[DType, Scalar], Node] = {}
_MAX_SCALARS: Final = 256
MAX_INNER: Final = 32768  # of a product: lavapipe leaves loops after 65535 turns, silently


def scalar(value: Scalar, dtype: DType) -> Node:
    """A Python number as an operand; the same one for the same number, as loops ask for it."""
    node = _SCALARS.get((dtype, value))
    if node is None or node.is_done:
        node = constant(value, dtype)
        if value:  # 0.0 and -0.0 are equal
            if len(_SCALARS) >= _MAX_SCALARS:
                _SCALARS.clear()
            _SCALARS[dtype, value] = node
    return node


def binary(op: Op, first: Operand, second: Operand, frames: int) -> Node:
    """An elementwise row with two operands: the short way for pairs of dtypes met before.

    Args:
        op: The row.
        first: A node or a Python number.
        second: The same; one of the two is a node.
        frames: How many frames of this package are on top of the user's.

    Raises:
        DTypeError: The dtypes do not promote, or the operation does not take them.
        ShapeError: The shapes do not broadcast.
    """
    pair = (
        first.dtype if first.__class__ is Node else first.__class__,
        second.dtype if second.__class__ is Node else second.__class__,
    )
    if op.fast is not None and FAST.get():
        op = op.fast
    known = op.pairs.get(pair)
    if known is None:
        return elementwise(op.name, first, second)
    joins, dtype = known
    left: Node = first if first.__class__ is Node else scalar(first, joins)  # type: ignore[arg-type]
    right: Node = second if second.__class__ is Node else scalar(second, joins)  # type: ignore[arg-type]
    shape = left.shape
    if shape != right.shape and right.shape:
        shape = shapes.broadcast((shape, right.shape), op.name) if shape else right.shape
    return Node(op, (left, right), shape, dtype, None, frames)


def elementwise(name: str, *operands: Operand) -> Node:
    """A row of the op table applied to nodes and Python numbers, which are weak.

    Raises:
        DTypeError: The dtypes do not promote, or the operation does not take them.
        ShapeError: The shapes do not broadcast.
    """
    op = table.TABLE[name]
    if op.fast is not None and FAST.get():
        op = op.fast
    target, result = _dtypes(op, operands)
    if len(operands) == 2 and all(
        not isinstance(operand, Node) or operand.dtype is want
        for operand, want in zip(operands, target, strict=True)
    ):
        pair = [each.dtype if isinstance(each, Node) else type(each) for each in operands]
        op.pairs[pair[0], pair[1]] = target[0], result
    nodes = tuple(
        cast(operand, want) if isinstance(operand, Node) else scalar(operand, want)
        for operand, want in zip(operands, target, strict=True)
    )
    shape = nodes[0].shape
    for node in nodes[1:]:
        # Numbers and equal shapes are what most operations meet.
        if node.shape and node.shape != shape:
            shape = shapes.broadcast([n.shape for n in nodes], name) if shape else node.shape
    return Node(op, nodes, shape, result)


def _dtypes(op: Op, operands: Sequence[Operand]) -> tuple[list[DType], DType]:
    """What each operand is cast to, and the dtype of the result."""
    if op.rule == "logical":
        return [dtypes.bool_] * len(operands), dtypes.bool_
    numbers = operands[1:] if op.rule == "where" else operands
    meeting = promotion(numbers, op.name)
    if op.rule == "where":
        return [dtypes.bool_, meeting, meeting], meeting
    check_kind(op, meeting)
    if op.rule == "float" and meeting.kind not in {"float", "complex"}:
        meeting = dtypes.FLOAT
    result = dtypes.bool_ if op.rule == "bool" else meeting
    if op.rule == "component" and meeting.kind == "complex":
        result = dtypes.FLOAT
    return [meeting] * len(operands), result


def check_kind(op: Op, dtype: DType) -> None:
    """Raise DTypeError for a dtype that an operation does not take."""
    if dtype.kind[0] not in op.kinds:
        allowed = ", ".join(d.name for d in dtypes.ALL if d.kind[0] in op.kinds)
        raise DTypeError(f"{op.name}: {dtype.name}: takes {allowed}; cast with astype")


def promotion(operands: Sequence[Operand], operation: str) -> DType:
    """The dtype in which nodes and weak Python numbers meet."""
    meeting: DType | None = None
    for operand in operands:
        if isinstance(operand, Node):
            meeting = (
                operand.dtype
                if meeting is None
                else dtypes.promote(meeting, operand.dtype, operation)
            )
    for operand in operands:
        if not isinstance(operand, Node):
            meeting = (
                dtypes.scalar_dtype(operand)
                if meeting is None
                else dtypes.promote_scalar(meeting, operand, operation)
            )
    assert meeting is not None
    return meeting


def cast(node: Node, dtype: DType) -> Node:
    """``node`` in another dtype; itself where it has that dtype."""
    if node.dtype is dtype:
        return node
    dtypes.check_cast(node.dtype, dtype, "astype")
    if node.op is table.CONSTANT and node.attrs is not None and not node.is_done:
        value = node.attrs["value"]
        if dtype.kind == "bool":
            return constant(bool(value), dtype, node.shape)
        if dtype.kind == "float":
            return constant(float(value), dtype, node.shape)
        if dtype.kind == "complex":
            return constant(complex(value), dtype, node.shape)
        if isinstance(value, int):
            low, high = dtype.range
            if low <= value <= high:
                return constant(int(value), dtype, node.shape)
    return Node(table.CAST, (node,), node.shape, dtype)


def assigned(value: Operand, dtype: DType) -> Node:
    """What is put into elements of ``dtype``: an array, cast, or a Python number.

    Raises:
        DTypeError: A complex number, or array, and the dtype is a real one.
        IntegerOverflowError: A Python integer that the dtype cannot hold.
    """
    if isinstance(value, Node):
        return cast(value, dtype)
    if isinstance(value, int) and dtype.kind != "bool":
        if dtype.kind in {"int", "uint"}:
            dtypes.check_range(value, dtype, "setitem")
        return constant(int(value), dtype)
    return cast(constant(value, dtypes.scalar_dtype(value)), dtype)


def view_of(node: Node) -> tuple[Node, View]:
    """The node that owns the elements, and how ``node`` lies in it."""
    if node.op is table.VIEW and not node.is_done:
        assert node.attrs is not None
        return node.inputs[0], node.attrs["view"]
    return node, View.contiguous(node.shape)


def view(node: Node, how: View, dtype: DType | None = None) -> Node:
    """Elements of ``node``'s owner, walked as ``how`` says; ``how`` is relative to that owner.

    With ``dtype``, the owner's bits are taken as elements of that dtype; ``how`` counts in them.
    """
    owner, _ = view_of(node)
    if dtype is not None:
        return Node(table.VIEW, (owner,), how.shape, dtype, {"view": how})
    if owner.op is table.CONSTANT and not owner.is_done and owner.attrs is not None:
        return constant(owner.attrs["value"], owner.dtype, how.shape)
    return Node(table.VIEW, (owner,), how.shape, node.dtype, {"view": how})


def broadcast_to(node: Node, shape: Shape, operation: str = "broadcast_to") -> Node:
    """``node`` repeated along new and size-1 axes, as a view."""
    if node.shape == shape:
        return node
    return view(node, view_of(node)[1].broadcast_to(shape, operation))


def permute(node: Node, axes: Sequence[int]) -> Node:
    """``node`` with its axes in another order, as a view."""
    return view(node, view_of(node)[1].permute(axes))


def reshape(node: Node, shape: Shape) -> Node:
    """``node`` in another shape: a view, or a view of a copy where strides cannot say it."""
    if node.shape == shape:
        return node
    how = view_of(node)[1].reshape(shape)
    if how is None:
        node = Node(table.COPY, (node,), node.shape, node.dtype)
        how = View.contiguous(shape)
    return view(node, how)


def copy(node: Node) -> Node:
    """The same value in memory of its own."""
    return Node(table.COPY, (node,), node.shape, node.dtype)


def accumulates(dtype: DType) -> DType:
    """In what sums and products of ``dtype`` are made, and what they give."""
    if dtype.kind == "uint":
        return dtypes.uint32
    return dtypes.INT if dtype.kind in {"bool", "int"} else dtype


def reduction(
    name: str,
    node: Node,
    axis: int | Sequence[int] | None,
    *,
    keepdims: bool,
    dtype: DType | None = None,
) -> Node:
    """A reduction of the op table, over the axes that ``axis`` names, in the dtype that it gives.

    Args:
        name: The row.
        node: What is reduced.
        axis: An axis, several, or None for all.
        keepdims: Whether the axes stay, with size 1.
        dtype: For sums and products, what the elements are cast to first.

    Raises:
        AxisError: There is no such axis.
        DTypeError: The operation does not take or give such a dtype.
        UsageError: A max or min of no elements.
    """
    axes = shapes.axis_indices(axis, len(node.shape), name)
    check_kind(table.TABLE[name], node.dtype)
    if dtype is not None:
        if dtype.kind == "bool":
            raise DTypeError(f"{name}: dtype bool: gives numbers; use any or all")
    elif name in {"sum", "prod"}:
        dtype = accumulates(node.dtype)
    elif name == "mean":
        dtype = node.dtype if node.dtype.kind in {"float", "complex"} else dtypes.FLOAT
    elif name in {"any", "all"}:
        dtype = dtypes.bool_
    else:
        dtype = node.dtype
    return reduce(name, cast(node, dtype), axes, keepdims=keepdims)


def reduced_shape(shape: Shape, axes: tuple[int, ...], *, keepdims: bool) -> tuple[Shape, int]:
    """What a reduction over ``axes`` leaves of a shape, and how many elements each result folds."""
    count = prod(shape[axis] for axis in axes)
    if keepdims:
        return tuple(1 if axis in axes else size for axis, size in enumerate(shape)), count
    return tuple(size for axis, size in enumerate(shape) if axis not in axes), count


def reduce(name: str, node: Node, axes: tuple[int, ...], *, keepdims: bool) -> Node:
    """A reduction of ``node`` over ``axes``, in its own dtype.

    Raises:
        UsageError: A max or min of no elements.
    """
    dtype = node.dtype
    shape, count = reduced_shape(node.shape, axes, keepdims=keepdims)
    if count == 0:
        if name in {"max", "min"}:
            raise UsageError(f"{name}: shape {node.shape}, axes {axes}: no elements to choose from")
        empty: float = {"sum": 0, "prod": 1, "any": False, "all": True, "mean": float("nan")}[name]
        return constant(float(empty) if dtype.kind == "float" else empty, dtype, shape)
    attrs: dict[str, Any] = {"axes": axes, "count": count}
    return Node(table.TABLE[name], (node,), shape, dtype, attrs)


def matmul(first: Node, second: Node) -> Node:
    """The matrix product; vectors and batches as in the Array API.

    Raises:
        ShapeError: The inner sizes differ, the batches do not broadcast, or an operand is 0-d.
        DTypeError: The dtypes do not promote, or are bool.
    """
    for operand in (first, second):
        if not operand.shape:
            raise ShapeError("matmul: a 0-d array: needs at least one axis; multiply with *")
    dtype = promotion((first, second), "matmul")
    check_kind(table.MATMUL, dtype)
    left = reshape(first, (1, *first.shape)) if len(first.shape) == 1 else first
    right = reshape(second, (*second.shape, 1)) if len(second.shape) == 1 else second
    (m, k), (k2, n) = left.shape[-2:], right.shape[-2:]
    if k != k2:
        raise ShapeError(
            f"matmul: shapes {first.shape} and {second.shape}: inner sizes {k} and {k2} differ"
        )
    batch = shapes.broadcast((left.shape[:-2], right.shape[:-2]), "matmul")
    # In parts: an invocation walks along all of it, four elements a turn unless they are complex.
    if k > MAX_INNER * (1 if dtype.kind == "complex" else 4):
        half = k // 2
        parts = [
            matmul(
                view(left, view_of(left)[1].cut(-1, start, end)),
                view(right, view_of(right)[1].cut(-2, start, end)),
            )
            for start, end in ((0, half), (half, k))
        ]
        whole = elementwise("add", *parts)
        return reshape(whole, _without_vectors(first, second, whole.shape))
    shape = (*batch, m, n)
    if k == 0 or prod(shape) == 0:
        product = constant(0, dtype, shape)
    else:
        product = Node(table.MATMUL, (cast(left, dtype), cast(right, dtype)), shape, dtype)
    return reshape(product, _without_vectors(first, second, shape))


def _without_vectors(first: Node, second: Node, shape: Shape) -> Shape:
    """The shape of a product without the axes that were put to vectors."""
    rank = len(shape)
    drop = [rank - 2] * (len(first.shape) == 1) + [rank - 1] * (len(second.shape) == 1)
    return tuple(size for axis, size in enumerate(shape) if axis not in drop)
