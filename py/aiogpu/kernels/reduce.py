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
from aiogpu.kernels import types
from aiogpu.kernels.fused import Fused
from aiogpu.kernels.writer import Params, TextCache, indent, launch, shader
from aiogpu.program import Program

if TYPE_CHECKING:
    from aiogpu.dtypes import DType
    from aiogpu.graph.node import Node
    from aiogpu.limits import Limits
    from aiogpu.program import Launch, ParamSpace
    from aiogpu.schedule.step import Step

WORKGROUP = 64
MAX_SHARES = 16384  # invocations that keep a large GPU busy
SHORT = 256  # elements that one invocation folds without help
FEW_SHARES = 2048  # the same for a software adapter
FEW_ROWS = 32
LONG = 65536  # elements that one invocation folds there, when there are rows enough

_INF = "ag_inf()"
_FOLD = {  # operation: neutral element by compute type, and how two values become one
    "sum": (
        {"f32": "0.0", "i32": "0", "u32": "0u", "vec2f": "vec2f()"},
        {"*": "{0} + {1}"},
    ),
    "prod": (
        {"f32": "1.0", "i32": "1", "u32": "1u", "vec2f": "vec2f(1.0, 0.0)"},
        {"vec2f": "ag_cmul({0}, {1})", "*": "{0} * {1}"},
    ),
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
    core = step.core
    assert core.attrs is not None
    assert step.body is not None
    inner = core.attrs["count"]
    outer = prod(step.body.space) // inner
    width = 2 if _is_compensated(core) else 1
    launches = []
    temporaries = []
    ninputs = len(step.inputs)
    for number, this in enumerate(passes(outer, inner, limits)):
        if not this.is_last:
            temporaries.append(4 * _words(core.dtype) * width * this.outer * this.shares)
        source = () if this.is_first else (ninputs + number,)
        target = ninputs if this.is_last else ninputs + 1 + number
        launches.append(_launch(step, this, source, target, limits, cache))
    return Program(tuple(launches), tuple(temporaries))


def passes(outer: int, inner: int, limits: Limits) -> list[Pass]:
    """How a reduction of ``outer`` rows of ``inner`` elements is cut into passes."""
    result: list[Pass] = []
    # A few cores are busy with a few rows, and a second pass costs more than it gains.
    many = FEW_SHARES if limits.is_fallback else MAX_SHARES
    short = LONG if limits.is_fallback and outer >= FEW_ROWS else SHORT
    while True:
        shares = 1 if inner <= short else max(1, min(many // outer, inner // (SHORT // 4)))
        result.append(Pass(outer, inner, shares, not result))
        if shares == 1:
            return result
        inner = shares


def _words(dtype: DType) -> int:
    return max(1, dtype.itemsize // 4)


def _is_compensated(core: Node) -> bool:
    return core.op.name in {"sum", "mean"} and core.dtype.compute == "f32"


def _launch(
    step: Step, this: Pass, source: tuple[int, ...], target: int, limits: Limits, cache: TextCache
) -> Launch:
    core = step.core
    assert core.attrs is not None
    moved = core.attrs["axes"]
    fused = Fused(step, limits, moved=moved, is_first=this.is_first, is_last=this.is_last)
    params = Params()
    params.add("outer", this.outer)
    params.add("inner", this.inner)
    params.add("shares", this.shares)
    if core.op.name == "mean":
        params.add("count", dtypes.word(float(core.attrs["count"]), dtypes.FLOAT), "f32")
    fused.add_params(params)
    params.ensure_zero()
    space = params.space(limits)
    name = core.op.name
    key = ("reduce", name, this.is_first, this.is_last, space, core.dtype, fused.key)
    wgsl = cache.get(key) or cache.put(key, _text(step, fused, this, params, space))
    lanes = fused.lanes if this.is_last else 1
    groups = -(-this.outer * this.shares // (WORKGROUP * lanes))
    cost = WORKGROUP * lanes * -(-this.inner // this.shares) * (fused.ninstrs + 4)
    bindings = (*source, *fused.slots, target)
    return launch(wgsl, name, params, space, bindings, groups, cost)


def _text(step: Step, fused: Fused, this: Pass, params: Params, space: ParamSpace) -> str:
    core = step.core
    compute = core.dtype.compute
    stored = "u32" if compute == "bool" else compute
    fold = _fold(core, this)
    if this.is_last:
        result = f"let result = {types.narrow(_result(core), core.dtype)};"
        lines = fused.each(
            WORKGROUP, "p.outer", ["let o = i;", "let share = 0u;", *fold, result], "result"
        )
        output = []
    else:
        lines = [
            f"let at = group * {WORKGROUP}u + lid;",
            "if (at >= p.outer * p.shares) { return; }",
            "let o = at / p.shares;",
            "let share = at % p.shares;",
            *fold,
            *_store_partial(core),
        ]
        output = [("out", stored, True)]
    partial = [] if this.is_first else [("partial", stored, False)]
    return shader(
        space=space,
        params=params,
        buffers=[*partial, *fused.buffers(), *output],
        declarations=fused.functions(),
        body=indent(lines),
        workgroup=WORKGROUP,
    )


def _fold(core: Node, this: Pass) -> list[str]:
    """Statements that fold one share of result ``o`` into ``acc`` (and ``err``)."""
    compute = core.dtype.compute
    neutral, how = _FOLD[core.op.name]
    compensated = _is_compensated(core)
    if this.is_first:
        value = ["let v = operand(o * p.inner + j);"]
    elif compensated:
        value = [
            "let v = partial[2u * (o * p.inner + j)];",
            "err += partial[2u * (o * p.inner + j) + 1u];",
        ]
    else:
        read = "partial[o * p.inner + j]"
        value = [f"let v = {types.unpack(read, dtypes.bool_) if compute == 'bool' else read};"]
    if compensated:
        add = types.two_sum("v")
    else:
        add = [f"acc = {(how.get(compute) or how['*']).format('acc', 'v')};"]
    return [
        f"var acc = {neutral[compute]};",
        *(["var err = 0.0;"] if compensated else []),
        "for (var j = share; j < p.inner; j += p.shares) {",
        *(f"  {line}" for line in (*value, *add)),
        "}",
    ]


def _store_partial(core: Node) -> list[str]:
    if _is_compensated(core):
        return ["out[2u * at] = acc;", "out[2u * at + 1u] = err;"]
    is_bool = core.dtype.compute == "bool"
    return [f"out[at] = {types.pack('acc', dtypes.bool_) if is_bool else 'acc'};"]


def _result(core: Node) -> str:
    if core.dtype.compute == "vec2f" and core.op.name == "mean":
        return "acc / p.count"
    if not _is_compensated(core):
        return "acc"
    total = "select(acc, acc + err, ag_isfinite(acc))"
    return f"ag_div_f32({total}, p.count)" if core.op.name == "mean" else total
