"""What the compile half hands to the run half: shaders, bindings, parameters, grids.

A `Program` computes one step of a schedule by one launch or several. Its launches name buffers
by slot: the inputs first, then the outputs, then the temporaries.

Every launch that we render walks a linear range of workgroups. The first word of its parameters
is ``grid_offset``, the number of the first workgroup: the run half may cut a launch into several
dispatches (to keep submits short, or past 65535 workgroups) without rendering anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from aiogpu.dtypes import DType
    from aiogpu.errors import KernelLine

ParamSpace = Literal["none", "immediate", "uniform"]
FAULTS: Final = -1  # the slot of the stream's fault word


class Number(NamedTuple):
    """Where a number of the user's expression stands in a parameter block.

    Attributes:
        word: The first word that it takes.
        node: Which of the scheduled nodes it is.
        dtype: Its dtype.
    """

    word: int
    node: int
    dtype: DType


class Origin(Protocol):
    """Where a shader's text comes from, if it is not ours: a kernel that a user wrote in Python."""

    def explain(self, wgsl: str, said: str) -> str:
        """What a compiler said about the text, in terms of where it comes from."""

    def fault(self, line: int, index: int, size: int) -> str:
        """An index out of range that the shader reported."""

    def blamed(self, wgsl: str, said: str) -> KernelLine | None:
        """The first of the user's lines that a compiler complained of."""

    def place(self, line: int) -> KernelLine | None:
        """The user's line that the shader reported."""


@dataclass(frozen=True, slots=True)
class Launch:
    """One shader over a grid.

    Attributes:
        wgsl: The shader; also the key of its pipeline.
        label: The operation's name, shown by errors and profiles.
        bindings: The slot at each ``@binding`` of ``@group(0)``.
        writes: A bit for each binding: set where the shader writes it.
        params: The parameter block as 32-bit words; the first is ``grid_offset``. Empty for a
            user's kernel, which has none.
        param_space: Where the shader expects the block: immediate data, a uniform binding, or none.
        groups: Workgroups: a number for linear launches, (x, y, z) for a user's kernel.
        cost: Rough scalar operations of one workgroup; paces long launches.
        constants: Values of ``override`` constants, by name.
        entry: Name of the entry point.
        sizes: Bytes that each binding shows, so that ``arrayLength`` is right; empty where the
            shader does not ask, and sees whole buffers.
        fault_at: Which parameter takes the number under which a fault is reported; None where the
            launch reports none. One that does binds `FAULTS`.
        fault: What it reports; "" for an index out of range.
        numbers: Numbers among the parameters that another launch of this shape may replace.
        is_checked: False for code that we did not write: it gets a submit of its own.
        origin: What explains errors in a text that was made from a user's.
    """

    wgsl: str
    label: str
    bindings: tuple[int, ...]
    writes: int
    params: tuple[int, ...]
    param_space: ParamSpace
    groups: int | tuple[int, int, int]
    cost: int = 0
    constants: tuple[tuple[str, float], ...] = ()
    entry: str = "main"
    sizes: tuple[int, ...] = ()
    fault_at: int | None = None
    fault: str = ""
    is_checked: bool = True
    numbers: tuple[Number, ...] = ()
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """The launches of one step, in order.

    Attributes:
        launches: What to run.
        temporaries: Sizes in bytes of the buffers that live only between these launches.
    """

    launches: tuple[Launch, ...]
    temporaries: tuple[int, ...] = ()
