"""What one program computes: a straight line of scalar instructions over a space of elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from aiogpu.dtypes import DType, Scalar
    from aiogpu.graph.node import Node
    from aiogpu.graph.table import Op
    from aiogpu.shapes import Shape, View


class Load(NamedTuple):
    """An element of an input, at the place of the space that the view gives."""

    slot: int
    view: View
    dtype: DType


class Const(NamedTuple):
    """A number, the same everywhere; travels in the parameter block."""

    value: Scalar
    dtype: DType


class Iota(NamedTuple):
    """``start + index * step`` of the element's number in C order."""

    start: Scalar
    step: Scalar
    dtype: DType


class Apply(NamedTuple):
    """A row of the op table applied to earlier instructions, by their numbers."""

    op: Op
    args: tuple[int, ...]
    dtype: DType


class Cast(NamedTuple):
    """An earlier instruction's value in another dtype."""

    arg: int
    dtype: DType


Instr = Load | Const | Iota | Apply | Cast


@dataclass(slots=True)
class Step:
    """One node to be computed, together with the nodes that are computed on the way to it.

    Attributes:
        node: Whose value this computes.
        inputs: Nodes whose values it reads, each once.
        space: The shape over which ``body`` runs: the node's own, or what a reduction reduces.
        body: The instructions; the last one's value is the result. Empty for families that
            read their inputs as they are (matmul, user).
        slots: For those families, which input each operand lies in.
        views: For those families, how each operand lies in it.
        base: For a store, the node whose value it changes a part of.
        target: For a store, where the elements of the space lie in it.
    """

    node: Node
    inputs: list[Node]
    space: Shape
    body: tuple[Instr, ...]
    slots: tuple[int, ...] = ()
    views: tuple[View, ...] = ()
    base: Node | None = None
    target: View | None = None
