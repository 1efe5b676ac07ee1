"""The ``linalg`` extension of the Array API standard, as `aiogpu.linalg`. No function reads."""

from aiogpu.ops.factorization import cholesky, det, inv, matrix_power, qr, slogdet, solve
from aiogpu.ops.linalg import matmul, matrix_transpose, tensordot, vecdot
from aiogpu.ops.norms import cross, diagonal, matrix_norm, outer, trace, vector_norm
from aiogpu.ops.spectrum import eigh, eigvalsh, matrix_rank, pinv, svd, svdvals

__all__ = [
    "cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm",
    "matrix_power", "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve",
    "svd", "svdvals", "tensordot", "trace", "vecdot", "vector_norm",
]  # fmt: skip
