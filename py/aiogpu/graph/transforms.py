"""Nodes of Fourier transforms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aiogpu import dtypes
from aiogpu.errors import LimitError
from aiogpu.graph import build, table
from aiogpu.graph.node import Node

if TYPE_CHECKING:
    from aiogpu.shapes import Shape

MAX_LENGTH: Final = 1 << 27  # so that four times an index of the longest chirp fits a word


def transform(
    name: str,
    node: Node,
    axis: int,
    n: int,
    *,
    scale: float,
    inverse: bool = False,
    hermitian: bool = False,
    half: bool = False,
) -> Node:
    """The discrete Fourier transform of length ``n`` along ``axis``, times ``scale``.

    Args:
        name: Who asks, for errors.
        node: float32 or complex64. What there is beyond ``n`` elements is left out, what is
            missing is zeros.
        axis: Counted from the front.
        n: At least 1.
        scale: What the sums are multiplied by.
        inverse: With exp(+2 pi i jk / n).
        hermitian: The elements are the first half, n // 2 + 1, of a Hermitian signal: the result is
            real.
        half: Only the first n // 2 + 1 results are kept.

    Raises:
        LimitError: The transform is longer than `MAX_LENGTH`.
    """
    if n > MAX_LENGTH:
        raise LimitError(f"{name}: length {n}: at most {MAX_LENGTH}")
    keep = n // 2 + 1 if half else n
    shape: Shape = (*node.shape[:axis], keep, *node.shape[axis + 1 :])
    dtype = dtypes.FLOAT if hermitian else dtypes.COMPLEX
    if 0 in shape or 0 in node.shape:
        return build.constant(0.0 if hermitian else 0j, dtype, shape)
    attrs = {"axis": axis, "n": n, "inverse": inverse, "hermitian": hermitian, "scale": scale}
    return Node(table.FFT, (node,), shape, dtype, attrs)
