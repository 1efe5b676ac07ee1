"""argmax and argmin: the first NaN wins, then the first of equals. int32 results."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from aiogpu.kernels.fused import Fused
from aiogpu.kernels.reduce import passes
from aiogpu.kernels.writer import Params, TextCache, indent, launch, shader
from aiogpu.program import Program

if TYPE_CHECKING:
    from aiogpu.kernels.reduce import Pass
    from aiogpu.limits import Limits
    from aiogpu.program import Launch, ParamSpace
    from aiogpu.schedule.step import Step

WORKGROUP: Final = 64


def render(step: Step, limits: Limits, cache: TextCache) -> Program:
    """The program of an argmax or argmin over ``axes``; passes follow as in `reduce`."""
    attrs = step.core.attrs
    assert attrs is not None
    assert step.body is not None
    inner = attrs["count"]
    outer = prod(step.body.space) // inner
    ninputs = len(step.inputs)
    launches = []
    temporaries: list[int] = []
    for number, this in enumerate(passes(outer, inner, limits)):
        if not this.is_last:
            temporaries.append(8 * this.outer * this.shares)
        source = () if this.is_first else (ninputs + number,)
        target = ninputs if this.is_last else ninputs + 1 + number
        launches.append(_launch(step, this, source, target, limits, cache))
    return Program(tuple(launches), tuple(temporaries))


def _launch(
    step: Step, this: Pass, source: tuple[int, ...], target: int, limits: Limits, cache: TextCache
) -> Launch:
    attrs = step.core.attrs
    assert attrs is not None
    moved = attrs["axes"]
    fused = Fused(step, limits, moved=moved, is_first=this.is_first, is_last=this.is_last)
    params = Params()
    params.add("outer", this.outer)
    params.add("inner", this.inner)
    params.add("shares", this.shares)
    fused.add_params(params)
    space = params.space(limits)
    name = step.core.op.name
    assert step.body is not None
    key = (name, this.is_first, this.is_last, space, step.body.dtype.compute, fused.key)
    wgsl = cache.get(key) or cache.put(key, _text(step, fused, this, params, space))
    lanes = fused.lanes if this.is_last else 1
    groups = -(-this.outer * this.shares // (WORKGROUP * lanes))
    cost = WORKGROUP * lanes * -(-this.inner // this.shares) * (fused.ninstrs + 6)
    return launch(wgsl, name, params, space, (*source, *fused.slots, target), groups, cost)


def _order(compute: str, value: str) -> str:
    """A u32 that orders values as they are searched for: NaN above all, -0 and 0 alike."""
    if compute == "i32":
        return f"(bitcast<u32>({value}) ^ 0x80000000u)"
    if compute == "bool":
        return f"select(0u, 1u, {value})"
    return f"order_of({value})" if compute == "f32" else value


_FLOAT_ORDER: Final = """\
fn order_of(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) { return 0xffffffffu; }
  if ((bits & 0x7fffffffu) == 0u) { return 0x80000000u; }
  return select(bits | 0x80000000u, ~bits, (bits & 0x80000000u) != 0u);
}
"""


def _text(step: Step, fused: Fused, this: Pass, params: Params, space: ParamSpace) -> str:
    assert step.body is not None
    compute = step.body.dtype.compute
    at = "(o * p.inner + j)"
    if this.is_first:
        statements = [f"let value = operand{at};", f"let order = {_order(compute, 'value')};"]
        if step.core.op.name == "argmin":  # turned round, but NaN stays above all
            rank = "~order"
            if compute == "f32":
                rank = "select(~order, order, order == 0xffffffffu)"
            statements += [f"let rank = {rank};"]
        else:
            statements += ["let rank = order;"]
        statements += ["let place = j;"]
    else:
        statements = [f"let rank = partial[2u * {at}];", f"let place = partial[2u * {at} + 1u];"]
    search = [
        "var best = 0u;",
        "var best_place = 0xffffffffu;",
        "for (var j = share; j < p.inner; j += p.shares) {",
        *(f"  {line}" for line in statements),
        "  if (rank > best || (rank == best && place < best_place)) {",
        "    best = rank;",
        "    best_place = place;",
        "  }",
        "}",
    ]
    if this.is_last:
        lines = fused.each(
            WORKGROUP, "p.outer", ["let o = i;", "let share = 0u;", *search], "i32(best_place)"
        )
        output = []
    else:
        lines = [
            f"let at = group * {WORKGROUP}u + lid;",
            "if (at >= p.outer * p.shares) { return; }",
            "let o = at / p.shares;",
            "let share = at % p.shares;",
            *search,
            "out[2u * at] = best;",
            "out[2u * at + 1u] = best_place;",
        ]
        output = [("out", "u32", True)]
    partial = [] if this.is_first else [("partial", "u32", False)]
    needs_order = compute == "f32" and this.is_first
    return shader(
        space=space,
        params=params,
        buffers=[*partial, *fused.buffers(), *output],
        body=indent(lines),
        workgroup=WORKGROUP,
        declarations=fused.functions() + (_FLOAT_ORDER if needs_order else ""),
    )
