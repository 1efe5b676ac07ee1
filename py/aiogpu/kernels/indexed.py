"""Gather and scatter along an axis, by int32 indices on the device.

Indices out of range are clamped; or, when asked to raise, they set the stream's fault word (see
`aiogpu.runtime.faults`), give 0, and store nothing.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from aiogpu.kernels import types
from aiogpu.kernels.fused import Fused
from aiogpu.kernels.writer import Params, TextCache, indent, launch, shader
from aiogpu.program import FAULTS, Program

if TYPE_CHECKING:
    from aiogpu.limits import Limits
    from aiogpu.program import ParamSpace
    from aiogpu.schedule.step import Step

WORKGROUP: Final = 64

_FIND: Final = [
    "let q = i % p.post;",
    "let j = i / p.post % p.count;",
    "let r = i / (p.post * p.count);",
    "let given = {indices};",
    "let inside = given >= 0 && given < i32(p.size);",
    "let found = u32(clamp(given, 0, i32(p.size) - 1));",
]
_FAULT: Final = ["if (!inside) { atomicMax(&faults[0], p.fault); }"]


def render(step: Step, limits: Limits, cache: TextCache) -> Program:
    """The program of a gather, or of a scatter into a value that is changed."""
    core = step.core
    attrs = core.attrs
    assert attrs is not None
    axis, size, raises = attrs["axis"], attrs["size"], attrs["raises"]
    shape = attrs["shape"]  # of what is gathered, or scattered
    is_scatter = core.op.family == "scatter"
    fused = Fused(step, limits, is_scattered=is_scatter)
    data, indices = step.views
    params = Params()
    for name, value in (
        ("n", prod(shape)), ("post", prod(shape[axis + 1 :])), ("count", shape[axis]),
        ("size", size), ("at_data", data.offset), ("at_indices", indices.offset), ("fault", 0),
    ):  # fmt: skip
        params.add(name, value)
    fused.add_params(params)
    space = params.space(limits)
    key = (core.op.name, space, core.dtype, raises, fused.key)
    wgsl = cache.get(key) or cache.put(key, _text(step, fused, params, space, raises=raises))
    out = len(fused.slots)
    return Program(
        (
            launch(
                wgsl,
                core.op.name,
                params,
                space,
                (*fused.slots, len(step.inputs), *((FAULTS,) if raises else ())),
                -(-prod(shape) // (WORKGROUP * fused.lanes)),
                WORKGROUP * fused.lanes * (16 + fused.ninstrs),
                writes=(3 if raises else 1) << out,
                fault_at=params.names.index("fault: u32") if raises else None,
                fault=attrs.get("fault", ""),
            ),
        )
    )


def _text(step: Step, fused: Fused, params: Params, space: ParamSpace, *, raises: bool) -> str:
    dtype = step.core.dtype
    find = [line.format(indices=fused.load(1, "(p.at_indices + j)")) for line in _FIND]
    find += _FAULT if raises else []
    if step.core.op.family == "scatter":
        value = fused.load(0, "(p.at_data + i)")
        place = "(r * p.size + found) * p.post + q"
        stores = [f"let place = {place};", f"let value = {value};", *fused.store("place", "value")]
        lines = [
            f"let i = group * {WORKGROUP}u + lid;",
            "if (i >= p.n) { return; }",
            *find,
            *(["if (!inside) { return; }"] if raises else []),
            *stores,
        ]
    else:
        value = fused.load(0, "(p.at_data + (r * p.size + found) * p.post + q)")
        if raises:
            value = f"select({types.zero(dtype)}, {value}, inside)"
        lines = fused.each(WORKGROUP, "p.n", [*find, f"let value = {value};"], "value")
    return shader(
        space=space,
        params=params,
        buffers=[*fused.buffers(), *([("faults", "atomic<u32>", True)] if raises else [])],
        declarations=fused.functions(),
        body=indent(lines),
        workgroup=WORKGROUP,
    )
