"""Softmax and standardisation along an axis.

On a GPU a workgroup has a row, and keeps it in registers, four vectors or so an invocation. A row
that is too long or not of vectors is walked three times; the elementwise work before it runs at
each visit of an element then. On a software adapter, where barriers cost 30 to 40 times, and for
short rows, one invocation walks a row. The result is stored in the order of the array's own axes.
"""

from __future__ import annotations

import re
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
TOGETHER: Final = 256  # invocations that share a row that is walked
FEWEST: Final = 64  # invocations that share a row in registers,
VECTORS: Final = 8  # and vectors of four that each has at most
SHORT: Final = 32  # elements that one invocation walks without help


def render(step: Step, limits: Limits, cache: TextCache) -> Program:
    """The program of a softmax, log_softmax or standardize along the axis ``axis``."""
    attrs = step.core.attrs
    assert attrs is not None
    assert step.body is not None
    axis = attrs["axis"]
    inner = step.body.space[axis]
    outer = prod(step.body.space) // inner
    is_alone = inner <= (MAX_TURNS // 2 if limits.is_fallback else SHORT)  # it walks three times
    by_fours = not is_alone and inner % 4 == 0 and inner <= 4 * VECTORS * TOGETHER
    fused = Fused(
        step,
        limits,
        moved=(axis,),
        is_scattered=True,
        takes_fours=by_fours,
        puts_fours=by_fours and axis == len(step.body.space) - 1,
    )
    params = Params()
    params.add("outer", outer)
    params.add("inner", inner)
    params.add("count", dtypes.word(float(inner), dtypes.FLOAT), "f32")
    params.add("epsilon", dtypes.word(attrs.get("epsilon", 0.0), dtypes.FLOAT), "f32")
    fused.add_params(params)
    params.ensure_zero()
    space = params.space(limits)
    name = step.core.op.name
    row: _Row
    if is_alone:
        row = _Walked(step, fused, ALONE, is_alone=True)
    elif fused.takes_fours:
        row = _Held(step, fused, inner)
    else:
        row = _Walked(step, fused, TOGETHER, is_alone=False)
    key = ("row", name, row.key, space, step.core.dtype, fused.key)
    wgsl = cache.get(key)
    if wgsl is None:
        wgsl = cache.put(key, _text(step, fused, row, params, space))
    bindings = (*fused.slots, len(step.inputs))
    groups = -(-outer // ALONE) if is_alone else outer
    cost = (ALONE if is_alone else 1) * inner * 3 * (fused.ninstrs + 12)
    return Program((launch(wgsl, name, params, space, bindings, groups, cost),))


def _text(step: Step, fused: Fused, row: _Row, params: Params, space: ParamSpace) -> str:
    name = step.core.op.name
    if name == "standardize":
        lines = [
            *row.total("sum", "value"),
            "let mean = sum / p.count;",
            *row.total("squares", "(value - mean) * (value - mean)"),
            "let scale = ag_rsqrt(squares / p.count + p.epsilon);",
            *row.store("(value - mean) * scale"),
        ]
    elif name == "log_softmax":
        lines = [
            *row.most("most"),
            *row.total("sum", "ag_exp(value - most)"),
            "let log_sum = ag_log(sum);",
            *row.store("value - most - log_sum"),
        ]
    else:
        lines = [
            *row.most("most"),
            *row.total("sum", "ag_exp(value - most)", keep=True),
            *row.store("kept / sum"),
        ]
    meetings = []
    if not row.is_alone:
        meetings.append(_meeting("sum", "f32", "mine + other", row.size))
        if name != "standardize":
            meetings.append(_meeting("max", *row.extreme, row.size))
    number = f"group * {ALONE}u + lid" if row.is_alone else "group"
    return shader(
        space=space,
        params=params,
        buffers=fused.buffers(),
        declarations=row.declarations + "".join(meetings) + fused.functions(),
        body=indent([f"let o = {number};", "if (o >= p.outer) { return; }", *row.begin(), *lines]),
        workgroup=row.size,
    )


class _Row:
    """How a kernel goes through its row; expressions are of ``value``, an element of it."""

    is_alone = False
    extreme = ("f32", "ag_max_f32(mine, other)")
    declarations = ""

    def __init__(self, step: Step, fused: Fused, size: int) -> None:
        self.size = size
        self._step = step
        self._fused = fused

    @property
    def key(self) -> tuple[object, ...]:
        """All that the text depends on, as far as it comes from here."""
        return (type(self).__name__, self.size)

    def begin(self) -> list[str]:
        """Statements that come first."""
        raise NotImplementedError

    def most(self, name: str) -> list[str]:
        """Statements that find the largest element."""
        raise NotImplementedError

    def total(self, name: str, term: str, *, keep: bool = False) -> list[str]:
        """Statements that sum a term along the row; ``kept`` is the term later, if it is kept."""
        raise NotImplementedError

    def store(self, result: str) -> list[str]:
        """Statements that store a result for each element."""
        raise NotImplementedError

    def _meet(self, name: str, fold: str) -> list[str]:
        """The invocations of a row agree on what each of them found."""
        return [] if self.is_alone else [f"{name} = meet_{fold}(lid, {name});"]


class _Walked(_Row):
    """Read again each time, by one invocation or by a workgroup."""

    def __init__(self, step: Step, fused: Fused, size: int, *, is_alone: bool) -> None:
        super().__init__(step, fused, size)
        self.is_alone = is_alone
        self._kept = ""

    def _visit(self, *lines: str) -> list[str]:
        first, step = ("0u", "1u") if self.is_alone else ("lid", f"{self.size}u")
        return [
            f"for (var j = {first}; j < p.inner; j += {step}) {{",
            "  let i = o * p.inner + j;",
            "  let value = operand(i);",
            *(f"  {line}" for line in lines),
            "}",
        ]

    def begin(self) -> list[str]:
        return ["var acc = 0.0;", "var err = 0.0;"]

    def most(self, name: str) -> list[str]:
        return [
            f"var {name} = -ag_inf();",
            *self._visit(f"{name} = ag_max_f32({name}, value);"),
            *self._meet(name, "max"),
        ]

    def total(self, name: str, term: str, *, keep: bool = False) -> list[str]:
        self._kept = f"let kept = {term};" if keep else ""
        return [
            "acc = 0.0;",
            "err = 0.0;",
            *self._visit(f"let term = {term};", *types.two_sum("term")),
            f"var {name} = select(acc, acc + err, ag_isfinite(acc));",
            *self._meet(name, "sum"),
        ]

    def store(self, result: str) -> list[str]:
        value = types.narrow(f"({result})", self._step.core.dtype)
        place = f"let e = {self._fused.spot('i')};"
        return self._visit(self._kept, place, *self._fused.store("e", value))


class _Held(_Row):
    """In registers, by vectors of four; what is past the end of the row is -inf, and counts 0.

    The largest is found by the integers of `ag_order`, which for NaN may be any element: the sum is
    NaN then, and all results are.
    """

    extreme = ("i32", "max(mine, other)")
    declarations = """\
fn order_four(x: vec4f) -> vec4i {
  let bits = bitcast<vec4i>(x);
  return bits ^ ((bits >> vec4u(31u)) & vec4i(0x7fffffff));
}
"""

    def __init__(self, step: Step, fused: Fused, inner: int) -> None:
        size = FEWEST
        while 4 * VECTORS * size < inner:
            size *= 2
        super().__init__(step, fused, size)
        self._count = -(-inner // (4 * size))
        self._is_whole = inner == 4 * size * self._count
        self._kept = ""

    @property
    def key(self) -> tuple[object, ...]:
        return (*super().key, self._count, self._is_whole)

    def _written(self, text: str, at: int, lane: int) -> str:
        """An expression of one element."""
        text = re.sub(r"\bvalue\b", f"x{at}[{lane}]", text)
        return re.sub(r"\bkept\b", f"{self._kept}{at}[{lane}]", text)

    def begin(self) -> list[str]:
        lines = []
        for at in range(self._count):
            vector = f"operand4(o * (p.inner / 4u) + at{at})"
            lines.append(f"let at{at} = lid + {at * self.size}u;")
            if self._is_whole:
                lines.append(f"let x{at} = {vector};")
            else:
                lines.append(f"var x{at} = vec4f(-ag_inf());")
                lines.append(f"if (at{at} < p.inner / 4u) {{ x{at} = {vector}; }}")
        return lines

    def most(self, name: str) -> list[str]:
        orders = [f"order_four(x{at})" for at in range(self._count)]
        while len(orders) > 1:
            pairs = (orders[at : at + 2] for at in range(0, len(orders), 2))
            orders = [f"max({', '.join(pair)})" if len(pair) > 1 else pair[0] for pair in pairs]
        return [
            f"let {name}_four = {orders[0]};",
            f"var {name}_order = max(max({name}_four.x, {name}_four.y), "
            f"max({name}_four.z, {name}_four.w));",
            f"{name}_order = meet_max(lid, {name}_order);",
            f"let {name} = bitcast<f32>(ag_order(bitcast<f32>({name}_order)));",
        ]

    def total(self, name: str, term: str, *, keep: bool = False) -> list[str]:
        self._kept = name if keep else ""
        lines = []
        for at in range(self._count):
            vector = f"vec4f({', '.join(self._written(term, at, lane) for lane in range(4))})"
            inside = (
                vector if self._is_whole else f"select(vec4f(), {vector}, at{at} < p.inner / 4u)"
            )
            lines.append(f"let {name}{at} = {inside};")
        # By pairs, which rounds as little as a tree.
        sums = [f"{name}{at}" for at in range(self._count)]
        while len(sums) > 1:
            sums = [f"({' + '.join(sums[at : at + 2])})" for at in range(0, len(sums), 2)]
        four = f"{name}_four"
        lines += [
            f"let {four} = {sums[0]};",
            f"var {name} = ({four}.x + {four}.y) + ({four}.z + {four}.w);",
        ]
        return [*lines, *self._meet(name, "sum")]

    def store(self, result: str) -> list[str]:
        fused, dtype = self._fused, self._step.core.dtype
        lines: list[str] = []
        for at in range(self._count):
            values = (
                types.narrow(f"({self._written(result, at, lane)})", dtype) for lane in range(4)
            )
            lines += [
                "{" if self._is_whole else f"if (at{at} < p.inner / 4u) {{",
                f"  let values = vec4f({', '.join(values)});",
                f"  let q = o * (p.inner / 4u) + at{at};",
            ]
            if fused.puts_fours:
                lines += [f"  {line}" for line in fused.store_four("q", "values")]
            else:
                lines += [
                    "  for (var lane = 0u; lane < 4u; lane++) {",
                    f"    let e = {fused.spot('(4u * q + lane)')};",
                    *(f"    {line}" for line in fused.store("e", "values[lane]")),
                    "  }",
                ]
            lines.append("}")
        return lines


def _meeting(name: str, kind: str, fold: str, size: int) -> str:
    """A function by which the invocations of a workgroup fold a value; all get the result.

    In two turns, of sixteen values and of what is left: each barrier costs more than their folding.
    """
    return f"""\
var<workgroup> all_{name}: array<{kind}, {size}>;
var<workgroup> few_{name}: array<{kind}, 16>;
fn meet_{name}(lid: u32, given: {kind}) -> {kind} {{
  var mine = given;
  all_{name}[lid] = mine;
  workgroupBarrier();
  if (lid < 16u) {{
    for (var at = lid + 16u; at < {size}u; at += 16u) {{
      let other = all_{name}[at];
      mine = {fold};
    }}
    few_{name}[lid] = mine;
  }}
  workgroupBarrier();
  mine = few_{name}[0];
  for (var at = 1u; at < 16u; at++) {{
    let other = few_{name}[at];
    mine = {fold};
  }}
  return mine;
}}
"""
