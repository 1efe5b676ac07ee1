"""Reductions: sums, products, extremes and truth over some axes.

float32 and complex64 sums carry the rounding error of every addition along (TwoSum), through the
partial results too. float16 is folded in float32 and rounded at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aiogpu import dtypes
from aiogpu.kernels import folding, types
from aiogpu.kernels.folding import Fold

if TYPE_CHECKING:
    from aiogpu.dtypes import DType
    from aiogpu.graph.node import Node
    from aiogpu.kernels.writer import TextCache
    from aiogpu.limits import Limits
    from aiogpu.program import Program
    from aiogpu.schedule.step import Step

_INF: Final = "ag_inf()"
_ZEROS: Final = {"f32": "0.0", "i32": "0", "u32": "0u"}
_ONES: Final = {"f32": "1.0", "i32": "1", "u32": "1u"}
_EXTREMES: Final = {  # neutral element by compute type, and how two values become one
    "max": (
        {"f32": f"-{_INF}", "i32": "bitcast<i32>(0x80000000u)", "u32": "0u"},
        {"f32": "ag_max_f32({0}, {1})", "*": "max({0}, {1})"},
    ),
    "min": (
        {"f32": _INF, "i32": "0x7fffffff", "u32": "0xffffffffu"},
        {"f32": "ag_min_f32({0}, {1})", "*": "min({0}, {1})"},
    ),
}


def render(step: Step, limits: Limits, cache: TextCache) -> Program:
    """The program of a reduction."""
    return folding.render(step, fold_of(step.core), limits, cache)


def fold_of(core: Node) -> Fold:
    """How the elements of a reduction's operand become its result."""
    assert core.attrs is not None
    name, dtype = core.op.name, core.dtype
    if core.op.functions:
        return _own(core)
    count = (("count", dtypes.word(float(core.attrs["count"]), dtypes.FLOAT), "f32"),)
    if name in {"any", "all"} or dtype.compute == "bool":
        return _truth(name)
    if name in {"sum", "mean"}:
        made = _total(dtype, is_mean=name == "mean")
        return made._replace(params=count) if name == "mean" else made
    if name == "prod":
        return _product(dtype)
    neutral, how = _EXTREMES[name]
    kind = dtype.compute
    fold = how.get(kind) or how["*"]
    return Fold(
        f"{name} {dtype.name}",
        (("acc", kind, neutral[kind]),),
        (f"acc = {fold.format('acc', 'v')};",),
        (f"acc = {fold.format('acc', 'other_acc')};",),
        "acc",
    )


def _own(core: Node) -> Fold:
    """A reduction of a user's: the row calls a function of two elements."""
    assert core.attrs is not None
    first: str = core.attrs["identity"]
    kind, call = core.dtype.compute, core.op.wgsl["*"]
    return Fold(
        f"{call} from {first}",
        (("acc", kind, first),),
        (f"acc = {call.format('acc', 'v')};",),
        (f"acc = {call.format('acc', 'other_acc')};",),
        types.narrow("acc", core.dtype),
        declarations=core.op.functions,
    )


def _truth(name: str) -> Fold:
    """Any and all; and max and min of bools, which are the same."""
    is_any = name in {"any", "max"}
    sign = "|" if is_any else "&"
    return Fold(
        "any" if is_any else "all",
        (("acc", "u32", "0u" if is_any else "1u"),),
        (f"acc {sign}= select(0u, 1u, v);",),
        (f"acc {sign}= other_acc;",),
        "(acc != 0u)",
    )


def _total(dtype: DType, *, is_mean: bool) -> Fold:
    name = f"{'mean' if is_mean else 'sum'} {dtype.name}"
    if dtype.kind in {"int", "uint"}:
        kind = dtype.compute
        start = (("acc", kind, _ZEROS[kind]),)
        return Fold(name, start, ("acc += v;",), ("acc += other_acc;",), "acc")
    parts = [".x", ".y"] if dtype.kind == "complex" else [""]
    variables = []
    take: list[str] = []
    merge: list[str] = []
    results = []
    for part in parts:
        tag = part[1:]
        variables += [(f"acc{tag}", "f32", "0.0"), (f"err{tag}", "f32", "0.0")]
        take += types.two_sum(f"v{part}", tag)
        merge += [*types.two_sum(f"other_acc{tag}", tag), f"err{tag} += other_err{tag};"]
        total = f"select(acc{tag}, acc{tag} + err{tag}, ag_isfinite(acc{tag}))"
        results.append(f"ag_div_f32({total}, p.count)" if is_mean else total)
    whole = results[0] if len(parts) == 1 else f"vec2f({', '.join(results)})"
    return Fold(name, tuple(variables), tuple(take), tuple(merge), types.narrow(whole, dtype))


def _product(dtype: DType) -> Fold:
    name = f"prod {dtype.name}"
    if dtype.kind == "complex":
        return Fold(
            name,
            (("accx", "f32", "1.0"), ("accy", "f32", "0.0")),
            ("{ let t = ag_cmul(vec2f(accx, accy), v); accx = t.x; accy = t.y; }",),
            (
                "{ let t = ag_cmul(vec2f(accx, accy), vec2f(other_accx, other_accy));"
                " accx = t.x; accy = t.y; }",
            ),
            "vec2f(accx, accy)",
        )
    kind = dtype.compute
    start = (("acc", kind, _ONES[kind]),)
    result = types.narrow("acc", dtype)
    return Fold(name, start, ("acc *= v;",), ("acc *= other_acc;",), result)
