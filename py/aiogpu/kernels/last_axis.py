"""A step with some axes moved behind the others: what reductions, rows and scans walk along."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from aiogpu.schedule.step import Load
from aiogpu.shapes import View

if TYPE_CHECKING:
    from aiogpu.schedule.step import Step


def moved_last(step: Step, axes: tuple[int, ...], *, keeps_shape: bool = False) -> Step:
    """The step with ``axes`` last in its space.

    With ``keeps_shape``, the result has the shape of the space: it is stored in its own order.
    """
    rank = len(step.space)
    order = [axis for axis in range(rank) if axis not in axes] + list(axes)
    if order == list(range(rank)):
        return step
    body = tuple(
        instr._replace(view=instr.view.permute(order)) if isinstance(instr, Load) else instr
        for instr in step.body
    )
    target = View.contiguous(step.space).permute(order) if keeps_shape else None
    space = tuple(step.space[axis] for axis in order)
    return replace(step, space=space, body=body, target=target)
