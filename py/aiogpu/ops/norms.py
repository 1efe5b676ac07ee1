"""Norms, diagonals and products of vectors, for the ``linalg`` extension. No function reads."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Literal

from aiogpu import dtypes, shapes
from aiogpu.array import Array
from aiogpu.errors import ShapeError, UsageError
from aiogpu.graph import build, matrices, select
from aiogpu.graph.blocks import concat
from aiogpu.ops.spectrum import svdvals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiogpu.graph.node import Node


def vector_norm(
    x: Array,
    /,
    *,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    ord: float = 2,
) -> Array:
    """The norm of vectors.

    Args:
        x: Any shape; numeric.
        axis: The axis of the vectors; several or None take all elements along them as one vector.
        keepdims: Whether the axes stay, with size 1.
        ord: 2 by default; any number: the root of the sum of powers of that order; ``inf`` and
            ``-inf``: the largest and smallest size; 0: how many elements are not 0.

    Returns:
        float32, without ``axis``.

    Raises:
        AxisError: There is no such axis.
        DTypeError: ``x`` is bool.
        UsageError: The largest or smallest of no elements.
    """
    node = matrices.floating("vector_norm", x._node)
    axes = shapes.axis_indices(axis, len(node.shape), "vector_norm")
    return Array(_vector_norm(node, axes, ord, keepdims=keepdims))


def _vector_norm(node: Node, axes: tuple[int, ...], ord: float, *, keepdims: bool) -> Node:
    if ord == 0:
        some = build.cast(build.elementwise("not_equal", node, 0.0), dtypes.FLOAT)
        return build.reduce("sum", some, axes, keepdims=keepdims)
    sizes = build.elementwise("abs", node)
    if ord in {inf, -inf}:
        return build.reduce("max" if ord > 0 else "min", sizes, axes, keepdims=keepdims)
    if ord == 1:
        return build.reduce("sum", sizes, axes, keepdims=keepdims)
    if ord == 2:
        if node.dtype.kind == "complex":
            parts = [build.elementwise(part, node) for part in ("real", "imag")]
            squares = build.elementwise("add", *[build.elementwise("square", p) for p in parts])
        else:
            squares = build.elementwise("square", node)
        return build.elementwise("sqrt", build.reduce("sum", squares, axes, keepdims=keepdims))
    powers = build.elementwise("pow", sizes, float(ord))
    total = build.reduce("sum", powers, axes, keepdims=keepdims)
    return build.elementwise("pow", total, 1 / ord)


def matrix_norm(
    x: Array,
    /,
    *,
    keepdims: bool = False,
    ord: Literal["fro", "nuc"] | float | None = "fro",
) -> Array:
    """The norm of matrices.

    Args:
        x: Shape ``(*batch, m, n)``; numeric.
        keepdims: Whether the last two axes stay, with size 1.
        ord: ``"fro"``, the root of the sum of squares; ``"nuc"``, the sum of the singular values;
            1 and -1, the largest and smallest sum of sizes of a column; ``inf`` and ``-inf``, of a
            row; 2 and -2, the largest and smallest singular value.

    Returns:
        float32, shape ``batch``.

    Raises:
        ShapeError: There are fewer than two axes.
        DTypeError: ``x`` is bool.
        UsageError: Another ``ord``; the largest or smallest of nothing.
    """
    node = matrices.matrices("matrix_norm", x._node)
    rank = len(node.shape)
    row, column = rank - 2, rank - 1
    if ord is None or ord == "fro":
        result = _vector_norm(node, (row, column), 2, keepdims=False)
    elif ord in {1, -1, inf, -inf}:
        assert not isinstance(ord, str)
        along = row if abs(ord) == 1 else column
        sums = build.reduce("sum", build.elementwise("abs", node), (along,), keepdims=False)
        result = build.reduce("max" if ord > 0 else "min", sums, (rank - 2,), keepdims=False)
    elif ord in {2, -2, "nuc"}:
        fold = "sum" if ord == "nuc" else "max" if ord == 2 else "min"
        result = build.reduce(fold, svdvals(x)._node, (rank - 2,), keepdims=False)
    else:
        raise UsageError(f"matrix_norm: ord {ord!r}: must be 'fro', 'nuc', 1, 2, inf or negatives")
    return Array(build.reshape(result, (*result.shape, 1, 1)) if keepdims else result)


def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """The diagonals of matrices, as a view.

    Args:
        x: Shape ``(*batch, m, n)``; any dtype.
        offset: How far above the main diagonal; negative below.

    Returns:
        Shape ``(*batch, k)``.

    Raises:
        ShapeError: There are fewer than two axes.
    """
    if x.ndim < 2:
        raise ShapeError(f"diagonal: shape {x.shape}: needs matrices, at least two axes")
    return Array(matrices.diagonal(x._node, offset))


def trace(x: Array, /, *, offset: int = 0, dtype: object = None) -> Array:
    """The sums along diagonals of matrices.

    Args:
        x: Shape ``(*batch, m, n)``; numeric.
        offset: How far above the main diagonal; negative below.
        dtype: What the elements are cast to first; by default as for `aiogpu.sum`.

    Returns:
        Shape ``batch``.

    Raises:
        ShapeError: There are fewer than two axes.
        DTypeError: There is no such dtype.
    """
    if x.ndim < 2:
        raise ShapeError(f"trace: shape {x.shape}: needs matrices, at least two axes")
    node = matrices.diagonal(x._node, offset)
    if dtype is not None:
        wanted = dtypes.as_dtype(dtype, "trace")
        node = build.reduction("sum", build.cast(node, wanted), x.ndim - 2, keepdims=False)
        return Array(build.cast(node, wanted))
    return Array(build.reduction("sum", node, x.ndim - 2, keepdims=False))


def outer(x1: Array, x2: Array, /) -> Array:
    """All products of elements of two vectors.

    Args:
        x1: Shape ``(n,)``; numeric.
        x2: Shape ``(m,)``; numeric. The dtypes promote.

    Returns:
        Shape ``(n, m)``.

    Raises:
        ShapeError: They are not vectors.
        DTypeError: The dtypes do not promote, or are bool.
    """
    if x1.ndim != 1 or x2.ndim != 1:
        raise ShapeError(f"outer: shapes {x1.shape} and {x2.shape}: needs vectors of one axis")
    column = build.reshape(x1._node, (*x1.shape, 1))
    return Array(build.elementwise("multiply", column, x2._node))


def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """The cross product of vectors of three elements.

    Args:
        x1: Size 3 along ``axis``; numeric.
        x2: Size 3 along ``axis``; numeric. The other axes broadcast, the dtypes promote.
        axis: Negative: counted from the back of both.

    Returns:
        The shape to which both broadcast.

    Raises:
        ShapeError: The vectors have another length, or the shapes do not broadcast.
        AxisError: There is no such axis.
        DTypeError: The dtypes do not promote, or are bool.
    """
    dtype = build.promotion((x1._node, x2._node), "cross")
    rank = max(x1.ndim, x2.ndim)
    back = shapes.axis_index(axis, rank, "cross") - rank
    parts: list[list[Node]] = []
    for x in (x1, x2):
        at = shapes.axis_index(back, x.ndim, "cross")
        if x.shape[at] != 3:
            raise ShapeError(f"cross: shape {x.shape}, axis {axis}: needs vectors of 3 elements")
        node = build.cast(x._node, dtype)
        before = (slice(None),) * at
        parts.append([select.cut(node, (*before, slice(k, k + 1))) for k in range(3)])
    a, b = parts
    made = [
        build.elementwise(
            "subtract",
            build.elementwise("multiply", a[(k + 1) % 3], b[(k + 2) % 3]),
            build.elementwise("multiply", a[(k + 2) % 3], b[(k + 1) % 3]),
        )
        for k in range(3)
    ]
    return Array(concat(made, rank + back))
