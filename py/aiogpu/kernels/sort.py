"""Stable sorting along an axis: the places, int32, that the sorted elements come from.

A merge sort without barriers, on pairs of an order-preserving u32 and a place. One invocation sorts
a run of 16 by insertion; then each pass merges neighbouring runs, in one launch for all rows. There
an invocation makes 8 neighbouring elements: it finds by bisection how many of the elements before
them come from either run, and merges on from there (merge path: Odeh, Green, Mwassi, Shmueli, Birk,
"Merge Path - Parallel Merging Made Simple", 2012).

Where only the first elements are wanted, passes leave out what cannot be among them.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from aiogpu.kernels.fused import Fused
from aiogpu.kernels.search import FLOAT_ORDER, ORDER
from aiogpu.kernels.writer import Params, TextCache, indent, launch, shader
from aiogpu.program import Program

if TYPE_CHECKING:
    from aiogpu.limits import Limits
    from aiogpu.program import Launch, ParamSpace
    from aiogpu.schedule.step import Step

WORKGROUP: Final = 64
RUN: Final = 16  # elements that one invocation sorts
SHARE: Final = 8  # elements that one invocation merges; RUN is a multiple of it
_PAIR_NBYTES: Final = 8


class _Pass(NamedTuple):
    """One launch: it merges runs of ``width``, or makes them where that is 0."""

    width: int
    source: tuple[int, ...]
    target: int
    is_last: bool


def render(step: Step, limits: Limits, cache: TextCache) -> Program:
    """The program of argsort along ``axis``, of which the first ``keep`` are kept."""
    assert step.body is not None
    attrs = step.core.attrs
    assert attrs is not None
    nelems = prod(step.body.space)
    inner = step.body.space[attrs["axis"]]
    out = len(step.inputs)
    passes = [_Pass(0, (), out + 1, is_last=inner <= RUN)]
    width = RUN
    while width < inner:
        source = passes[-1].target
        target = out + 1 if source == out + 2 else out + 2
        passes.append(_Pass(width, (source,), target, is_last=2 * width >= inner))
        width *= 2
    passes[-1] = passes[-1]._replace(target=out)
    launches = tuple(_launch(step, each, limits, cache) for each in passes)
    ntemporaries = min(2, len(passes) - 1)
    return Program(launches, (_PAIR_NBYTES * nelems,) * ntemporaries)


def _launch(step: Step, this: _Pass, limits: Limits, cache: TextCache) -> Launch:
    attrs = step.core.attrs
    assert attrs is not None
    assert step.body is not None
    axis, keep, is_descending = attrs["axis"], attrs["keep"], attrs["descending"]
    inner = step.body.space[axis]
    outer = prod(step.body.space) // inner
    fused = Fused(
        step,
        limits,
        moved=(axis,),
        is_first=not this.source,
        is_last=this.is_last,
        is_scattered=True,
    )
    shares = -(-inner // (SHARE if this.source else RUN))
    params = Params()
    for name, value in (
        ("outer", outer), ("inner", inner), ("shares", shares), ("keep", keep),
        ("post", prod(step.body.space[axis + 1 :])), ("width", this.width),
    ):  # fmt: skip
        params.add(name, value)
    fused.add_params(params)
    space = params.space(limits)
    compute = step.body.dtype.compute
    kind = ("merge",) if this.source else ("runs", compute, is_descending)
    key = ("sort", *kind, this.is_last, space, fused.key)
    order = f"~{ORDER[compute]}" if is_descending else ORDER[compute]
    wgsl = cache.get(key) or cache.put(key, _text(fused, this, params, space, order))
    return launch(
        wgsl,
        step.core.op.name,
        params,
        space,
        (*this.source, *fused.slots, this.target),
        -(-outer * shares // WORKGROUP),
        WORKGROUP * ((SHARE + this.width.bit_length()) * 8 if this.source else _cost(fused)),
    )


def _cost(fused: Fused) -> int:
    return RUN * (RUN + fused.ninstrs)


def _text(fused: Fused, this: _Pass, params: Params, space: ParamSpace, order: str) -> str:
    lines = [
        f"let at = group * {WORKGROUP}u + lid;",
        "if (at >= p.outer * p.shares) { return; }",
        "let o = at / p.shares;",
        "let row = o * p.inner;",
        *(_merge(fused, this) if this.source else _sort_run(fused, this, order)),
    ]
    pair = "vec2u"
    source: list[tuple[str, str, bool]] = [("source", f"{pair}", False)] if this.source else []
    output: list[tuple[str, str, bool]] = [] if this.is_last else [("out", pair, True)]
    return shader(
        space=space,
        params=params,
        buffers=[*source, *fused.buffers(), *output],
        declarations=("" if this.source else FLOAT_ORDER) + fused.functions(),
        body=indent(lines),
        workgroup=WORKGROUP,
    )


def _put(fused: Fused, this: _Pass, number: str, pair: str) -> list[str]:
    """Statements that store the pair that is element ``number`` of the sorted row."""
    if not this.is_last:
        return [f"out[row + {number}] = {pair};"]
    return [
        f"let e = ((o / p.post) * p.keep + {number}) * p.post + o % p.post;",
        f"let place = i32({pair}.y);",
        *fused.store("e", "place"),
    ]


def _sort_run(fused: Fused, this: _Pass, order: str) -> list[str]:
    """Statements that sort one run by insertion: an element moves before those greater than it."""
    stored = "min(length, p.keep)" if this.is_last else "length"
    return [
        f"let first = (at % p.shares) * {RUN}u;",
        f"let length = min({RUN}u, p.inner - first);",
        f"var run: array<vec2u, {RUN}>;",
        "for (var j = 0u; j < length; j++) {",
        "  let v = operand(row + first + j);",
        f"  let key = {order};",
        "  var hole = j;",
        "  while (hole > 0u) {",
        "    let before = run[hole - 1u];",
        "    if (before.x <= key) { break; }",
        "    run[hole] = before;",
        "    hole--;",
        "  }",
        "  run[hole] = vec2u(key, first + j);",
        "}",
        f"for (var j = 0u; j < {stored}; j++) {{",
        *(f"  {line}" for line in _put(fused, this, "(first + j)", "run[j]")),
        "}",
    ]


def _merge(fused: Fused, this: _Pass) -> list[str]:
    """Statements that merge a share of two runs; of equals the left run's come first."""
    stored = "min(left_length + right_length, p.keep)" if this.is_last else None
    return [
        f"let first = (at % p.shares) * {SHARE}u;",
        "let start = first - first % (2u * p.width);",
        "let skipped = first - start;",
        "if (skipped >= p.keep) { return; }",
        "let left_length = min(p.width, p.inner - start);",
        "let right_length = min(p.width, p.inner - start - left_length);",
        "let left = row + start;",
        "let right = left + left_length;",
        "var low = select(0u, skipped - right_length, skipped > right_length);",
        "var high = min(skipped, left_length);",
        "while (low < high) {",
        "  let middle = (low + high) / 2u;",
        "  if (source[left + middle].x <= source[right + skipped - 1u - middle].x) {",
        "    low = middle + 1u;",
        "  } else {",
        "    high = middle;",
        "  }",
        "}",
        "var l = low;",
        "var r = skipped - low;",
        f"let stop = min(skipped + {SHARE}u, {stored or 'left_length + right_length'});",
        "var one = source[left + min(l, left_length - 1u)];",
        "var two = source[right + r];",  # beyond the end of the buffer it is never looked at
        "for (var j = skipped; j < stop; j++) {",
        "  var taken = two;",
        "  if (r >= right_length || (l < left_length && one.x <= two.x)) {",
        "    taken = one;",
        "    l++;",
        "    if (l < left_length) { one = source[left + l]; }",
        "  } else {",
        "    r++;",
        "    if (r < right_length) { two = source[right + r]; }",
        "  }",
        *(f"  {line}" for line in _put(fused, this, "(start + j)", "taken")),
        "}",
    ]
