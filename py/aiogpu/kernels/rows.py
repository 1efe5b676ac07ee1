"""Softmax and standardisation along an axis: one invocation walks one row, three times.

The elementwise work before it runs at each visit of an element. The result is stored in the order
of the array's own axes.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from aiogpu import dtypes
from aiogpu.kernels import types
from aiogpu.kernels.fused import Fused
from aiogpu.kernels.writer import Params, TextCache, indent, launch, shader
from aiogpu.program import Program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiogpu.limits import Limits
    from aiogpu.program import ParamSpace
    from aiogpu.schedule.step import Step

WORKGROUP: Final = 64


def render(step: Step, limits: Limits, cache: TextCache) -> Program:
    """The program of a softmax, log_softmax or standardize along the axis ``axis``."""
    attrs = step.core.attrs
    assert attrs is not None
    assert step.body is not None
    axis = attrs["axis"]
    inner = step.body.space[axis]
    outer = prod(step.body.space) // inner
    fused = Fused(step, limits, moved=(axis,), is_scattered=True)
    params = Params()
    params.add("outer", outer)
    params.add("inner", inner)
    params.add("count", dtypes.word(float(inner), dtypes.FLOAT), "f32")
    params.add("epsilon", dtypes.word(attrs.get("epsilon", 0.0), dtypes.FLOAT), "f32")
    fused.add_params(params)
    params.ensure_zero()
    space = params.space(limits)
    name = step.core.op.name
    key = ("row", name, space, step.core.dtype, fused.key)
    wgsl = cache.get(key) or cache.put(key, _text(step, fused, params, space))
    bindings = (*fused.slots, len(step.inputs))
    cost = WORKGROUP * inner * 3 * (fused.ninstrs + 12)
    return Program((launch(wgsl, name, params, space, bindings, -(-outer // WORKGROUP), cost),))


def _text(step: Step, fused: Fused, params: Params, space: ParamSpace) -> str:
    def visit(*lines: str) -> list[str]:
        return [
            "for (var j = 0u; j < p.inner; j++) {",
            "  let i = o * p.inner + j;",
            "  let value = operand(i);",
            *(f"  {line}" for line in lines),
            "}",
        ]

    def store(value: str) -> list[str]:
        result = types.narrow(value, step.core.dtype)
        return visit(f"let e = {fused.spot('i')};", *fused.store("e", result))

    lines: Sequence[str]
    if step.core.op.name == "standardize":
        lines = [
            "var sum = 0.0;",
            *visit("sum += value;"),
            "let mean = sum / p.count;",
            "var squares = 0.0;",
            *visit("let off = value - mean;", "squares += off * off;"),
            "let scale = ag_rsqrt(squares / p.count + p.epsilon);",
            *store("(value - mean) * scale"),
        ]
    else:
        is_log = step.core.op.name == "log_softmax"
        result = "value - most - log_sum" if is_log else "ag_exp(value - most) / sum"
        lines = [
            "var most = -ag_inf();",
            *visit("most = ag_max_f32(most, value);"),
            "var sum = 0.0;",
            *visit("sum += ag_exp(value - most);"),
            *(["let log_sum = ag_log(sum);"] if is_log else []),
            *store(result),
        ]
    return shader(
        space=space,
        params=params,
        buffers=fused.buffers(),
        declarations=fused.functions(),
        body=indent(
            [
                f"let o = group * {WORKGROUP}u + lid;",
                "if (o >= p.outer) { return; }",
                *lines,
            ]
        ),
        workgroup=WORKGROUP,
    )
