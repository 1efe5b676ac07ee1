"""Reductions: every invocation folds its share; passes follow until one share is left.

No workgroup memory and no barrier, which cost 30 to 40 times on a software adapter. Shares are
interleaved, so that neighbouring invocations read neighbouring elements. The elementwise work
before the reduction runs in the first pass.

float32 sums carry the rounding error of every addition along, through the partial results too.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

from aiogpu import dtypes
from aiogpu.kernels import body, types
from aiogpu.kernels.last_axis import moved_last
from aiogpu.kernels.writer import Params, TextCache, each_element, shader
from aiogpu.program import Launch, Program

if TYPE_CHECKING:
    from aiogpu.kernels.body import Layout
    from aiogpu.limits import Limits
    from aiogpu.program import ParamSpace
    from aiogpu.schedule.step import Step

WORKGROUP = 64
MAX_SHARES = 16384  # invocations that keep a large GPU busy
SHORT = 256  # elements that one invocation folds without help

_INF = "ag_inf()"
_FOLD = {  # operation: neutral element by compute type, and how two values become one
    "sum": ({"f32": "0.0", "i32": "0", "u32": "0u"}, {"*": "{0} + {1}"}),
    "prod": ({"f32": "1.0", "i32": "1", "u32": "1u"}, {"*": "{0} * {1}"}),
    "max": (
        {"f32": f"-{_INF}", "i32": "bitcast<i32>(0x80000000u)", "u32": "0u", "bool": "false"},
        {"f32": "ag_max_f32({0}, {1})", "bool": "{0} || {1}", "*": "max({0}, {1})"},
    ),
    "min": (
        {"f32": _INF, "i32": "0x7fffffff", "u32": "0xffffffffu", "bool": "true"},
        {"f32": "ag_min_f32({0}, {1})", "bool": "{0} && {1}", "*": "min({0}, {1})"},
    ),
    "any": ({"bool": "false"}, {"*": "{0} || {1}"}),
    "all": ({"bool": "true"}, {"*": "{0} && {1}"}),
}
_FOLD["mean"] = _FOLD["sum"]


class Pass(NamedTuple):
    """One pass: ``outer`` results of ``inner`` elements each, folded in ``shares``."""

    outer: int
    inner: int
    shares: int
    is_first: bool

    @property
    def is_last(self) -> bool:
        """Whether this pass gives the results."""
        return self.shares == 1


def render(step: Step, limits: Limits, cache: TextCache) -> Program:
    """The program of a reduction."""
    assert step.node.attrs is not None
    axes = step.node.attrs["axes"]
    step = moved_last(step, axes)
    assert step.node.attrs is not None
    inner = step.node.attrs["count"]
    outer = prod(step.space) // inner
    launches = []
    temporaries = []
    ninputs = len(step.inputs)
    width = 2 if _is_compensated(step) else 1
    for number, this in enumerate(passes(outer, inner)):
        source = tuple(range(ninputs)) if this.is_first else (ninputs + number,)
        target = ninputs if this.is_last else ninputs + 1 + number
        if not this.is_last:
            temporaries.append(4 * width * this.outer * this.shares)
        launches.append(_launch(step, this, (*source, target), limits, cache))
    return Program(tuple(launches), tuple(temporaries))


def passes(outer: int, inner: int) -> list[Pass]:
    """How a reduction of ``outer`` rows of ``inner`` elements is cut into passes."""
    result: list[Pass] = []
    while True:
        shares = 1 if inner <= SHORT else max(1, min(MAX_SHARES // outer, inner // (SHORT // 4)))
        result.append(Pass(outer, inner, shares, not result))
        if shares == 1:
            return result
        inner = shares


def _is_compensated(step: Step) -> bool:
    return step.node.op.name in {"sum", "mean"} and step.node.dtype.kind == "float"


def _launch(
    step: Step, this: Pass, bindings: tuple[int, ...], limits: Limits, cache: TextCache
) -> Launch:
    dtype = step.node.dtype
    lay = body.layout(step)
    params = Params()
    params.add("outer", this.outer)
    params.add("inner", this.inner)
    params.add("shares", this.shares)
    if step.node.op.name == "mean":
        assert step.node.attrs is not None
        params.add("count", dtypes.word(float(step.node.attrs["count"]), dtypes.FLOAT), "f32")
    if this.is_first:
        body.add_params(params, step, lay)
    params.ensure_zero()
    space = params.space(limits)
    flags = (this.is_first, this.is_last)
    name = step.node.op.name
    key = ("reduce", name, flags, space, dtype.name, body.key(step, lay) if this.is_first else ())
    wgsl = cache.get(key) or cache.put(key, _text(step, lay, this, params, space))
    results = -(-this.outer // dtype.lanes) if this.is_last else this.outer * this.shares
    per_result = -(-this.inner // this.shares) * (dtype.lanes if this.is_last else 1)
    return Launch(
        wgsl=wgsl,
        label=name,
        bindings=bindings,
        writes=1 << (len(bindings) - 1),
        params=tuple(params.words),
        param_space=space,
        groups=-(-results // WORKGROUP),
        cost=WORKGROUP * per_result * (len(step.body) + 4 if this.is_first else 4),
    )


def _text(step: Step, lay: Layout, this: Pass, params: Params, space: ParamSpace) -> str:
    compute = step.body[-1].dtype.compute
    stored = "u32" if compute == "bool" else compute
    dtype = step.node.dtype
    fold = _fold(step, lay, this, compute)
    if this.is_last:
        lines = each_element(
            dtype, WORKGROUP, "p.outer", "o", ["let share = 0u;", *fold], _result(step)
        )
    else:
        lines = [
            f"let at = group * {WORKGROUP}u + lid;",
            "if (at >= p.outer * p.shares) { return; }",
            "let o = at / p.shares;",
            "let share = at % p.shares;",
            *fold,
            *_store_partial(step, compute),
        ]
    inputs = body.buffers(step) if this.is_first else [("partial", stored, False)]
    output = ("out", types.storage(dtype) if this.is_last else stored, True)
    return shader(
        space=space,
        params=params,
        buffers=[*inputs, output],
        body="".join(f"  {line}\n" for line in lines),
        workgroup=WORKGROUP,
    )


def _fold(step: Step, lay: Layout, this: Pass, compute: str) -> list[str]:
    """Statements that fold one share of result ``o`` into ``acc`` (and ``err``)."""
    neutral, how = _FOLD[step.node.op.name]
    compensated = _is_compensated(step)
    if this.is_first:
        statements, value = body.write(step, lay, "i")
    elif compensated:
        statements, value = ["let v = partial[2u * i];", "err += partial[2u * i + 1u];"], "v"
    else:
        statements, value = [f"let v = {types.unpack('partial[i]', dtypes.bool_)};"], "v"
        if compute != "bool":
            statements = ["let v = partial[i];"]
    if compensated:
        add = types.two_sum(value)
    else:
        add = [f"acc = {(how.get(compute) or how['*']).format('acc', value)};"]
    lines = [*statements, *add]
    return [
        f"var acc = {neutral[compute]};",
        *(["var err = 0.0;"] if compensated else []),
        "for (var j = share; j < p.inner; j += p.shares) {",
        "  let i = o * p.inner + j;",
        *(f"  {line}" for line in lines),
        "}",
    ]


def _store_partial(step: Step, compute: str) -> list[str]:
    if _is_compensated(step):
        return ["out[2u * at] = acc;", "out[2u * at + 1u] = err;"]
    return [f"out[at] = {types.pack('acc', dtypes.bool_) if compute == 'bool' else 'acc'};"]


def _result(step: Step) -> str:
    if not _is_compensated(step):
        return "acc"
    total = "select(acc, acc + err, ag_isfinite(acc))"
    return f"ag_div_f32({total}, p.count)" if step.node.op.name == "mean" else total
