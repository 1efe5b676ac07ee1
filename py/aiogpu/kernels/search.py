"""argmax and argmin: the first NaN wins, then the first of equals. int32 results."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from aiogpu.kernels import body
from aiogpu.kernels.last_axis import moved_last
from aiogpu.kernels.reduce import passes
from aiogpu.kernels.writer import Params, TextCache, shader
from aiogpu.program import Launch, Program

if TYPE_CHECKING:
    from aiogpu.kernels.body import Layout
    from aiogpu.kernels.reduce import Pass
    from aiogpu.limits import Limits
    from aiogpu.program import ParamSpace
    from aiogpu.schedule.step import Step

WORKGROUP: Final = 64


def render(step: Step, limits: Limits, cache: TextCache) -> Program:
    """The program of an argmax or argmin over ``axes``; passes follow as in `reduce`."""
    attrs = step.node.attrs
    assert attrs is not None
    step = moved_last(step, attrs["axes"])
    inner = attrs["count"]
    outer = prod(step.space) // inner
    ninputs = len(step.inputs)
    launches = []
    temporaries: list[int] = []
    for number, this in enumerate(passes(outer, inner)):
        source = tuple(range(ninputs)) if this.is_first else (ninputs + number,)
        target = ninputs if this.is_last else ninputs + 1 + number
        if not this.is_last:
            temporaries.append(8 * this.outer * this.shares)
        launches.append(_launch(step, this, (*source, target), limits, cache))
    return Program(tuple(launches), tuple(temporaries))


def _launch(
    step: Step, this: Pass, bindings: tuple[int, ...], limits: Limits, cache: TextCache
) -> Launch:
    lay = body.layout(step)
    params = Params()
    params.add("outer", this.outer)
    params.add("inner", this.inner)
    params.add("shares", this.shares)
    if this.is_first:
        body.add_params(params, step, lay)
    space = params.space(limits)
    name = step.node.op.name
    key = (name, this.is_first, this.is_last, space, body.key(step, lay))
    wgsl = cache.get(key) or cache.put(key, _text(step, lay, this, params, space))
    return Launch(
        wgsl=wgsl,
        label=name,
        bindings=bindings,
        writes=1 << (len(bindings) - 1),
        params=tuple(params.words),
        param_space=space,
        groups=-(-this.outer * this.shares // WORKGROUP),
        cost=WORKGROUP * -(-this.inner // this.shares) * (len(step.body) + 6),
    )


def _order(compute: str, value: str) -> str:
    """A u32 that orders values as they are searched for: NaN above all, -0 and 0 alike."""
    if compute == "i32":
        return f"(bitcast<u32>({value}) ^ 0x80000000u)"
    if compute == "bool":
        return f"select(0u, 1u, {value})"
    return f"order({value})" if compute == "f32" else value


_FLOAT_ORDER: Final = """\
fn order(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) { return 0xffffffffu; }
  if ((bits & 0x7fffffffu) == 0u) { return 0x80000000u; }
  return select(bits | 0x80000000u, ~bits, (bits & 0x80000000u) != 0u);
}
"""


def _text(step: Step, lay: Layout, this: Pass, params: Params, space: ParamSpace) -> str:
    compute = step.body[-1].dtype.compute
    is_min = step.node.op.name == "argmin"
    if this.is_first:
        statements, value = body.write(step, lay, "i")
        rank = _order(compute, value)
        if is_min:  # turned round, but NaN stays above all
            rank = f"~{rank}"
            if compute == "f32":
                rank = f"select({rank}, 0xffffffffu, {_order(compute, value)} == 0xffffffffu)"
        statements = [*statements, f"let rank = {rank};", "let place = j;"]
    else:
        statements = ["let rank = partial[2u * i];", "let place = partial[2u * i + 1u];"]
    store = (
        ["out[at] = i32(best_place);"]
        if this.is_last
        else ["out[2u * at] = best;", "out[2u * at + 1u] = best_place;"]
    )
    lines = [
        f"let at = group * {WORKGROUP}u + lid;",
        "if (at >= p.outer * p.shares) { return; }",
        "let o = at / p.shares;",
        "let share = at % p.shares;",
        "var best = 0u;",
        "var best_place = 0xffffffffu;",
        "for (var j = share; j < p.inner; j += p.shares) {",
        "  let i = o * p.inner + j;",
        *(f"  {line}" for line in statements),
        "  if (rank > best || (rank == best && place < best_place)) {",
        "    best = rank;",
        "    best_place = place;",
        "  }",
        "}",
        *store,
    ]
    inputs = body.buffers(step) if this.is_first else [("partial", "u32", False)]
    return shader(
        space=space,
        params=params,
        buffers=[*inputs, ("out", "i32" if this.is_last else "u32", True)],
        body="".join(f"  {line}\n" for line in lines),
        workgroup=WORKGROUP,
        declarations=_FLOAT_ORDER if compute == "f32" and this.is_first else "",
    )
