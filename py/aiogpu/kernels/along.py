"""Elements along an axis, by an index for each element of the result."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from aiogpu.kernels.fused import Fused
from aiogpu.kernels.writer import Params, TextCache, indent, launch, shader
from aiogpu.program import Program

if TYPE_CHECKING:
    from aiogpu.limits import Limits
    from aiogpu.schedule.step import Step

WORKGROUP: Final = 64


def render(step: Step, limits: Limits, cache: TextCache) -> Program:
    """The program of take_along_axis; indices outside of the axis are clamped."""
    core = step.core
    attrs = core.attrs
    assert attrs is not None
    axis, shape = attrs["axis"], core.shape
    nelems = prod(shape)
    fused = Fused(step, limits)
    data, indices = step.views
    params = Params()
    for name, value in (
        ("n", nelems), ("post", prod(shape[axis + 1 :])), ("count", shape[axis]),
        ("size", attrs["size"]), ("at_data", data.offset), ("at_indices", indices.offset),
    ):  # fmt: skip
        params.add(name, value)
    fused.add_params(params)
    space = params.space(limits)
    lines = [
        "let row = i / (p.post * p.count);",
        f"let given = {fused.load(1, '(p.at_indices + i)')};",
        "let from_front = select(given, given + i32(p.size), given < 0);",
        "let found = u32(clamp(from_front, 0, i32(p.size) - 1));",
        "let at_value = p.at_data + (row * p.size + found) * p.post + i % p.post;",
        f"let value = {fused.load(0, 'at_value')};",
    ]
    key = ("along", space, core.dtype, fused.key)
    wgsl = cache.get(key) or cache.put(
        key,
        shader(
            space=space,
            params=params,
            buffers=fused.buffers(),
            declarations=fused.functions(),
            body=indent(fused.each(WORKGROUP, "p.n", lines, "value")),
            workgroup=WORKGROUP,
        ),
    )
    bindings = (*fused.slots, len(step.inputs))
    groups = -(-nelems // (WORKGROUP * fused.lanes))
    cost = WORKGROUP * fused.lanes * (16 + fused.ninstrs)
    return Program((launch(wgsl, core.op.name, params, space, bindings, groups, cost),))
