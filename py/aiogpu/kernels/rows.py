"""Softmax and standardisation along an axis: every row is walked three times.

A workgroup walks one row; on a software adapter, where barriers cost 30 to 40 times, and for short
rows, one invocation does. The elementwise work before it runs at each visit of an element, that
after it at the last. The result is stored in the order of the array's own axes.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from aiogpu import dtypes
from aiogpu.kernels import types
from aiogpu.kernels.fused import Fused
from aiogpu.kernels.writer import MAX_TURNS, Params, TextCache, indent, launch, shader
from aiogpu.program import Program

if TYPE_CHECKING:
    from aiogpu.limits import Limits
    from aiogpu.program import ParamSpace
    from aiogpu.schedule.step import Step

ALONE: Final = 64  # invocations of a workgroup of which each has its own row
TOGETHER: Final = 256  # invocations that share a row
SHORT: Final = 32  # elements that one invocation walks without help


def render(step: Step, limits: Limits, cache: TextCache) -> Program:
    """The program of a softmax, log_softmax or standardize along the axis ``axis``."""
    attrs = step.core.attrs
    assert attrs is not None
    assert step.body is not None
    axis = attrs["axis"]
    inner = step.body.space[axis]
    outer = prod(step.body.space) // inner
    fused = Fused(step, limits, moved=(axis,), is_scattered=True)
    is_alone = inner <= (MAX_TURNS // 2 if limits.is_fallback else SHORT)  # it walks three times
    params = Params()
    params.add("outer", outer)
    params.add("inner", inner)
    params.add("count", dtypes.word(float(inner), dtypes.FLOAT), "f32")
    params.add("epsilon", dtypes.word(attrs.get("epsilon", 0.0), dtypes.FLOAT), "f32")
    fused.add_params(params)
    params.ensure_zero()
    space = params.space(limits)
    name = step.core.op.name
    key = ("row", name, is_alone, space, step.core.dtype, fused.key)
    wgsl = cache.get(key)
    if wgsl is None:
        wgsl = cache.put(key, _text(step, fused, params, space, is_alone=is_alone))
    bindings = (*fused.slots, len(step.inputs))
    groups = -(-outer // ALONE) if is_alone else outer
    cost = (ALONE if is_alone else 1) * inner * 3 * (fused.ninstrs + 12)
    return Program((launch(wgsl, name, params, space, bindings, groups, cost),))


def _text(step: Step, fused: Fused, params: Params, space: ParamSpace, *, is_alone: bool) -> str:
    def visit(*lines: str) -> list[str]:
        first, step = ("0u", "1u") if is_alone else ("lid", f"{TOGETHER}u")
        return [
            f"for (var j = {first}; j < p.inner; j += {step}) {{",
            "  let i = o * p.inner + j;",
            "  let value = operand(i);",
            *(f"  {line}" for line in lines),
            "}",
        ]

    def meet(name: str, fold: str) -> list[str]:
        """The invocations of a row agree on what each of them found."""
        return [] if is_alone else [f"{name} = meet_{fold}(lid, {name});"]

    def total(name: str, *terms: str) -> list[str]:
        """The sum along the row of ``term``, which the statements compute."""
        return [
            "acc = 0.0;",
            "err = 0.0;",
            *visit(*terms, *types.two_sum("term")),
            f"var {name} = select(acc, acc + err, ag_isfinite(acc));",
            *meet(name, "sum"),
        ]

    def store(value: str) -> list[str]:
        result = types.narrow(value, step.core.dtype)
        return visit(f"let e = {fused.spot('i')};", *fused.store("e", result))

    if step.core.op.name == "standardize":
        lines = [
            *total("sum", "let term = value;"),
            "let mean = sum / p.count;",
            *total("squares", "let off = value - mean;", "let term = off * off;"),
            "let scale = ag_rsqrt(squares / p.count + p.epsilon);",
            *store("(value - mean) * scale"),
        ]
    else:
        is_log = step.core.op.name == "log_softmax"
        result = "value - most - log_sum" if is_log else "ag_exp(value - most) / sum"
        lines = [
            "var most = -ag_inf();",
            *visit("most = ag_max_f32(most, value);"),
            *meet("most", "max"),
            *total("sum", "let term = ag_exp(value - most);"),
            *(["let log_sum = ag_log(sum);"] if is_log else []),
            *store(result),
        ]
    row = f"group * {ALONE}u + lid" if is_alone else "group"
    meetings = [] if is_alone else [_meeting("sum", "mine + other")]
    if not is_alone and step.core.op.name != "standardize":
        meetings.append(_meeting("max", "ag_max_f32(mine, other)"))
    return shader(
        space=space,
        params=params,
        buffers=fused.buffers(),
        declarations="".join(meetings) + fused.functions(),
        body=indent(
            [
                f"let o = {row};",
                "if (o >= p.outer) { return; }",
                "var acc = 0.0;",
                "var err = 0.0;",
                *lines,
            ]
        ),
        workgroup=ALONE if is_alone else TOGETHER,
    )


def _meeting(name: str, fold: str) -> str:
    """A function by which the invocations of a workgroup fold a value; all get the result."""
    return f"""\
var<workgroup> all_{name}: array<f32, {TOGETHER}>;
fn meet_{name}(lid: u32, given: f32) -> f32 {{
  var mine = given;
  all_{name}[lid] = mine;
  workgroupBarrier();
  for (var half = {TOGETHER // 2}u; half > 0u; half /= 2u) {{
    if (lid < half) {{
      let other = all_{name}[lid + half];
      mine = {fold};
      all_{name}[lid] = mine;
    }}
    workgroupBarrier();
  }}
  let result = all_{name}[0];
  workgroupBarrier();
  return result;
}}
"""
