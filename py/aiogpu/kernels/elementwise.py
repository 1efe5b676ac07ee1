"""Elementwise kernels: one invocation computes one element, or one word of packed elements."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from aiogpu.errors import LimitError
from aiogpu.kernels.fused import Fused
from aiogpu.kernels.writer import Params, TextCache, indent, launch, shader
from aiogpu.program import Program

if TYPE_CHECKING:
    from aiogpu.limits import Limits
    from aiogpu.schedule.step import Step

WORKGROUP: Final = 128
MAX_ELEMENTS: Final = 0xFFFFFFFF - WORKGROUP  # element numbers are u32


def render(step: Step, limits: Limits, cache: TextCache) -> Program:
    """The program of a step that has no core: its body is all."""
    assert step.body is not None
    nelems = prod(step.body.space)
    if nelems > MAX_ELEMENTS:
        raise LimitError(
            f"{step.node.op.name}: shape {step.body.space}: {nelems} elements, "
            f"{MAX_ELEMENTS} allowed"
        )
    fused = Fused(step, limits)
    params = Params()
    params.add("n", nelems)
    fused.add_params(params)
    space = params.space(limits)
    key = ("elementwise", space, fused.key)
    wgsl = cache.get(key) or cache.put(
        key,
        shader(
            space=space,
            params=params,
            buffers=fused.buffers(),
            declarations=fused.functions(),
            body=indent(fused.each(WORKGROUP, "p.n", ["let value = operand(i);"], "value")),
            workgroup=WORKGROUP,
        ),
    )
    bindings = (*fused.slots, len(step.inputs))
    groups = -(-nelems // (WORKGROUP * fused.lanes))
    cost = WORKGROUP * fused.lanes * (fused.ninstrs + 2)
    return Program((launch(wgsl, step.node.op.name, params, space, bindings, groups, cost),))
