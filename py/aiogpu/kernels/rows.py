"""Softmax and standardisation along an axis: one invocation walks one row, three times.

The elementwise work before it runs at each visit of an element. The result is stored in the order
of the array's own axes.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from aiogpu import dtypes
from aiogpu.kernels import body
from aiogpu.kernels.last_axis import moved_last
from aiogpu.kernels.writer import Params, TextCache, shader
from aiogpu.program import Launch, Program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiogpu.kernels.body import Layout
    from aiogpu.limits import Limits
    from aiogpu.program import ParamSpace
    from aiogpu.schedule.step import Step

WORKGROUP: Final = 64


def render(step: Step, limits: Limits, cache: TextCache) -> Program:
    """The program of a softmax, log_softmax or standardize along the axis ``axis``."""
    attrs = step.node.attrs
    assert attrs is not None
    axis = attrs["axis"]
    inner = step.space[axis]
    step = moved_last(step, (axis,), keeps_shape=True)
    outer = prod(step.space) // inner
    lay = body.layout(step)
    params = Params()
    params.add("outer", outer)
    params.add("inner", inner)
    params.add("count", dtypes.word(float(inner), dtypes.FLOAT), "f32")
    params.add("epsilon", dtypes.word(attrs.get("epsilon", 0.0), dtypes.FLOAT), "f32")
    body.add_params(params, step, lay)
    space = params.space(limits)
    key = ("row", step.node.op.name, space, body.key(step, lay))
    wgsl = cache.get(key) or cache.put(key, _text(step, lay, params, space))
    ninputs = len(step.inputs)
    launch = Launch(
        wgsl=wgsl,
        label=step.node.op.name,
        bindings=tuple(range(ninputs + 1)),
        writes=1 << ninputs,
        params=tuple(params.words),
        param_space=space,
        groups=-(-outer // WORKGROUP),
        cost=WORKGROUP * inner * 3 * (len(step.body) + 12),
    )
    return Program((launch,))


def _text(step: Step, lay: Layout, params: Params, space: ParamSpace) -> str:
    statements, value = body.write(step, lay, "i")
    place = body.target(lay, "i")

    def visit(*lines: str) -> list[str]:
        return [
            "for (var j = 0u; j < p.inner; j++) {",
            "  let i = o * p.inner + j;",
            *(f"  {line}" for line in (*statements, *lines)),
            "}",
        ]

    lines: Sequence[str]
    if step.node.op.name == "standardize":
        lines = [
            "var sum = 0.0;",
            *visit(f"sum += {value};"),
            "let mean = sum / p.count;",
            "var squares = 0.0;",
            *visit(f"let off = {value} - mean;", "squares += off * off;"),
            "let scale = ag_rsqrt(squares / p.count + p.epsilon);",
            *visit(f"out[{place}] = ({value} - mean) * scale;"),
        ]
    else:
        is_log = step.node.op.name == "log_softmax"
        result = f"{value} - most - log_sum" if is_log else f"ag_exp({value} - most) / sum"
        lines = [
            "var most = -ag_inf();",
            *visit(f"most = ag_max_f32(most, {value});"),
            "var sum = 0.0;",
            *visit(f"sum += ag_exp({value} - most);"),
            *(["let log_sum = ag_log(sum);"] if is_log else []),
            *visit(f"out[{place}] = {result};"),
        ]
    return shader(
        space=space,
        params=params,
        buffers=[*body.buffers(step), ("out", "f32", True)],
        body="".join(
            f"  {line}\n"
            for line in [
                f"let o = group * {WORKGROUP}u + lid;",
                "if (o >= p.outer) { return; }",
                *lines,
            ]
        ),
        workgroup=WORKGROUP,
    )
