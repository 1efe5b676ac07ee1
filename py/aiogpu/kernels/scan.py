"""Cumulative sums and products along an axis, of any length.

A long row is cut into shares: the shares are folded, the results are scanned, and every share is
walked again from what stands before it. No barrier. float32 sums carry their rounding errors along
(TwoSum), through the shares too.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from aiogpu.kernels import types
from aiogpu.kernels.fused import Fused
from aiogpu.kernels.writer import MAX_TURNS, Params, TextCache, indent, launch, shader
from aiogpu.program import Program

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiogpu.limits import Limits
    from aiogpu.program import Launch, ParamSpace
    from aiogpu.schedule.step import Step

WORKGROUP: Final = 64
MAX_SHARES: Final = 4096
SHORT: Final = 1024  # elements that one invocation walks without help


def render(step: Step, limits: Limits, cache: TextCache) -> Program:
    """The program of a cumulative sum or product along ``axis``, inclusive or exclusive."""
    attrs = step.core.attrs
    assert attrs is not None
    assert step.body is not None
    inner = step.body.space[attrs["axis"]]
    outer = prod(step.body.space) // inner
    shares = 1 if inner <= SHORT else max(1, min(MAX_SHARES // outer, inner // (SHORT // 4)))
    shares = max(shares, -(-inner // MAX_TURNS))
    out = len(step.inputs)
    sizes = (outer, inner, shares)
    if shares == 1:
        return Program((_launch(step, "walk", sizes, (), out, limits, cache),))
    partial, before = out + 1, out + 2
    launches = (
        _launch(step, "fold", sizes, (), partial, limits, cache),
        _launch(step, "carry", sizes, (partial,), before, limits, cache),
        _launch(step, "walk_on", sizes, (before,), out, limits, cache),
    )
    nbytes = 2 * max(4, step.core.dtype.itemsize) * outer * shares
    return Program(launches, (nbytes, nbytes))


def _launch(
    step: Step,
    part: str,
    sizes: tuple[int, int, int],
    source: tuple[int, ...],
    target: int,
    limits: Limits,
    cache: TextCache,
) -> Launch:
    outer, inner, shares = sizes
    attrs = step.core.attrs
    assert attrs is not None
    fused = Fused(
        step,
        limits,
        moved=(attrs["axis"],),
        is_first=part != "carry",
        is_last=part in {"walk", "walk_on"},
        is_scattered=True,
    )
    params = Params()
    params.add("outer", outer)
    params.add("inner", inner)
    params.add("shares", shares)
    params.add("length", -(-inner // shares))
    params.add("exclusive", int(attrs["exclusive"]))
    fused.add_params(params)
    params.ensure_zero()
    space = params.space(limits)
    name = step.core.op.name
    key = ("scan", name, part, space, step.core.dtype, fused.key)
    wgsl = cache.get(key) or cache.put(key, _text(step, fused, part, params, space))
    invocations = outer if part == "carry" else outer * shares
    length = shares if part == "carry" else -(-inner // shares)
    groups = -(-invocations // WORKGROUP)
    cost = WORKGROUP * length * (fused.ninstrs + 8)
    return launch(wgsl, name, params, space, (*source, *fused.slots, target), groups, cost)


def _text(step: Step, fused: Fused, part: str, params: Params, space: ParamSpace) -> str:
    dtype = step.core.dtype
    kind = dtype.compute
    is_sum = step.core.op.name == "cumulative_sum"
    start = types.zero(dtype) if is_sum else types.one(dtype)
    add = _add(kind, is_sum=is_sum)
    result = "select(acc, acc + err, ag_isfinite(acc))" if kind == "f32" and is_sum else "acc"
    state = [f"var acc = {start};", f"var err = {types.zero(dtype)};"]
    if part == "carry":
        lines = [
            f"let o = group * {WORKGROUP}u + lid;",
            "if (o >= p.outer) { return; }",
            *state,
            "for (var s = 0u; s < p.shares; s++) {",
            "  let at = 2u * (o * p.shares + s);",
            "  out[at] = acc;",
            "  out[at + 1u] = err;",
            "  let v = partial[at];",
            *(f"  {line}" for line in add("v")),
            "  err += partial[at + 1u];",
            "}",
        ]
        buffers: list[tuple[str, str, bool]] = [("partial", kind, False), ("out", kind, True)]
    else:
        store = fused.store("e", types.narrow(result, dtype))
        walk = [
            "let from_ = share * p.length;",
            "let to = min(from_ + p.length, p.inner);",
            "for (var j = from_; j < to; j++) {",
            "  let i = o * p.inner + j;",
            "  let value = operand(i);",
            *([f"  let e = {fused.spot('i')};"] if part != "fold" else []),
            *_visit(part, add("value"), store),
            "}",
        ]
        lines = [
            f"let at = group * {WORKGROUP}u + lid;",
            "if (at >= p.outer * p.shares) { return; }",
            "let o = at / p.shares;",
            "let share = at % p.shares;",
            *state,
            *(
                ["acc = before[2u * at];", "err = before[2u * at + 1u];"]
                if part == "walk_on"
                else []
            ),
            *walk,
            *(["out[2u * at] = acc;", "out[2u * at + 1u] = err;"] if part == "fold" else []),
        ]
        before = [("before", kind, False)] if part == "walk_on" else []
        output = [("out", kind, True)] if part == "fold" else []
        buffers = [*before, *fused.buffers(), *output]
    return shader(
        space=space,
        params=params,
        buffers=buffers,
        declarations=fused.functions(),
        body=indent(lines),
        workgroup=WORKGROUP,
    )


def _visit(part: str, add: list[str], store: list[str]) -> list[str]:
    """What is done with one element: only folded, or stored before or after it is."""
    if part == "fold":
        return [f"  {line}" for line in add]
    return [
        "  if (p.exclusive != 0u) {",
        *(f"    {line}" for line in store),
        "  }",
        *(f"  {line}" for line in add),
        "  if (p.exclusive == 0u) {",
        *(f"    {line}" for line in store),
        "  }",
    ]


def _add(kind: str, *, is_sum: bool) -> Callable[[str], list[str]]:
    """How one more value, by its name, joins ``acc`` and ``err``."""

    def write(value: str) -> list[str]:
        if not is_sum:
            return [f"acc = {'ag_cmul(acc, ' if kind == 'vec2f' else '(acc * '}{value});"]
        if kind != "f32":
            return [f"acc = acc + {value};"]
        return types.two_sum(value)

    return write
