"""Set functions of the Array API standard.

Distinct elements are in ascending order; NaNs are distinct from each other, -0 and 0 are not. How
many there are depends on data: without ``size`` the results have an unknown length until
``await y.evaluate()``; with it they have that many elements, ``fill_value`` behind the last.
Complex numbers have no order: DTypeError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiogpu.array import Array, UnknownArray, as_operand
from aiogpu.errors import UsageError
from aiogpu.graph import build, orders
from aiogpu.graph.node import Node
from aiogpu.graph.orders import Found

if TYPE_CHECKING:
    from aiogpu.dtypes import Scalar
    from aiogpu.graph.orders import Groups


class UniqueAll(NamedTuple):
    """What `unique_all` gives."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """What `unique_counts` gives."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """What `unique_inverse` gives."""

    values: Array
    inverse_indices: Array


def _unique(x: Array, size: int | None, name: str) -> Groups:
    return orders.unique(x._node, orders.check_size(size, name), name)


def _of_length(node: Node, length: Node, size: int | None, fill_value: Scalar) -> Array:
    found = Found(node, length)
    return UnknownArray(found) if size is None else Array(orders.filled(found, fill_value))


def unique_all(x: Array, /, *, size: int | None = None, fill_value: Scalar = 0) -> UniqueAll:
    """The distinct elements, the first place and number of each, and which one each element is.

    Places count through all axes; they and ``counts`` are int32, filled with 0.

    Raises:
        DTypeError: ``x`` is complex.
        UsageError: ``size`` is no number of elements.
    """
    made = _unique(x, size, "unique_all")
    return UniqueAll(
        _of_length(made.values, made.length, size, fill_value),
        _of_length(made.indices, made.length, size, 0),
        Array(made.inverse),
        _of_length(made.counts, made.length, size, 0),
    )


def unique_counts(x: Array, /, *, size: int | None = None, fill_value: Scalar = 0) -> UniqueCounts:
    """The distinct elements, and how often each is there, int32, filled with 0.

    Raises:
        DTypeError: ``x`` is complex.
        UsageError: ``size`` is no number of elements.
    """
    made = _unique(x, size, "unique_counts")
    return UniqueCounts(
        _of_length(made.values, made.length, size, fill_value),
        _of_length(made.counts, made.length, size, 0),
    )


def unique_inverse(
    x: Array, /, *, size: int | None = None, fill_value: Scalar = 0
) -> UniqueInverse:
    """The distinct elements, and which of them each element is, int32, in the shape of ``x``.

    Raises:
        DTypeError: ``x`` is complex.
        UsageError: ``size`` is no number of elements.
    """
    made = _unique(x, size, "unique_inverse")
    return UniqueInverse(
        _of_length(made.values, made.length, size, fill_value), Array(made.inverse)
    )


def unique_values(x: Array, /, *, size: int | None = None, fill_value: Scalar = 0) -> Array:
    """The distinct elements.

    Raises:
        DTypeError: ``x`` is complex.
        UsageError: ``size`` is no number of elements.
    """
    made = _unique(x, size, "unique_values")
    return _of_length(made.values, made.length, size, fill_value)


def isin(x1: Array | Scalar, x2: Array | Scalar, /, *, invert: bool = False) -> Array:
    """Whether each element of ``x1`` is one of those of ``x2``; bool, in the shape of ``x1``.

    NaN is in nothing.

    Args:
        x1: Any real dtype, or a number; one of the two is an array.
        x2: The same; the two promote.
        invert: Whether it is not.

    Raises:
        DTypeError: The dtypes do not promote, or are complex.
    """
    operands = [as_operand(x1), as_operand(x2)]
    if None in [None if each is None else 0 for each in operands]:
        raise UsageError("isin: takes arrays and numbers")
    dtype = build.promotion([each for each in operands if each is not None], "isin")
    first, second = (
        build.cast(each, dtype) if isinstance(each, Node) else build.constant(each, dtype)
        for each in operands
        if each is not None
    )
    return Array(orders.isin(first, second, invert=invert))
