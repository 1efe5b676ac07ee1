"""Nodes of random numbers: elementwise functions of an element's number and a place in a stream.

Key and position are numbers of the launch, so one plan serves all draws of a shape, and a draw is
fused into what reads it. See `aiogpu.kernels.numerics.random` for the stream.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from aiogpu import dtypes
from aiogpu.graph import build, table
from aiogpu.graph.node import Node

if TYPE_CHECKING:
    from aiogpu.dtypes import DType
    from aiogpu.graph.table import Op
    from aiogpu.shapes import Shape

_WORD: Final = 0xFFFFFFFF
_HALF_BITS: Final = 0xFFE00000  # as many as float16 has


class Place(NamedTuple):
    """Where in which stream the words of a draw begin.

    Attributes:
        key: Which stream, 64 bits.
        position: How many blocks of four words come before, 64 bits.
    """

    key: int
    position: int


def nblocks(shape: Shape) -> int:
    """How many blocks a draw of one word an element takes."""
    return -(-prod(shape) // 4)


def _draw(op: Op, place: Place, shape: Shape, dtype: DType) -> Node:
    count = prod(shape)
    if count == 0:
        return build.constant(0, dtype, shape)
    number = Node(table.IOTA, (), (count,), dtypes.uint32, {"start": 0, "step": 1})
    words = [part >> shift & _WORD for part in place for shift in (0, 32)]
    operands = [build.constant(word, dtypes.uint32) for word in words]
    return Node(op, (build.reshape(number, shape), *operands), shape, dtype)


def bits(place: Place, shape: Shape) -> Node:
    """The words themselves, uint32."""
    return _draw(table.RANDOM_BITS, place, shape, dtypes.uint32)


def normal(place: Place, shape: Shape) -> Node:
    """Normal deviates of mean 0 and variance 1, float32."""
    return _draw(table.RANDOM_NORMAL, place, shape, dtypes.FLOAT)


def unit(place: Place, shape: Shape, dtype: DType = dtypes.FLOAT) -> Node:
    """Multiples of 2^-24, or of 2^-11 in float16, in [0, 1)."""
    words = bits(place, shape)
    if dtype is dtypes.float16:
        words = build.elementwise("bitwise_and", words, _HALF_BITS)
    return build.cast(Node(table.RANDOM_UNIT, (words,), shape, dtypes.FLOAT), dtype)


def between(place: Place, shape: Shape, low: Node, high: Node) -> Node:
    """Floats from ``low`` to ``high``, which broadcast to ``shape``."""
    zero = build.constant(0, dtypes.uint32)
    operands = (zero, unit(place, shape), low, high)
    return Node(table.RANDOM_BETWEEN, operands, shape, dtypes.FLOAT)


def integers(place: Place, shape: Shape, low: int, count: int, dtype: DType) -> Node:
    """Integers of ``dtype`` from ``low`` on, ``count`` different ones, 2^32 at most."""
    if count == 1:
        return build.constant(low, dtype, shape)
    operands = (
        bits(place, shape),
        build.constant(count & _WORD, dtypes.uint32),
        build.constant(low, dtype),
    )
    return Node(table.RANDOM_INTEGER, operands, shape, dtype)
