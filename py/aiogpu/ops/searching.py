"""Searching functions of the Array API standard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiogpu.ops.elementwise import _apply

if TYPE_CHECKING:
    from aiogpu.array import Array
    from aiogpu.dtypes import Scalar


def where(condition: Array, x1: Array | Scalar, x2: Array | Scalar, /) -> Array:
    """``x1`` where ``condition`` holds, else ``x2``; all broadcast, ``x1`` and ``x2`` promote.

    Raises:
        ShapeError: They do not broadcast.
        DTypeError: ``x1`` and ``x2`` do not promote.
    """
    return _apply("where", condition, x1, x2)
