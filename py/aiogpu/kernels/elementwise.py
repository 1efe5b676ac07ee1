"""Elementwise kernels: one invocation computes one element, or one word of packed elements."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from aiogpu.errors import LimitError
from aiogpu.kernels import body, types
from aiogpu.kernels.writer import Params, TextCache, each_element, shader
from aiogpu.program import Launch, Program

if TYPE_CHECKING:
    from aiogpu.kernels.body import Layout
    from aiogpu.limits import Limits
    from aiogpu.program import ParamSpace
    from aiogpu.schedule.step import Step

WORKGROUP = 128
MAX_ELEMENTS = 0xFFFFFFFF - WORKGROUP  # element numbers are u32


def render(step: Step, limits: Limits, cache: TextCache) -> Program:
    """The program of a step whose node is computed element by element."""
    lay = body.layout(step)
    dtype = step.body[-1].dtype
    nelems = prod(step.space)
    if nelems > MAX_ELEMENTS:
        raise LimitError(
            f"{step.node.op.name}: shape {step.space}: {nelems} elements, {MAX_ELEMENTS} allowed"
        )
    params = Params()
    params.add("n", nelems)
    body.add_params(params, step, lay)
    space = params.space(limits)
    key = ("elementwise", space, dtype.name, body.key(step, lay))
    wgsl = cache.get(key) or cache.put(key, _text(step, lay, params, space))
    invocations = -(-nelems // dtype.lanes)
    ninputs = len(step.inputs)
    return Program(
        (
            Launch(
                wgsl=wgsl,
                label=step.node.op.name,
                bindings=tuple(range(ninputs + 1)),
                writes=1 << ninputs,
                params=tuple(params.words),
                param_space=space,
                groups=-(-invocations // WORKGROUP),
                cost=WORKGROUP * dtype.lanes * (len(step.body) + 2),
            ),
        )
    )


def _text(step: Step, lay: Layout, params: Params, space: ParamSpace) -> str:
    dtype = step.body[-1].dtype
    statements, result = body.write(step, lay, "i")
    if step.target is None:
        lines = each_element(dtype, WORKGROUP, "p.n", "i", statements, result)
    else:  # into the value that is changed, whose other elements stay
        lines = [
            f"let i = group * {WORKGROUP}u + lid;",
            "if (i >= p.n) { return; }",
            *statements,
            f"out[{body.target(lay, 'i')}] = {result};",
        ]
    return shader(
        space=space,
        params=params,
        buffers=[*body.buffers(step), ("out", types.storage(dtype), True)],
        body="".join(f"  {line}\n" for line in lines),
        workgroup=WORKGROUP,
    )
