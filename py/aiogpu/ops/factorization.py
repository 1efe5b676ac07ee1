"""Systems of equations and factorisations of matrices, for the ``linalg`` extension.

Everything is float32 or complex64 (integers and float16 become float32) and whole batches at once.
Everything is enqueued: no function reads. What only the data show, a singular matrix or one that is
not positive definite, is raised as a UsageError by the next read or `synchronize`, with the
operation and its line; the values of such results are not specified.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from aiogpu import dtypes, shapes
from aiogpu.array import Array
from aiogpu.errors import ShapeError, UsageError
from aiogpu.graph import build, matrices, table
from aiogpu.graph.node import Node

if TYPE_CHECKING:
    from aiogpu.shapes import Shape


class QRResult(NamedTuple):
    """What `qr` gives."""

    Q: Array
    R: Array


class SlogdetResult(NamedTuple):
    """What `slogdet` gives."""

    sign: Array
    logabsdet: Array


def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """L of ``x = L @ L.mT.conj()``, lower triangular; of ``x`` only that half is read.

    By blocks of 32 columns (Golub and Van Loan, "Matrix Computations", 4.2).

    Args:
        x: Shape ``(*batch, n, n)``; Hermitian and positive definite; numeric.
        upper: Give the adjoint of L, and read the upper half.

    Returns:
        The shape of ``x``.

    Raises:
        ShapeError: The matrices are not square.
        DTypeError: ``x`` is bool.
        UsageError: Raised by the next read: a matrix is not positive definite.
    """
    node = matrices.matrices("cholesky", x._node, square=True)
    if upper:
        return Array(matrices.adjoint(matrices.cholesky(matrices.adjoint(node))))
    return Array(matrices.cholesky(node))


def qr(x: Array, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """``x = Q @ R``, by Householder's reflections ("Matrix Computations", 5.2).

    Args:
        x: Shape ``(*batch, m, n)``; numeric.
        mode: ``"reduced"`` for ``k = min(m, n)``, ``"complete"`` for ``k = m``.

    Returns:
        ``Q`` of orthonormal columns, ``(*batch, m, k)``, and ``R``, upper triangular,
        ``(*batch, k, n)``.

    Raises:
        ShapeError: There are fewer than two axes.
        DTypeError: ``x`` is bool.
        UsageError: Another mode.
    """
    if mode not in {"reduced", "complete"}:
        raise UsageError(f"qr: mode {mode!r}: must be 'reduced' or 'complete'")
    node, scale = matrices.scaled(matrices.matrices("qr", x._node))
    q, r = matrices.qr(node, complete=mode == "complete")
    return QRResult(Array(q), Array(matrices.unscaled(r, scale)))


def solve(x1: Array, x2: Array, /) -> Array:
    """The ``x`` of ``x1 @ x = x2``, by LU with partial pivoting ("Matrix Computations", 3.4).

    Args:
        x1: Shape ``(*batch, n, n)``; numeric.
        x2: Shape ``(n,)``, a vector, or ``(*batch, n, k)``. Batches broadcast, dtypes promote.

    Returns:
        Shape ``(*batch, n)`` or ``(*batch, n, k)``.

    Raises:
        ShapeError: The matrices are not square, or the shapes do not fit.
        DTypeError: The dtypes do not promote, or are bool.
        UsageError: Raised by the next read: a matrix is singular.
    """
    dtype = build.promotion((x1._node, x2._node), "solve")
    first = matrices.matrices("solve", build.cast(x1._node, dtype), square=True)
    second = matrices.floating("solve", build.cast(x2._node, dtype))
    is_vector = len(second.shape) == 1
    if is_vector:
        second = build.reshape(second, (*second.shape, 1))
    n = first.shape[-1]
    if len(second.shape) < 2 or second.shape[-2] != n:
        raise ShapeError(
            f"solve: matrices {x1.shape} and right sides {x2.shape}: must be (*batch, {n}, {n}) "
            f"and ({n},) or (*batch, {n}, k)"
        )
    batch = shapes.broadcast((first.shape[:-2], second.shape[:-2]), "solve")
    right = build.broadcast_to(second, (*batch, *second.shape[-2:]), "solve")
    result = _solve(first, right)
    return Array(build.reshape(result, (*batch, n)) if is_vector else result)


def _solve(first: Node, right: Node) -> Node:
    n = first.shape[-1]
    batch: Shape = right.shape[:-2]
    factors, pivots = matrices.lu(first)
    factors = build.broadcast_to(factors, (*batch, n, n), "solve")
    pivots = build.broadcast_to(pivots, (*batch, n), "solve")
    return matrices.lu_solve(factors, pivots, right)


def inv(x: Array, /) -> Array:
    """The inverse of square matrices, by LU with partial pivoting.

    Args:
        x: Shape ``(*batch, n, n)``; numeric.

    Returns:
        The shape of ``x``.

    Raises:
        ShapeError: The matrices are not square.
        DTypeError: ``x`` is bool.
        UsageError: Raised by the next read: a matrix is singular.
    """
    node = matrices.matrices("inv", x._node, square=True)
    return Array(_solve(node, matrices.identity(node.shape, node.dtype)))


def det(x: Array, /) -> Array:
    """The determinant of square matrices, by LU with partial pivoting.

    Args:
        x: Shape ``(*batch, n, n)``; numeric.

    Returns:
        Shape ``batch``; 0 for singular matrices.

    Raises:
        ShapeError: The matrices are not square.
        DTypeError: ``x`` is bool.
    """
    node = matrices.matrices("det", x._node, square=True)
    pivots, sign = _pivots(node)
    product = build.reduce("prod", pivots, (len(pivots.shape) - 1,), keepdims=False)
    return Array(build.elementwise("multiply", product, sign))


def slogdet(x: Array, /) -> SlogdetResult:
    """The sign of the determinant, and the logarithm of its size, which does not overflow.

    Args:
        x: Shape ``(*batch, n, n)``; numeric.

    Returns:
        ``sign`` (for complex matrices of length 1) and ``logabsdet`` (float32), both of shape
        ``batch``; 0 and -inf for singular matrices.

    Raises:
        ShapeError: The matrices are not square.
        DTypeError: ``x`` is bool.
    """
    node = matrices.matrices("slogdet", x._node, square=True)
    pivots, swaps = _pivots(node)
    last = (len(pivots.shape) - 1,)
    sign = build.reduce("prod", build.elementwise("sign", pivots), last, keepdims=False)
    logs = build.elementwise("log", build.elementwise("abs", pivots))
    total = build.reduce("sum", logs, last, keepdims=False)
    return SlogdetResult(Array(build.elementwise("multiply", sign, swaps)), Array(total))


def _pivots(node: Node) -> tuple[Node, Node]:
    """The diagonal of U, and the sign of the permutation, float32."""
    n = node.shape[-1]
    factors, swaps = matrices.lu(node)
    order = Node(table.IOTA, (), (n,), dtypes.INT, {"start": 0, "step": 1})
    moved = build.elementwise("not_equal", swaps, order)
    signs = build.elementwise("where", moved, -1.0, build.constant(1.0, dtypes.FLOAT))
    sign = build.reduce("prod", signs, (len(signs.shape) - 1,), keepdims=False)
    return matrices.diagonal(factors), sign


def matrix_power(x: Array, n: int, /) -> Array:
    """The ``n``-th power of square matrices, by repeated squaring.

    Args:
        x: Shape ``(*batch, m, m)``; numeric.
        n: Below 0, powers of the inverse; 0 gives the identity.

    Returns:
        The shape of ``x``.

    Raises:
        ShapeError: The matrices are not square.
        DTypeError: ``x`` is bool.
        UsageError: Raised by the next read: ``n`` is negative and a matrix is singular.
    """
    node = matrices.matrices("matrix_power", x._node, square=True)
    if n == 0:
        return Array(matrices.identity(node.shape, node.dtype))
    square = inv(x)._node if n < 0 else node
    result: Node | None = None
    left = abs(n)
    while True:
        if left & 1:
            result = square if result is None else build.matmul(result, square)
        left >>= 1
        if not left:
            assert result is not None
            return Array(result)
        square = build.matmul(square, square)
