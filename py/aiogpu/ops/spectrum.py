"""Eigenvalues and singular values, and what is made of them, for the ``linalg`` extension.

By Jacobi's rotations, some eight to ten sweeps over all pairs (`aiogpu.kernels.jacobi` names the
papers): errors of some units of float32's precision times the norm of the matrix. Everything is
float32 or complex64, whole batches at once, and enqueued: no function reads. A matrix with a NaN or
an infinity gives NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiogpu import dtypes
from aiogpu.array import Array
from aiogpu.graph import build, matrices

if TYPE_CHECKING:
    from aiogpu.graph.node import Node

EPSILON = 2.0**-23


class EighResult(NamedTuple):
    """What `eigh` gives."""

    eigenvalues: Array
    eigenvectors: Array


class SVDResult(NamedTuple):
    """What `svd` gives."""

    U: Array
    S: Array
    Vh: Array


def eigh(x: Array, /) -> EighResult:
    """Eigenvalues, and an orthonormal set of eigenvectors, of Hermitian matrices.

    Args:
        x: Shape ``(*batch, n, n)``; numeric; only the lower half is read.

    Returns:
        ``eigenvalues``, float32, ascending, ``(*batch, n)``; ``eigenvectors``, the columns of
        ``(*batch, n, n)``.

    Raises:
        ShapeError: The matrices are not square.
        DTypeError: ``x`` is bool.
    """
    node, scale = matrices.scaled(matrices.matrices("eigh", x._node, square=True))
    values, vectors = matrices.eigh(node, vectors=True)
    assert vectors is not None
    return EighResult(Array(matrices.unscaled(values, scale)), Array(vectors))


def eigvalsh(x: Array, /) -> Array:
    """Eigenvalues of Hermitian matrices, as of `eigh`, without the vectors.

    Args:
        x: Shape ``(*batch, n, n)``; numeric; only the lower half is read.

    Returns:
        float32, ascending, ``(*batch, n)``.

    Raises:
        ShapeError: The matrices are not square.
        DTypeError: ``x`` is bool.
    """
    node, scale = matrices.scaled(matrices.matrices("eigvalsh", x._node, square=True))
    return Array(matrices.unscaled(matrices.eigh(node, vectors=False)[0], scale))


def svd(x: Array, /, *, full_matrices: bool = True) -> SVDResult:
    """``x = U @ diag(S) @ Vh`` with orthonormal columns of ``U`` and rows of ``Vh``.

    Args:
        x: Shape ``(*batch, m, n)``; numeric.
        full_matrices: Complete ``U`` and ``Vh`` to square matrices; else they have
            ``k = min(m, n)`` columns and rows.

    Returns:
        ``U``, ``(*batch, m, m)`` or ``(*batch, m, k)``; ``S``, float32, descending,
        ``(*batch, k)``; ``Vh``, ``(*batch, n, n)`` or ``(*batch, k, n)``.

    Raises:
        ShapeError: There are fewer than two axes.
        DTypeError: ``x`` is bool.
    """
    node, scale = matrices.scaled(matrices.matrices("svd", x._node))
    left, values, right = matrices.svd(node, full=full_matrices)
    return SVDResult(Array(left), Array(matrices.unscaled(values, scale)), Array(right))


def svdvals(x: Array, /) -> Array:
    """Singular values, as of `svd`, without the vectors.

    Args:
        x: Shape ``(*batch, m, n)``; numeric.

    Returns:
        float32, descending, ``(*batch, min(m, n))``.

    Raises:
        ShapeError: There are fewer than two axes.
        DTypeError: ``x`` is bool.
    """
    node, scale = matrices.scaled(matrices.matrices("svdvals", x._node))
    return Array(matrices.unscaled(matrices.svdvals(node), scale))


def matrix_rank(x: Array, /, *, rtol: float | Array | None = None) -> Array:
    """How many singular values exceed ``rtol`` times the largest.

    Args:
        x: Shape ``(*batch, m, n)``; numeric.
        rtol: A number, or shape ``batch``; by default ``max(m, n)`` times float32's epsilon.

    Returns:
        int32, shape ``batch``.

    Raises:
        ShapeError: There are fewer than two axes.
        DTypeError: ``x`` is bool.
    """
    values = svdvals(x)._node
    if 0 in values.shape:
        return Array(build.constant(0, dtypes.INT, values.shape[:-1]))
    above = build.elementwise("greater", values, _cutoff(values, rtol, max(x.shape[-2:])))
    return Array(build.reduction("sum", above, len(values.shape) - 1, keepdims=False))


def _cutoff(values: Node, rtol: float | Array | None, size: int) -> Node:
    """Below what singular values count as zeros; the last axis has size 1."""
    largest = build.reduce("max", values, (len(values.shape) - 1,), keepdims=True)
    if isinstance(rtol, Array):
        factor = build.reshape(rtol._node, (*rtol.shape, 1))
        return build.elementwise("multiply", largest, factor)
    return build.elementwise("multiply", largest, size * EPSILON if rtol is None else float(rtol))


def pinv(x: Array, /, *, rtol: float | Array | None = None) -> Array:
    """The Moore-Penrose pseudo-inverse, by `svd`.

    Args:
        x: Shape ``(*batch, m, n)``; numeric.
        rtol: Singular values up to ``rtol`` times the largest count as zeros; a number, or shape
            ``batch``; by default ``max(m, n)`` times float32's epsilon.

    Returns:
        Shape ``(*batch, n, m)``.

    Raises:
        ShapeError: There are fewer than two axes.
        DTypeError: ``x`` is bool.
    """
    left, s, right = svd(x, full_matrices=False)
    values = s._node
    if 0 in x.shape:
        return Array(matrices.adjoint(matrices.matrices("pinv", x._node)))
    above = build.elementwise("greater", values, _cutoff(values, rtol, max(x.shape[-2:])))
    inverses = build.elementwise("where", above, build.elementwise("reciprocal", values), 0.0)
    rows = build.reshape(inverses, (*values.shape, 1))
    scaled = build.elementwise("multiply", matrices.adjoint(left._node), rows)
    return Array(build.matmul(matrices.adjoint(right._node), scaled))
