"""Matrices in flat memory, as BLAS describes them, as views."""

from __future__ import annotations

from aiogpu.errors import UsageError
from aiogpu.shapes import View


def matrices(name: str, label: str, shape: tuple[int, int, int], leading: int, stride: int) -> View:
    """A batch of row-major matrices: rows ``leading`` elements apart, matrices ``stride``.

    Raises:
        UsageError: ``leading`` is shorter than a row, or ``stride`` is negative.
    """
    _, rows, columns = shape
    if leading < max(1, columns):
        raise UsageError(
            f"{name}: ld{label} {leading}: a row of the {rows} x {columns} matrix is longer"
        )
    if stride < 0:
        raise UsageError(f"{name}: stride_{label} {stride}: must not be negative")
    return View(shape, (stride, leading, 1))


def region(how: View) -> int:
    """One more than the last element that a view reaches; 0 for an empty one."""
    if 0 in how.shape:
        return 0
    steps = (max(0, (size - 1) * s) for size, s in zip(how.shape, how.strides, strict=True))
    return how.offset + sum(steps) + 1


def overlaps(how: View) -> bool:
    """Whether two matrices of a batch share an element; rows do not overlap."""
    batch, rows, columns = how.shape
    if 0 in how.shape or batch == 1:
        return False
    stride, leading, _ = how.strides
    if stride >= (rows - 1) * leading + columns:
        return False
    # Interleaved matrices are fine where every row of the batch fits between two rows of one.
    return not (stride >= columns and (batch - 1) * stride + columns <= leading)
