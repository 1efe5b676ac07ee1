"""Where values belong in a sorted axis, by bisection; one invocation a value.

The order is that of sorting: NaN above all, -0 and 0 alike. ``true_places`` asks a running count
for the places at which it reaches 1, 2, 3 and so on: so elements that a mask chooses are brought
together without a scatter, and only as many as are wanted.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from aiogpu.graph import table
from aiogpu.kernels.fused import Fused
from aiogpu.kernels.search import FLOAT_ORDER, ORDER
from aiogpu.kernels.writer import Params, TextCache, indent, launch, shader
from aiogpu.program import Program

if TYPE_CHECKING:
    from aiogpu.limits import Limits
    from aiogpu.schedule.step import Step

WORKGROUP: Final = 64


def render(step: Step, limits: Limits, cache: TextCache) -> Program:
    """The program of searchsorted, or of true_places."""
    core = step.core
    attrs = core.attrs
    assert attrs is not None
    nelems = prod(core.shape)
    size, is_right = attrs["size"], attrs["is_right"]
    fused = Fused(step, limits)
    params = Params()
    params.add("n", nelems)
    params.add("size", size)
    for at, view in enumerate(step.views):
        params.add(f"at{at}", view.offset)
    if core.op is table.TRUE_PLACES:
        params.add("first", attrs["first"])
        sought = "i32(p.first + i)"
    else:
        sought = fused.load(1, "(p.at1 + i)")
    fused.add_params(params)
    space = params.space(limits)
    compute = core.inputs[0].dtype.compute
    lines = [
        f"let v = {sought};",
        f"let key = {ORDER[compute]};",
        "var low = 0u;",
        "var high = p.size;",
        "while (low < high) {",
        "  let middle = (low + high) / 2u;",
        f"  let v = {fused.load(0, '(p.at0 + middle)')};",
        f"  if ({ORDER[compute]} {'<=' if is_right else '<'} key) {{ low = middle + 1u; }}"
        " else { high = middle; }",
        "}",
        "let value = i32(low);",
    ]
    key = (core.op.name, space, core.inputs[0].dtype, is_right, fused.key)
    wgsl = cache.get(key) or cache.put(
        key,
        shader(
            space=space,
            params=params,
            buffers=fused.buffers(),
            declarations=(FLOAT_ORDER if compute == "f32" else "") + fused.functions(),
            body=indent(fused.each(WORKGROUP, "p.n", lines, "value")),
            workgroup=WORKGROUP,
        ),
    )
    bindings = (*fused.slots, len(step.inputs))
    groups = -(-nelems // (WORKGROUP * fused.lanes))
    cost = WORKGROUP * fused.lanes * (8 * max(1, size).bit_length() + fused.ninstrs)
    return Program((launch(wgsl, core.op.name, params, space, bindings, groups, cost),))
