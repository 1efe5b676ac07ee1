"""Cumulative sums and products along an axis, of any length.

A long row is cut into shares: the shares are folded, the results are scanned, and every share is
walked again from what stands before it. No barrier. float32 sums carry their rounding errors along
(TwoSum), through the shares too.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from aiogpu.kernels import body, types
from aiogpu.kernels.last_axis import moved_last
from aiogpu.kernels.writer import Params, TextCache, shader
from aiogpu.program import Launch, Program

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiogpu.kernels.body import Layout
    from aiogpu.limits import Limits
    from aiogpu.program import ParamSpace
    from aiogpu.schedule.step import Step

WORKGROUP: Final = 64
MAX_SHARES: Final = 4096
SHORT: Final = 1024  # elements that one invocation walks without help


def render(step: Step, limits: Limits, cache: TextCache) -> Program:
    """The program of a cumulative sum or product along ``axis``, inclusive or exclusive."""
    attrs = step.node.attrs
    assert attrs is not None
    axis = attrs["axis"]
    inner = step.space[axis]
    step = moved_last(step, (axis,), keeps_shape=True)
    outer = prod(step.space) // inner
    shares = 1 if inner <= SHORT else max(1, min(MAX_SHARES // outer, inner // (SHORT // 4)))
    ninputs = len(step.inputs)
    out = ninputs
    if shares == 1:
        launches = [_launch(step, "walk", (outer, inner, 1), (*range(ninputs), out), limits, cache)]
        return Program(tuple(launches))
    sizes = (outer, inner, shares)
    partial, before = ninputs + 1, ninputs + 2
    launches = [
        _launch(step, "fold", sizes, (*range(ninputs), partial), limits, cache),
        _launch(step, "carry", sizes, (partial, before), limits, cache),
        _launch(step, "walk_on", sizes, (*range(ninputs), before, out), limits, cache),
    ]
    nbytes = 8 * outer * shares
    return Program(tuple(launches), (nbytes, nbytes))


def _launch(
    step: Step,
    part: str,
    sizes: tuple[int, int, int],
    bindings: tuple[int, ...],
    limits: Limits,
    cache: TextCache,
) -> Launch:
    outer, inner, shares = sizes
    attrs = step.node.attrs
    assert attrs is not None
    lay = body.layout(step)
    params = Params()
    params.add("outer", outer)
    params.add("inner", inner)
    params.add("shares", shares)
    params.add("length", -(-inner // shares))
    params.add("exclusive", int(attrs["exclusive"]))
    if part != "carry":
        body.add_params(params, step, lay)
    params.ensure_zero()
    space = params.space(limits)
    name = step.node.op.name
    shape = () if part == "carry" else body.key(step, lay)
    key = ("scan", name, part, space, step.node.dtype.name, shape)
    wgsl = cache.get(key) or cache.put(key, _text(step, lay, part, params, space))
    invocations = outer if part == "carry" else outer * shares
    length = shares if part == "carry" else -(-inner // shares)
    return Launch(
        wgsl=wgsl,
        label=name,
        bindings=bindings,
        writes=1 << (len(bindings) - 1),
        params=tuple(params.words),
        param_space=space,
        groups=-(-invocations // WORKGROUP),
        cost=WORKGROUP * length * (len(step.body) + 8),
    )


def _text(step: Step, lay: Layout, part: str, params: Params, space: ParamSpace) -> str:
    dtype = step.node.dtype
    kind = dtype.compute
    is_sum = step.node.op.name == "cumulative_sum"
    start = types.zero(dtype) if is_sum else types.one(dtype)
    statements, value = body.write(step, lay, "i")
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
        walk = [
            "let from_ = share * p.length;",
            "let to = min(from_ + p.length, p.inner);",
            "for (var j = from_; j < to; j++) {",
            "  let i = o * p.inner + j;",
            *(f"  {line}" for line in statements),
            *_visit(part, add(value), body.target(lay, "i"), result),
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
        middle = [("before", kind, False)] if part == "walk_on" else []
        buffers = [*body.buffers(step), *middle, ("out", kind, True)]
    return shader(
        space=space,
        params=params,
        buffers=buffers,
        body="".join(f"  {line}\n" for line in lines),
        workgroup=WORKGROUP,
    )


def _visit(part: str, add: list[str], place: str, result: str) -> list[str]:
    """What is done with one element: only folded, or stored before or after it is."""
    if part == "fold":
        return [f"  {line}" for line in add]
    return [
        f"  if (p.exclusive != 0u) {{ out[{place}] = {result}; }}",
        *(f"  {line}" for line in add),
        f"  if (p.exclusive == 0u) {{ out[{place}] = {result}; }}",
    ]


def _add(kind: str, *, is_sum: bool) -> Callable[[str], list[str]]:
    """How one more value, by its name, joins ``acc`` and ``err``."""

    def write(value: str) -> list[str]:
        if not is_sum:
            return [f"acc = acc * {value};"]
        if kind != "f32":
            return [f"acc = acc + {value};"]
        return types.two_sum(value)

    return write
