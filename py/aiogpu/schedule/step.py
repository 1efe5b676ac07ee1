"""What one program computes: a core, and straight lines of scalar instructions around it.

::

    inputs -> body -> core -> finish -> output          mean(exp(x - y)) * 2

The core is a reduction, a matrix product and so on. Where there is none, the body is all. A body
computes the elements that a reduction, a row operation or a scan walks over; the other families
read their operands as they lie. The finish computes the output's elements from the core's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from aiogpu.dtypes import DType, Scalar
    from aiogpu.graph.node import Node
    from aiogpu.graph.table import Family, Op
    from aiogpu.shapes import Shape, View

OUT: Final = -1  # the slot of the output itself, which holds the value that it replaces


class Load(NamedTuple):
    """An element of an input, where the view puts a place's element."""

    slot: int
    view: View
    dtype: DType
    place: int = 0


class Const(NamedTuple):
    """A number, the same everywhere; travels in the parameter block.

    Attributes:
        value: The number.
        dtype: Its dtype.
        number: Which of the scheduled nodes it is, so that another number can take its place.
    """

    value: Scalar
    dtype: DType
    number: int = -1


class Iota(NamedTuple):
    """``start + index * step`` of the number of a place's element."""

    start: Scalar
    step: Scalar
    dtype: DType
    place: int = 0


class Apply(NamedTuple):
    """A row of the op table applied to earlier instructions, by their numbers."""

    op: Op
    args: tuple[int, ...]
    dtype: DType


class Cast(NamedTuple):
    """An earlier instruction's value in another dtype."""

    arg: int
    dtype: DType


class Result(NamedTuple):
    """What the core gives for this element."""

    dtype: DType


Instr = Load | Const | Iota | Apply | Cast | Result


class Place(NamedTuple):
    """Where views take an element: its number in the view's owner, given that in ``parent``."""

    parent: int
    view: View


class Code(NamedTuple):
    """Instructions over a space of elements; the last one's value is the result.

    Attributes:
        space: The shape of the space; an element is named by its number in C order.
        instrs: The instructions, each after those that it needs.
        places: Numbers of elements that views lead to: the first is place 1; place 0 is the
            element's own number.
    """

    space: Shape
    instrs: tuple[Instr, ...]
    places: tuple[Place, ...] = ()

    @property
    def dtype(self) -> DType:
        """The result's dtype."""
        return self.instrs[-1].dtype

    @property
    def slots(self) -> list[int]:
        """The inputs that it reads, in order."""
        return sorted({instr.slot for instr in self.instrs if isinstance(instr, Load)} - {OUT})


@dataclass(slots=True)
class Step:
    """One node to be computed, together with the nodes that are computed on the way to it.

    Attributes:
        node: Whose value this computes.
        family: Whose kernel does the work.
        core: The node of that family; ``node`` itself where nothing follows, or the body is all.
        inputs: Nodes whose values it reads, each once.
        body: What the core walks over; None for families that read their operands as they lie.
        finish: What follows the core; None where nothing does.
        slots: For those families, which input each operand lies in.
        views: For those families, how each operand lies in it.
        consts: The numbers given to a kernel, in order.
        base: The node whose value the output replaces in place, wholly or in part.
        target: Where the elements lie in the output; None for an output of their own.
    """

    node: Node
    family: Family
    core: Node
    inputs: list[Node]
    body: Code | None = None
    finish: Code | None = None
    slots: tuple[int, ...] = ()
    views: tuple[View, ...] = ()
    consts: tuple[Const, ...] = ()
    base: Node | None = None
    target: View | None = None

    @property
    def dtype(self) -> DType:
        """The dtype of what is stored; a store's node may see the bits as another's."""
        if self.finish is not None:
            return self.finish.dtype
        if self.family == "elementwise" and self.body is not None:
            return self.body.dtype
        return self.core.dtype
