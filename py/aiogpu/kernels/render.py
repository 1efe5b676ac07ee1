"""One step to its program: each family of the op table has a file of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiogpu.kernels import elementwise, matmul, reduce, update, user
from aiogpu.program import Program

if TYPE_CHECKING:
    from aiogpu.kernels.writer import TextCache
    from aiogpu.limits import Limits
    from aiogpu.schedule.step import Step

_FAMILIES = {
    "matmul": matmul.render,
    "reduce": reduce.render,
    "update": update.render,
    "user": user.render,
}
_NOTHING = Program(())


def render(step: Step, limits: Limits, cache: TextCache) -> Program:
    """The launches that compute ``step``.

    Raises:
        LimitError: The step needs more than the device allows, whatever the kernel.
    """
    if step.node.op.family == "pick":
        return _NOTHING
    return _FAMILIES.get(step.node.op.family, elementwise.render)(step, limits, cache)
