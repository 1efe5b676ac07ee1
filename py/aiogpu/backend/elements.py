"""Elementwise operations; reductions, scans, gather and scatter along an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aiogpu import dtypes
from aiogpu.backend.handles import Handles, count, known
from aiogpu.graph import blocks, build
from aiogpu.shapes import View, axis_index

if TYPE_CHECKING:
    from collections.abc import Sequence

UNARY: Final = {
    "relu": "relu", "sigmoid": "sigmoid", "tanh": "tanh", "exp": "exp", "log": "log",
    "sqrt": "sqrt", "abs": "abs", "neg": "negative", "gelu": "gelu", "silu": "silu",
    "erf": "erf", "sin": "sin", "cos": "cos",
    "reciprocal": "reciprocal", "floor": "floor", "ceil": "ceil",
}  # fmt: skip
BINARY: Final = {
    "add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "max": "maximum",
    "min": "minimum", "pow": "pow", "mod": "remainder",
}  # fmt: skip
REDUCTIONS: Final = ("sum", "prod", "max", "min", "mean", "argmax", "argmin")


class Elements(Handles):
    """Methods 14 and 16 to 19, and scans."""

    def unary(self, op: str, src: int, dst: int, n: int) -> None:
        """``dst`` = ``op`` of the first ``n`` elements of ``src``; see `UNARY` for the operations.

        Raises:
            HandleError: A handle is unknown or freed.
            UsageError: Another ``op``, or the bytes of a handle do not suffice.
        """
        known("unary", op, UNARY)
        node = self._input("unary", src, (count("unary", n),))
        self._output("unary", dst, build.elementwise(UNARY[op], node))

    def binary(self, op: str, a: int, b: int, dst: int, n: int) -> None:
        """``dst`` = ``op`` of the first ``n`` elements of ``a`` and ``b``; see `BINARY`.

        Raises:
            HandleError: A handle is unknown or freed.
            UsageError: Another ``op``, or the bytes of a handle do not suffice.
        """
        known("binary", op, BINARY)
        first = self._input("binary", a, (count("binary", n),))
        second = self._input("binary", b, (n,))
        self._output("binary", dst, build.elementwise(BINARY[op], first, second))

    def reduce(self, op: str, src: int, dst: int, shape: Sequence[int], axis: int) -> None:
        """``dst`` = sum, prod, max, min, mean, argmax or argmin of ``src`` along ``axis``.

        argmax and argmin give int32: the first NaN, else the first of the extreme elements.

        Raises:
            HandleError: A handle is unknown or freed.
            UsageError: Another ``op``; a max or min of no elements.
            AxisError: There is no such axis.
        """
        known("reduce", op, REDUCTIONS)
        node = self._input("reduce", src, tuple(shape))
        if op.startswith("arg"):
            result = blocks.search(op, node, axis, keepdims=False)
        else:
            result = build.reduction(op, node, axis, keepdims=False)
        self._output("reduce", dst, result)

    def scan(
        self, op: str, src: int, dst: int, shape: Sequence[int], axis: int,
        exclusive: bool = False,
    ) -> None:  # fmt: skip
        """``dst`` = cumulative ``sum`` or ``prod`` of ``src`` along ``axis``.

        Inclusive; or exclusive, which begins with 0 or 1 and leaves out each element itself.

        Raises:
            HandleError: A handle is unknown or freed.
            UsageError: Another ``op``.
            AxisError: There is no such axis.
        """
        known("scan", op, ("sum", "prod"))
        node = self._input("scan", src, tuple(shape))
        name = f"cumulative_{op}"
        self._output("scan", dst, blocks.along(name, node, axis, exclusive=bool(exclusive)))

    def gather(
        self, src: int, indices: int, dst: int, shape: Sequence[int], axis: int, nindices: int,
        mode: str = "clamp",
    ) -> None:  # fmt: skip
        """``dst`` = the elements of ``src`` at ``nindices`` int32 ``indices`` along ``axis``.

        Args:
            src: A handle of ``shape``.
            indices: A handle of ``nindices`` int32.
            dst: A handle; its shape is ``shape`` with ``nindices`` along ``axis``.
            shape: Sizes of the axes of ``src``.
            axis: The axis.
            nindices: Number of indices.
            mode: ``clamp`` takes the nearest element for an index out of range; ``raise`` raises
                AxisError at the next read or `synchronize`.

        Raises:
            HandleError: A handle is unknown or freed.
            UsageError: Another mode, or the bytes of a handle do not suffice.
        """
        known("gather", mode, ("clamp", "raise"))
        data = self._input("gather", src, tuple(shape))
        where = self._input("gather", indices, (count("gather", nindices),), dtypes.int32)
        self._output("gather", dst, blocks.gather(data, where, axis, raises=mode == "raise"))

    def scatter(
        self, src: int, indices: int, dst: int, shape: Sequence[int], axis: int, nindices: int,
        mode: str = "clamp",
    ) -> None:  # fmt: skip
        """Put the elements of ``src`` into ``dst`` of ``shape`` at ``indices`` along ``axis``.

        The reverse of `gather`; which of two elements with one index stays is not specified. In
        mode ``raise`` an index out of range stores nothing.

        Raises:
            HandleError: A handle is unknown or freed.
            UsageError: Another mode, or the bytes of a handle do not suffice.
        """
        known("scatter", mode, ("clamp", "raise"))
        whole = tuple(shape)
        at = axis_index(axis, len(whole), "scatter")
        taken = (*whole[:at], count("scatter", nindices), *whole[at + 1 :])
        data = self._input("scatter", src, taken)
        where = self._input("scatter", indices, (nindices,), dtypes.int32)
        target = self._buffer("scatter", dst)
        self._check("scatter", "dst", target, View.contiguous(whole), dtypes.float32)
        # The scatter works on the whole buffer, of which `whole` is the beginning.
        base = build.view(target.node, View.contiguous(whole), dtypes.float32)
        result = blocks.scatter(build.copy(base), data, where, axis, raises=mode == "raise")
        self._output("scatter", dst, result)
