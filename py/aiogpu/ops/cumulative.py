"""Cumulative sums and products and differences, of the Array API standard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiogpu import dtypes, shapes
from aiogpu.array import Array
from aiogpu.errors import UsageError
from aiogpu.graph import blocks, build, table
from aiogpu.ops.manipulation import concat

if TYPE_CHECKING:
    from aiogpu.graph.node import Node


def cumulative_sum(
    x: Array, /, *, axis: int | None = None, dtype: object = None, include_initial: bool = False
) -> Array:
    """Sums of the elements up to each one along ``axis``; float32 carries rounding errors along.

    Args:
        x: Numeric.
        axis: May be left out where ``x`` has one axis.
        dtype: In which the sums are made; by default as for `aiogpu.sum`.
        include_initial: Whether 0 comes first, so that the result is one longer.

    Raises:
        AxisError: There is no such axis.
        UsageError: ``axis`` is left out, and there is not one axis.
        DTypeError: ``x`` is bool.
    """
    return _cumulate("cumulative_sum", x, axis, dtype, include_initial)


def cumulative_prod(
    x: Array, /, *, axis: int | None = None, dtype: object = None, include_initial: bool = False
) -> Array:
    """Products of the elements up to each one along ``axis``; else as `cumulative_sum`, with 1."""
    return _cumulate("cumulative_prod", x, axis, dtype, include_initial)


def _cumulate(name: str, x: Array, axis: int | None, dtype: object, include_initial: bool) -> Array:
    if axis is None and x.ndim != 1:
        raise UsageError(f"{name}: shape {x.shape}: axis may be left out for one axis only")
    at = shapes.axis_index(axis or 0, x.ndim, name)
    build.check_kind(table.TABLE[name], x.dtype)
    wanted = build.accumulates(x.dtype) if dtype is None else dtypes.as_dtype(dtype, name)
    made = blocks.along(name, build.cast(x._node, wanted), at, exclusive=False)
    if not include_initial:
        return Array(made)
    first = 0 if name == "cumulative_sum" else 1
    shape = (*x.shape[:at], 1, *x.shape[at + 1 :])
    return concat([Array(build.constant(first, wanted, shape)), Array(made)], axis=at)


def diff(
    x: Array,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: Array | None = None,
    append: Array | None = None,
) -> Array:
    """Differences of neighbours along ``axis``, ``n`` times over.

    Args:
        x: Numeric; bools differ where they are not equal.
        axis: The axis.
        n: How often; 0 gives ``x``.
        prepend: What to put before ``x`` along the axis first.
        append: What to put behind it.

    Raises:
        AxisError: There is no such axis.
        UsageError: ``n`` is negative.
        ShapeError: ``prepend`` or ``append`` does not fit.
    """
    if n < 0:
        raise UsageError(f"diff: n {n}: must not be negative")
    at = shapes.axis_index(axis, x.ndim, "diff")
    parts = [part for part in (prepend, x, append) if part is not None]
    node = (concat(parts, axis=at) if len(parts) > 1 else x)._node
    for _ in range(n):
        node = _difference(node, at)
    return Array(node)


def _difference(node: Node, axis: int) -> Node:
    whole = Array(node)
    before = (slice(None),) * axis
    name = "not_equal" if node.dtype.kind == "bool" else "subtract"
    later, earlier = whole[(*before, slice(1, None))], whole[(*before, slice(None, -1))]
    return build.elementwise(name, later._node, earlier._node)
