"""Folding rows of elements to one result each: what reductions and searches share.

A workgroup folds ``columns`` rows at a time, with ``spread`` invocations for each, which meet in
workgroup memory at the end. A few long rows are cut in ``splits``, whose results a second pass
folds. On a software adapter, where barriers cost 30 to 40 times, every invocation has a row of its
own, or a part of one.

Neighbouring invocations read neighbouring elements: along the row where it lies so in memory, else
across rows. On a GPU an invocation has four folds under way, whose loads do not wait for each
other; along a row they take the parts of a vector. The elementwise work before the fold runs in the
first pass, that after it in the last.
"""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from aiogpu.kernels.fused import MAX_INSTRS, Fused
from aiogpu.kernels.writer import MAX_TURNS, Params, TextCache, indent, launch, shader
from aiogpu.program import Program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiogpu.limits import Limits
    from aiogpu.program import Launch, ParamSpace
    from aiogpu.schedule.step import Step

ALONE: Final = 64  # invocations of a workgroup of which each has its own row
SHORT: Final = 256  # elements that one invocation folds on a software adapter without help,
LONG: Final = MAX_TURNS  # or if there are so many rows that all cores are busy:
FEW_ROWS: Final = 32
FEW_SPLITS: Final = 2048  # invocations that keep a software adapter busy
TINY: Final = 32  # elements that one invocation folds on a GPU without help
NARROW: Final = 1024  # up to which a row is folded by 32 invocations, not by 256
HUGE: Final = 16384  # elements from which on a row is cut, if there are few
MANY: Final = 128  # workgroups that keep a GPU busy
MAX_SPLITS: Final = 1024


class Fold(NamedTuple):
    """What is folded, in WGSL.

    Attributes:
        name: The operation, with all that the rest depends on.
        variables: Name, scalar type and first value of what a fold carries.
        take: Statements that fold in an element ``v``, number ``j`` of its row.
        merge: Statements that fold in the variables of another fold, as ``other_`` and their names.
        result: The result, from the variables.
        params: Further parameters: name, word and type.
        declarations: Functions that these call.
    """

    name: str
    variables: tuple[tuple[str, str, str], ...]
    take: tuple[str, ...]
    merge: tuple[str, ...]
    result: str
    params: tuple[tuple[str, int, str], ...] = ()
    declarations: str = ""


class Pass(NamedTuple):
    """One pass: ``outer`` rows of ``inner`` elements, folded as the module says."""

    outer: int
    inner: int
    columns: int
    spread: int
    splits: int
    is_along: bool
    is_first: bool

    @property
    def is_last(self) -> bool:
        """Whether this pass gives the results."""
        return self.splits == 1


def passes(outer: int, inner: int, limits: Limits, *, is_along: bool = True) -> list[Pass]:
    """How ``outer`` rows of ``inner`` elements are folded.

    Args:
        outer: Number of rows.
        inner: Elements of each.
        limits: What the device allows.
        is_along: Whether the elements of a row are neighbours in memory, rather than the rows.
    """
    if outer == 0:
        return [Pass(outer, inner, ALONE, 1, 1, is_along, is_first=True)]
    result: list[Pass] = []
    while True:
        choose = _alone if limits.is_fallback or inner <= TINY else _together
        made = choose(outer, inner, limits, is_along=is_along)
        result.append(Pass(outer, inner, *made, is_along, not result))
        if result[-1].is_last:
            return result
        inner = result[-1].splits
        is_along = True


