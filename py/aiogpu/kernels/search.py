"""argmax and argmin: the first NaN wins, then the first of equals. int32 results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aiogpu.kernels import folding
from aiogpu.kernels.folding import Fold

if TYPE_CHECKING:
    from aiogpu.kernels.writer import TextCache
    from aiogpu.limits import Limits
    from aiogpu.program import Program
    from aiogpu.schedule.step import Step

# A u32 that orders values as they are searched for and sorted: NaN above all, -0 and 0 alike.
FLOAT_ORDER: Final = """\
fn order_of(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) { return 0xffffffffu; }
  if ((bits & 0x7fffffffu) == 0u) { return 0x80000000u; }
  return select(bits | 0x80000000u, ~bits, (bits & 0x80000000u) != 0u);
}
"""
ORDER: Final = {
    "f32": "order_of(v)",
    "i32": "(bitcast<u32>(v) ^ 0x80000000u)",
    "u32": "v",
    "bool": "select(0u, 1u, v)",
}


def render(step: Step, limits: Limits, cache: TextCache) -> Program:
    """The program of an argmax or argmin over ``axes``."""
    assert step.body is not None
    compute = step.body.dtype.compute
    is_min = step.core.op.name == "argmin"
    order = ORDER[compute]
    rank = f"~{order}" if is_min else order  # turned round,
    if is_min and compute == "f32":
        rank = f"select({rank}, {order}, {order} == 0xffffffffu)"  # but NaN stays above all
    better = "if ({0} > best || ({0} == best && {1} < place)) {{ best = {0}; place = {1}; }}"
    fold = Fold(
        f"{step.core.op.name} {compute}",
        (("best", "u32", "0u"), ("place", "u32", "0xffffffffu")),
        (f"let rank = {rank};", better.format("rank", "j")),
        (better.format("other_best", "other_place"),),
        "i32(place)",
        declarations=FLOAT_ORDER if compute == "f32" else "",
    )
    return folding.render(step, fold, limits, cache)
