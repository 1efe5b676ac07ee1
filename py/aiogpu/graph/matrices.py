"""Nodes of matrix factorisations: float32 and complex64, batches of any rank."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from aiogpu import dtypes
from aiogpu.errors import ShapeError
from aiogpu.graph import build, table
from aiogpu.graph.blocks import concat, dense
from aiogpu.graph.node import Node

if TYPE_CHECKING:
    from aiogpu.dtypes import DType
    from aiogpu.shapes import Shape


def matrices(name: str, node: Node, *, square: bool = False) -> Node:
    """``node`` as matrices of float32 or complex64.

    Raises:
        ShapeError: There are fewer than two axes, or the matrices are not square and should be.
        DTypeError: They are bools.
    """
    if len(node.shape) < 2:
        raise ShapeError(f"{name}: shape {node.shape}: needs matrices, at least two axes")
    if square and node.shape[-1] != node.shape[-2]:
        raise ShapeError(f"{name}: shape {node.shape}: needs square matrices")
    return floating(name, node)


def floating(name: str, node: Node) -> Node:
    """``node`` in float32, or in complex64 if it is complex.

    Raises:
        DTypeError: It is bool.
    """
    build.check_kind(table.Op(name, "linalg", kinds="uifc"), node.dtype)
    return build.cast(node, dtypes.COMPLEX if node.dtype.kind == "complex" else dtypes.FLOAT)


def scaled(node: Node) -> tuple[Node, Node | None]:
    """Matrices whose largest part has size 1, so that no square overflows or vanishes; by what."""
    if 0 in node.shape:
        return node, None
    rank = len(node.shape)
    if node.dtype.kind == "complex":
        parts = [
            build.elementwise("abs", build.elementwise(part, node)) for part in ("real", "imag")
        ]
        sizes = build.elementwise("maximum", *parts)
    else:
        sizes = build.elementwise("abs", node)
    most = build.reduce("max", sizes, (rank - 2, rank - 1), keepdims=True)
    scale = build.elementwise("where", build.elementwise("equal", most, 0.0), 1.0, most)
    return build.elementwise("divide", node, scale), scale


def unscaled(values: Node, scale: Node | None) -> Node:
    """What was computed from `scaled` matrices: other matrices, or vectors of values."""
    if scale is None:
        return values
    if len(values.shape) < len(scale.shape):
        scale = build.reshape(scale, scale.shape[:-1])
    return build.elementwise("multiply", values, scale)


def adjoint(node: Node) -> Node:
    """Transposed and conjugated."""
    axes = list(range(len(node.shape)))
    axes[-2:] = axes[-1], axes[-2]
    turned = build.permute(node, axes)
    return build.elementwise("conj", turned) if node.dtype.kind == "complex" else turned


def _several(
    name: str, operands: tuple[Node, ...], outputs: list[tuple[Shape, DType]], **attrs: object
) -> list[Node]:
    """The outputs of a node that has several."""
    sizes = [prod(shape) * dtype.itemsize for shape, dtype in outputs]
    shape, dtype = outputs[0]
    node = Node(table.TABLE[name], operands, shape, dtype, {"outputs": sizes, **attrs})
    return [
        Node(table.PICK, (node,), shape, dtype, {"index": index})
        for index, (shape, dtype) in enumerate(outputs)
    ]


def lu(node: Node) -> tuple[Node, Node]:
    """L and U of a square matrix in one; and the row that each step swapped, int32."""
    if 0 in node.shape:
        return node, build.constant(0, dtypes.INT, node.shape[:-1])
    outputs = [(node.shape, node.dtype), (node.shape[:-1], dtypes.INT)]
    factors, pivots = _several("lu", (dense(node),), outputs)
    return factors, pivots


def lu_solve(factors: Node, pivots: Node, right: Node) -> Node:
    """The solutions of systems by what `lu` gives, whose batch is that of ``right``.

    A zero on the diagonal sets the fault word.
    """
    if 0 in right.shape:
        return right
    operands = (dense(factors), dense(pivots), dense(right))
    return Node(table.TABLE["lu_solve"], operands, right.shape, right.dtype)


def cholesky(node: Node) -> Node:
    """The lower factor of Hermitian matrices; what is not positive definite sets the fault word."""
    if 0 in node.shape:
        return node
    return Node(table.TABLE["cholesky"], (dense(node),), node.shape, node.dtype)


def qr(node: Node, *, complete: bool) -> tuple[Node, Node]:
    """Q of orthonormal columns and R, upper triangular."""
    *batch, m, n = node.shape
    wide = m if complete else min(m, n)
    shapes: tuple[Shape, Shape] = (*batch, m, wide), (*batch, wide, n)
    if 0 in node.shape:
        empty = build.constant(0.0, node.dtype, shapes[0])
        return (identity(shapes[0], node.dtype) if 0 not in shapes[0] else empty), build.constant(
            0.0, node.dtype, shapes[1]
        )
    outputs = [(shape, node.dtype) for shape in shapes]
    q, r = _several("qr", (dense(node),), outputs)
    return q, r


def identity(shape: Shape, dtype: DType) -> Node:
    """Ones on the diagonal of the last two axes."""
    m, n = shape[-2:]
    row = Node(table.IOTA, (), (m,), dtypes.INT, {"start": 0, "step": 1})
    column = Node(table.IOTA, (), (n,), dtypes.INT, {"start": 0, "step": 1})
    same = build.elementwise("equal", build.reshape(row, (m, 1)), build.reshape(column, (1, n)))
    return build.broadcast_to(build.cast(same, dtype), shape)


def eigh(node: Node, *, vectors: bool) -> tuple[Node, Node | None]:
    """Eigenvalues of Hermitian matrices in ascending order, float32; and eigenvectors."""
    shape = node.shape[:-1]
    if 0 in node.shape:
        return build.constant(0.0, dtypes.FLOAT, shape), node if vectors else None
    if not vectors:
        attrs = {"vectors": False}
        return Node(table.TABLE["eigh"], (dense(node),), shape, dtypes.FLOAT, attrs), None
    outputs = [(shape, dtypes.FLOAT), (node.shape, node.dtype)]
    values, found = _several("eigh", (dense(node),), outputs, vectors=True)
    return values, _orthonormal(found)


def _orthonormal(node: Node) -> Node:
    """Columns that are almost orthonormal, one step of Newton nearer (Bjorck and Bowie 1971).

    Thousands of rotations have rounded them.
    """
    n = node.shape[-1]
    product = build.matmul(adjoint(node), node)
    off = build.elementwise("subtract", identity((n, n), node.dtype), product)
    step = build.matmul(node, build.elementwise("multiply", off, 0.5))
    return build.elementwise("add", node, step)


def svdvals(node: Node) -> Node:
    """Singular values in descending order, float32."""
    *batch, m, n = node.shape
    if 0 in node.shape:
        return build.constant(0.0, dtypes.FLOAT, (*batch, min(m, n)))
    tall = node if m >= n else adjoint(node)
    shape = (*batch, min(m, n))
    return Node(table.TABLE["svd"], (dense(tall),), shape, dtypes.FLOAT, {"vectors": False})


def svd(node: Node, *, full: bool) -> tuple[Node, Node, Node]:
    """U, the singular values and the adjoint of V.

    The left vectors come out of the rotations as columns divided by their lengths. QR gives an
    orthonormal set that differs from them by signs, those of R's diagonal, and completes it where
    columns vanish.
    """
    *batch, m, n = node.shape
    if m < n:
        left, values, right = svd(adjoint(node), full=full)
        return adjoint(right), values, adjoint(left)
    if 0 in node.shape:
        empty = build.constant(0.0, dtypes.FLOAT, (*batch, n))
        left = identity((*batch, m, m if full else n), node.dtype)
        return left, empty, identity((*batch, n, n), node.dtype)
    outputs: list[tuple[Shape, DType]] = [
        ((*batch, n), dtypes.FLOAT), ((*batch, m, n), node.dtype), ((*batch, n, n), node.dtype),
    ]  # fmt: skip
    values, rough, right = _several("svd", (dense(node),), outputs, vectors=True)
    left, upper = qr(rough, complete=full)
    signs = build.elementwise("real", diagonal(upper))
    below = build.elementwise("less", signs, 0.0)
    flips = build.elementwise("where", below, -1.0, build.constant(1.0, dtypes.FLOAT))
    if full and m > n:
        beyond = build.constant(1.0, dtypes.FLOAT, (*batch, m - n))
        flips = concat([flips, beyond], len(batch))
    flips = build.reshape(flips, (*batch, 1, flips.shape[-1]))
    left = build.elementwise("multiply", left, flips)
    return left, values, adjoint(_orthonormal(right))


def diagonal(node: Node, offset: int = 0) -> Node:
    """The diagonal of the last two axes, ``offset`` above the main one, as a view."""
    *batch, m, n = node.shape
    count = max(0, min(m, n - offset) if offset >= 0 else min(m + offset, n))
    _, how = build.view_of(node)
    *strides, down, across = how.strides
    start = how.offset + (offset * across if offset >= 0 else -offset * down) * (count > 0)
    shape = (*batch, count)
    return build.view(node, how._replace(shape=shape, strides=(*strides, down + across),
                                         offset=start))  # fmt: skip