def _alone(outer: int, inner: int, limits: Limits, *, is_along: bool) -> tuple[int, int, int]:  # noqa: ARG001 - the form of `_together`
    short = LONG if outer >= FEW_ROWS or not limits.is_fallback else SHORT
    if inner <= short:
        return ALONE, 1, 1
    splits = max(1, min(FEW_SPLITS // outer, inner // (SHORT // 4)))
    return ALONE, 1, max(splits, -(-inner // MAX_TURNS))


def _together(outer: int, inner: int, limits: Limits, *, is_along: bool) -> tuple[int, int, int]:
    most = min(1024, limits.max_invocations)
    if not is_along and outer >= 32:
        columns, spread = 32, most // 32
    elif inner <= NARROW:
        columns, spread = 8, 32
    else:
        columns, spread = 1, 256
    groups = -(-outer // columns)
    if groups >= MANY or inner <= HUGE:
        return columns, spread, 1
    return columns, spread, max(1, min(MAX_SPLITS // groups, inner // (8 * spread)))


def render(step: Step, fold: Fold, limits: Limits, cache: TextCache) -> Program:
    """The program that folds the body of ``step`` over the axes of its core."""
    attrs = step.core.attrs
    assert attrs is not None
    assert step.body is not None
    axes, inner = attrs["axes"], attrs["count"]
    space = step.body.space
    outer = prod(space) // inner
    is_along = tuple(axes) == tuple(range(len(space) - len(axes), len(space)))
    ninputs = len(step.inputs)
    launches = []
    temporaries: list[int] = []
    for number, this in enumerate(passes(outer, inner, limits, is_along=is_along)):
        source = () if this.is_first else (ninputs + number,)
        target = ninputs if this.is_last else ninputs + 1 + number
        if not this.is_last:
            temporaries.append(4 * len(fold.variables) * this.outer * this.splits)
        launches.append(_launch(step, fold, this, (source, target), limits, cache))
    return Program(tuple(launches), tuple(temporaries))


def _launch(
    step: Step,
    fold: Fold,
    this: Pass,
    ends: tuple[tuple[int, ...], int],
    limits: Limits,
    cache: TextCache,
) -> Launch:
    assert step.core.attrs is not None
    is_wide = this.is_first and this.spread > 1
    fused = Fused(
        step,
        limits,
        takes_fours=is_wide and this.is_along and this.inner % 4 == 0,
        moved=step.core.attrs["axes"],
        is_first=this.is_first,
        is_last=this.is_last,
        is_scattered=this.spread > 1,
    )
    params = Params()
    params.add("outer", this.outer)
    params.add("inner", this.inner)
    params.add("splits", this.splits)
    for name, word, kind in fold.params:
        params.add(name, word, kind)
    fused.add_params(params)
    params.ensure_zero()
    space = params.space(limits)
    shape = (this.columns, this.spread, this.is_along, this.is_first, this.is_last)
    key = ("fold", fold.name, shape, space, fused.key)
    wgsl = cache.get(key) or cache.put(key, _text(fold, fused, this, params, space))
    source, target = ends
    lanes = fused.lanes if this.is_last else 1
    if this.spread == 1:
        groups = -(-this.outer * this.splits // (this.columns * lanes))
    else:
        groups = -(-this.outer // this.columns) * this.splits
    each = -(-this.inner // (this.spread * this.splits)) * (fused.ninstrs + 4)
    cost = this.columns * this.spread * lanes * each
    bindings = (*source, *fused.slots, target)
    return launch(wgsl, step.core.op.name, params, space, bindings, groups, cost)


def _text(fold: Fold, fused: Fused, this: Pass, params: Params, space: ParamSpace) -> str:
    columns, spread = this.columns, this.spread
    if this.is_last and spread == 1:
        walk = _walk(fold, this, "0u", "1u")
        lines = fused.each(columns, "p.outer", ["let o = i;", *walk], fold.result)
    else:
        lines = [
            *_share(this),
            *_walk_wide(fold, fused, this),
            *(_meet(fold, this) if spread > 1 else []),
            "if (s == 0u && o < p.outer) {",
            *(f"  {line}" for line in _leave(fold, fused, this)),
            "}",
        ]
    partial = [] if this.is_first else [("partial", "u32", False)]
    output = [] if this.is_last else [("out", "u32", True)]
    shared = "".join(
        f"var<workgroup> all_{name}: array<{kind}, {columns * spread}>;\n"
        for name, kind, _ in fold.variables
        if spread > 1
    )
    return shader(
        space=space,
        params=params,
        buffers=[*partial, *fused.buffers(), *output],
        declarations=shared + fold.declarations + fused.functions(),
        body=indent(lines),
        workgroup=columns * spread,
    )


def _share(this: Pass) -> list[str]:
    """Statements that say which row ``o``, which split of it and which part ``s`` of that is ours.

    Neighbours share a row where its elements are neighbours, else they take a row each.
    """
    columns, spread = this.columns, this.spread
    if spread == 1:
        at = f"let at = group * {columns}u + lid;"
        if this.is_along:
            return [at, "let s = 0u;", "let o = at / p.splits;", "let split = at % p.splits;"]
        return [
            at,
            "let s = 0u;",
            "let o = select(p.outer, at % p.outer, at < p.outer * p.splits);",
            "let split = at / p.outer;",
        ]
    return [
        f"let blocks = (p.outer + {columns - 1}u) / {columns}u;",
        "let split = group / blocks;",
        *(
            [f"let s = lid % {spread}u;", f"let c = lid / {spread}u;"]
            if this.is_along
            else [f"let s = lid / {columns}u;", f"let c = lid % {columns}u;"]
        ),
        f"let o = group % blocks * {columns}u + c;",
    ]


def _walk_wide(fold: Fold, fused: Fused, this: Pass) -> list[str]:
    """As `_walk`, by four folds side by side."""
    first, step = f"(split * {this.spread}u + s)", f"({this.spread}u * p.splits)"
    is_long = fused.ninstrs > MAX_INSTRS and not fused.takes_fours
    if not this.is_first or this.spread == 1 or is_long:
        return _walk(fold, this, first, step)
    names = [name for name, _, _ in fold.variables]
    copies = ["", "_1", "_2", "_3"]
    starts = [f"var {name}{tag} = {start};" for tag in copies for name, _, start in fold.variables]

    def take(tag: str, j: str, v: str) -> str:
        lines = [_renamed(line, names, tag) for line in fold.take]
        return f"{{ let j = {j}; let v = {v}; {' '.join(lines)} }}"

    if fused.takes_fours:
        loops = [
            f"for (var q = {first}; q < p.inner / 4u; q += {step}) {{",
            "  let x = operand4(o * (p.inner / 4u) + q);",
            *(f"  {take(tag, f'4u * q + {at}u', f'x[{at}]')}" for at, tag in enumerate(copies)),
            "}",
        ]
    else:
        loops = [
            f"var at = {first};",
            f"let step = {step};",
            "for (; at + 3u * step < p.inner; at += 4u * step) {",
            *(f"  let x{k} = operand(o * p.inner + at + {k}u * step);" for k in range(4)),
            *(f"  {take(tag, f'at + {k}u * step', f'x{k}')}" for k, tag in enumerate(copies)),
            "}",
            "for (; at < p.inner; at += step) {",
            f"  {take('', 'at', 'operand(o * p.inner + at)')}",
            "}",
        ]
    merges = [
        "{ "
        + " ".join([*(f"let other_{name} = {name}{tag};" for name in names), *fold.merge])
        + " }"
        for tag in copies[1:]
    ]
    return [*starts, "if (o < p.outer) {", *(f"  {line}" for line in (*loops, *merges)), "}"]


def _renamed(text: str, names: Sequence[str], tag: str) -> str:
    """A text in which some names end in ``tag``."""
    return re.sub(rf"\b({'|'.join(names)})\b", rf"\1{tag}", text)


def _walk(fold: Fold, this: Pass, first: str, step: str) -> list[str]:
    """Statements that fold a part of row ``o`` into the variables."""
    if this.is_first:
        take = ["let v = operand(o * p.inner + j);", *fold.take]
    else:
        words = len(fold.variables)
        take = [
            f"let other_{name} = bitcast<{kind}>(partial[(o * p.inner + j) * {words}u + {at}u]);"
            for at, (name, kind, _) in enumerate(fold.variables)
        ]
        take += fold.merge
    return [
        *(f"var {name} = {start};" for name, _, start in fold.variables),
        "if (o < p.outer) {",
        f"  for (var j = {first}; j < p.inner; j += {step}) {{",
        *(f"    {line}" for line in take),
        "  }",
        "}",
    ]


def _meet(fold: Fold, this: Pass) -> list[str]:
    """Statements by which the invocations of a row fold their variables into the first one's."""
    put = [f"all_{name}[lid] = {name};" for name, _, _ in fold.variables]
    step = 1 if this.is_along else this.columns
    return [
        *put,
        "workgroupBarrier();",
        f"for (var half = {this.spread // 2}u; half > 0u; half /= 2u) {{",
        "  if (s < half) {",
        *(
            f"    let other_{name} = all_{name}[lid + half * {step}u];"
            for name, _, _ in fold.variables
        ),
        *(f"    {line}" for line in (*fold.merge, *put)),
        "  }",
        "  workgroupBarrier();",
        "}",
    ]


def _leave(fold: Fold, fused: Fused, this: Pass) -> list[str]:
    """Statements that store a row's result, or what the next pass folds."""
    if this.is_last:
        return [f"let result = {fold.result};", *fused.store("o", "result")]
    words = len(fold.variables)
    return [
        f"out[(o * p.splits + split) * {words}u + {at}u] = bitcast<u32>({name});"
        for at, (name, _, _) in enumerate(fold.variables)
    ]
