"""One step to its program: each family of the op table has a file of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiogpu.kernels import (
    along,
    attention,
    bisect,
    conv,
    elementwise,
    indexed,
    matmul,
    reduce,
    rows,
    scan,
    search,
    sort,
    user,
)
from aiogpu.program import Program

if TYPE_CHECKING:
    from aiogpu.kernels.writer import TextCache
    from aiogpu.limits import Limits
    from aiogpu.schedule.step import Step

_FAMILIES = {
    "along": along.render,
    "attention": attention.render,
    "bisect": bisect.render,
    "conv": conv.render,
    "gather": indexed.render,
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


def render(step: Step, limits: Limits, cache: TextCache) -> Program:
    """The launches that compute ``step``.

    Raises:
        LimitError: The step needs more than the device allows, whatever the kernel.
    """
    if step.family in {"empty", "pick"}:
        return _NOTHING
    return _FAMILIES.get(step.family, elementwise.render)(step, limits, cache)
