"""Linear algebra of the Array API's main namespace."""

from __future__ import annotations

from aiogpu.array import Array
from aiogpu.graph import build


def matmul(x1: Array, x2: Array, /) -> Array:
    """Matrix product over the last axis of ``x1`` and the last but one of ``x2``.

    Args:
        x1: Shape ``(*batch, m, k)``, or ``(k,)``; numeric.
        x2: Shape ``(*batch, k, n)``, or ``(k,)``; numeric. Batches broadcast, dtypes promote.

    Returns:
        Shape ``(*batch, m, n)``, without the axis of a vector. Integers are exact modulo 2^32.

    Raises:
        ShapeError: The two ``k`` differ, the batches do not broadcast, or an operand is 0-d.
        DTypeError: The dtypes do not promote, or are bool.
    """
    return Array(build.matmul(x1._node, x2._node))


def matrix_transpose(x: Array, /) -> Array:
    """``x`` with its last two axes swapped, as a view.

    Raises:
        UsageError: There are fewer than two axes.
    """
    return x.mT
