"""Matrix products and transposition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aiogpu import dtypes
from aiogpu.backend import layouts
from aiogpu.backend.handles import Handles, count
from aiogpu.errors import UsageError
from aiogpu.graph import build
from aiogpu.shapes import axis_index

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiogpu.dtypes import DType
    from aiogpu.graph.node import Node

PRECISIONS: Final = {"f16": dtypes.float16, "bf16": dtypes.bfloat16}


class Linear(Handles):
    """Methods 7 to 9, and transposition."""

    def gemm(
        self, trans_a: str, trans_b: str, m: int, n: int, k: int, alpha: float, a: int, lda: int,
        b: int, ldb: int, beta: float, c: int, ldc: int,
    ) -> None:  # fmt: skip
        """C = alpha * op(A) @ op(B) + beta * C, as BLAS; op by ``N``, ``T`` or ``C``.

        With ``beta`` 0, C is not read: a NaN in it does not survive. ``k`` may be 0.

        Raises:
            HandleError: A handle is unknown or freed.
            UsageError: Another ``trans``, a negative size, a leading dimension that is too small,
                or a matrix that reaches beyond its bytes.
        """
        self._gemm("gemm", dtypes.float32, trans_a, trans_b, (1, m, n, k), alpha, (a, lda, 0),
                   (b, ldb, 0), beta, (c, ldc, 0))  # fmt: skip

    def batched_gemm(
        self, trans_a: str, trans_b: str, m: int, n: int, k: int, alpha: float, a: int, lda: int,
        stride_a: int, b: int, ldb: int, stride_b: int, beta: float, c: int, ldc: int,
        stride_c: int, batch_count: int,
    ) -> None:  # fmt: skip
        """`gemm` for ``batch_count`` matrices that lie ``stride_*`` elements apart.

        A stride of 0 repeats an operand; the results must not overlap.

        Raises:
            HandleError: A handle is unknown or freed.
            UsageError: As for `gemm`; or results overlap.
        """
        self._gemm("batched_gemm", dtypes.float32, trans_a, trans_b, (batch_count, m, n, k), alpha,
                   (a, lda, stride_a), (b, ldb, stride_b), beta, (c, ldc, stride_c))  # fmt: skip

    def gemm_mixed_precision(
        self, precision: str, trans_a: str, trans_b: str, m: int, n: int, k: int, alpha: float,
        a: int, lda: int, b: int, ldb: int, beta: float, c: int, ldc: int,
    ) -> None:  # fmt: skip
        """`gemm` of A and B stored as ``f16`` or ``bf16``; C is float32, and so are all sums.

        Needs no shader-f16: the bits are widened by integer arithmetic.

        Raises:
            HandleError: A handle is unknown or freed.
            UsageError: Another precision; else as for `gemm`.
        """
        if precision not in PRECISIONS:
            raise UsageError(
                f"gemm_mixed_precision: precision {precision!r}: there are {list(PRECISIONS)}"
            )
        self._gemm("gemm_mixed_precision", PRECISIONS[precision], trans_a, trans_b, (1, m, n, k),
                   alpha, (a, lda, 0), (b, ldb, 0), beta, (c, ldc, 0))  # fmt: skip

    def _gemm(
        self, name: str, dtype: DType, trans_a: str, trans_b: str, sizes: tuple[int, int, int, int],
        alpha: float, a: tuple[int, int, int], b: tuple[int, int, int], beta: float,
        c: tuple[int, int, int],
    ) -> None:  # fmt: skip
        batch, m, n, k = (count(name, size) for size in sizes)
        target = self._buffer(name, c[0])
        out = layouts.matrices(name, "c", (batch, m, n), c[1], c[2])
        self._check(name, "c", target, out, dtypes.float32)
        if batch > 1 and layouts.overlaps(out):
            raise UsageError(f"{name}: c: stride {c[2]}, ldc {c[1]}: the results overlap")
        left = self._matrix(name, "a", trans_a, a, (batch, m, k), dtype)
        right = self._matrix(name, "b", trans_b, b, (batch, k, n), dtype)
        if 0 in (batch, m, n):
            return
        result = build.matmul(left, right)
        if alpha != 1:
            result = build.elementwise("multiply", result, float(alpha))
        if beta != 0:
            old = build.view(target.node, out, dtypes.float32)
            result = build.elementwise(
                "add", result, build.elementwise("multiply", old, float(beta))
            )
        self._store(target, result, out)

    def _matrix(
        self, name: str, label: str, trans: str, given: tuple[int, int, int],
        shape: tuple[int, int, int], dtype: DType,
    ) -> Node:  # fmt: skip
        handle, leading, stride = given
        if trans not in {"N", "T", "C"}:
            raise UsageError(f"{name}: trans_{label} {trans!r}: must be N, T or C")
        buffer = self._buffer(name, handle)
        batch, rows, columns = shape
        stored = shape if trans == "N" else (batch, columns, rows)
        how = layouts.matrices(name, label, stored, leading, stride)
        self._check(name, label, buffer, how, dtype)
        if trans != "N":
            how = how.permute((0, 2, 1))
        return build.cast(build.view(buffer.node, how, dtype), dtypes.float32)

    def transpose(self, src: int, dst: int, shape: Sequence[int], axes: Sequence[int]) -> None:
        """``dst`` = ``src`` of ``shape`` with its axes in the order ``axes``.

        Raises:
            HandleError: A handle is unknown or freed.
            UsageError: ``axes`` does not name every axis once, or the bytes do not suffice.
        """
        node = self._input("transpose", src, tuple(shape))
        order = [axis_index(axis, len(shape), "transpose") for axis in axes]
        if sorted(order) != list(range(len(shape))):
            raise UsageError(f"transpose: axes {tuple(axes)}: must name each axis once")
        self._output("transpose", dst, build.permute(node, order))
