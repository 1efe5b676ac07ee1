"""Giving up digits for speed."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from aiogpu.graph import build

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def fast_math() -> Iterator[None]:
    """Compute by the adapter's own functions what is made within the block.

    For ``exp``, ``log``, ``sin``, ``tanh``, ``pow``, division, ``sigmoid`` and their kin, in
    float16 and float32. What it costs is up to the adapter: WGSL lets ``sin`` be off by 2^-11
    between -pi and pi and by anything beyond, software adapters have been seen to be off by 4e-4 in
    ``asin`` and by 0.1 in ``sin`` at 1e6, ``pow`` of a negative number is NaN, and results near and
    beyond the ends of the range, infinities and NaN among them, may be anything. ``gelu`` is the
    approximation by the logistic function.

    It holds for the operations made in the block, whenever they are computed, and no others; a
    setting of the task, not of the interpreter.
    """
    token = build.FAST.set(True)
    try:
        yield
    finally:
        build.FAST.reset(token)
