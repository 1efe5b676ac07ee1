"""Elementwise kernels: one invocation computes one element, or one word of packed elements.

On a GPU four elements, where they are vectors in memory: that is what its memory is fastest at.
"""

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
    by_fours = not limits.is_fallback and nelems % 4 == 0
    fused = Fused(step, limits, takes_fours=by_fours, puts_fours=by_fours)
    if fused.takes_fours != fused.puts_fours:
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
            body=indent(_body(fused)),
            workgroup=WORKGROUP,
        ),
    )
    bindings = (*fused.slots, len(step.inputs))
    lanes = 4 if fused.puts_fours else fused.lanes
    groups = -(-nelems // (WORKGROUP * lanes))
    cost = WORKGROUP * lanes * (fused.ninstrs + 2)
    return Program((launch(wgsl, step.node.op.name, params, space, bindings, groups, cost),))


def _body(fused: Fused) -> list[str]:
    if not fused.puts_fours:
        return fused.each(WORKGROUP, "p.n", ["let value = operand(i);"], "value")
    return [
        f"let q = group * {WORKGROUP}u + lid;",
        "if (q >= p.n / 4u) { return; }",
        "let values = operand4(q);",
        *fused.store_four("q", "values"),
    ]
