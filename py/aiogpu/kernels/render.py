"""One step to its program: each family of the op table has a file of kernels."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Final

from aiogpu.errors import LimitError
from aiogpu.kernels import (
    along,
    attention,
    bisect,
    conv,
    elementwise,
    fft,
    indexed,
    linalg,
    matmul,
    reduce,
    rows,
    scan,
    search,
    sort,
    user,
)
from aiogpu.lang import launch
from aiogpu.lang.text import Together
from aiogpu.program import Program
from aiogpu.schedule.step import Apply, Load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiogpu.kernels.writer import TextCache
    from aiogpu.limits import Limits
    from aiogpu.program import Origin
    from aiogpu.schedule.step import Step

_FAMILIES = {
    "along": along.render,
    "attention": attention.render,
    "bisect": bisect.render,
    "conv": conv.render,
    "fft": fft.render,
    "gather": indexed.render,
    "kernel": launch.render,
    "linalg": linalg.render,
    "matmul": matmul.render,
    "reduce": reduce.render,
    "row": rows.render,
    "scan": scan.render,
    "scatter": indexed.render,
    "search": search.render,
    "sort": sort.render,
    "user": user.render,
}
_NOTHING = Program(())
MOST_ELEMENTS: Final = 1 << 32  # shaders number elements by u32


def render(step: Step, limits: Limits, cache: TextCache) -> Program:
    """The launches that compute ``step``.

    Raises:
        LimitError: The step needs more than the device allows, whatever the kernel.
    """
    if step.family in {"empty", "pick"}:
        return _NOTHING
    count = max(_counts(step), default=0)
    if count >= MOST_ELEMENTS:
        raise LimitError(
            f"{step.core.op.name}: {count} elements to count through: a shader counts to at most "
            f"{MOST_ELEMENTS - 1}"
        )
    program = _FAMILIES.get(step.family, elementwise.render)(step, limits, cache)
    origin = _origin(step)
    if origin is None:
        return program
    launches = tuple([replace(launch, origin=origin) for launch in program.launches])
    return replace(program, launches=launches)


def _origin(step: Step) -> Origin | None:
    """Where the functions of the user's come from that a step calls; None if there are none."""
    ops = [step.core.op]
    for code in (step.body, step.finish):
        if code is not None:
            ops += [instr.op for instr in code.instrs if isinstance(instr, Apply)]
    origins = list(dict.fromkeys([op.origin for op in ops if op.origin is not None]))
    return Together(origins) if origins else None


def _counts(step: Step) -> Iterator[int]:
    """How far each number of an element may go: of virtual ones too, which lie in no buffer."""
    views = [*step.views, *([] if step.target is None else [step.target])]
    for code in (step.body, step.finish):
        if code is not None:
            yield prod(code.space)
            views += [place.view for place in code.places]
            views += [instr.view for instr in code.instrs if isinstance(instr, Load)]
    for view in views:
        steps = zip(view.strides, view.shape, strict=True)
        yield view.offset + sum(max(stride, 0) * (size - 1) for stride, size in steps if size) + 1
