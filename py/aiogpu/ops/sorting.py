"""Sorting functions of the Array API standard, and `top_k`. All on the GPU, at any length.

Equals keep their order, -0 and 0 among them. NaN counts as greater than every number: it is last in
ascending order and first in descending order. Complex numbers have no order: DTypeError.
"""

from __future__ import annotations

from typing import NamedTuple

from aiogpu.array import Array
from aiogpu.errors import UsageError
from aiogpu.graph import orders
from aiogpu.shapes import axis_index


class TopK(NamedTuple):
    """The first elements in an order, and the places that they come from."""

    values: Array
    indices: Array


def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The places, int32, along ``axis`` from which the sorted elements of ``x`` come.

    Args:
        x: Any real dtype, at least one axis.
        axis: The axis.
        descending: From greatest to least.
        stable: Equals keep their order; they do so anyway.

    Raises:
        AxisError: There is no such axis.
        DTypeError: ``x`` is complex.
    """
    del stable
    return Array(orders.argsort(x._node, axis, descending=descending))


def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The elements of ``x`` in order along ``axis``.

    Args:
        x: Any real dtype, at least one axis.
        axis: The axis.
        descending: From greatest to least.
        stable: Equals keep their order; they do so anyway.

    Raises:
        AxisError: There is no such axis.
        DTypeError: ``x`` is complex.
    """
    del stable
    came_from = orders.argsort(x._node, axis, descending=descending, name="sort")
    return Array(orders.take_along(x._node, came_from, axis))


def top_k(x: Array, k: int, /, *, axis: int = -1, mode: str = "largest") -> TopK:
    """The ``k`` largest or smallest elements along ``axis``, in order, and their places, int32.

    Of equals those that come first are taken.

    Args:
        x: Any real dtype, at least one axis.
        k: How many, at most the size of ``axis``.
        axis: The axis.
        mode: ``"largest"``, from greatest to least, or ``"smallest"``, from least to greatest.

    Raises:
        AxisError: There is no such axis.
        DTypeError: ``x`` is complex.
        UsageError: ``k`` is negative or greater than the size of ``axis``, or there is no such
            mode.
    """
    size = x.shape[axis_index(axis, x.ndim, "top_k")]
    if not 0 <= k <= size:
        raise UsageError(f"top_k: k {k}: axis {axis} of shape {x.shape} has {size} elements")
    if mode not in {"largest", "smallest"}:
        raise UsageError(f"top_k: mode {mode!r}: must be 'largest' or 'smallest'")
    places = orders.argsort(x._node, axis, descending=mode == "largest", keep=k, name="top_k")
    return TopK(Array(orders.take_along(x._node, places, axis)), Array(places))
