"""Gather and scatter along an axis, by int32 indices on the device.

Indices out of range are clamped; or, when asked to raise, they set the stream's fault word (see
`aiogpu.runtime.faults`), give 0, and store nothing.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from aiogpu.kernels import types
from aiogpu.kernels.writer import Params, TextCache, each_element, shader
from aiogpu.program import FAULTS, Launch, Program

if TYPE_CHECKING:
    from aiogpu.limits import Limits
    from aiogpu.program import ParamSpace
    from aiogpu.schedule.step import Step

WORKGROUP: Final = 64

_FIND: Final = [
    "let q = i % p.post;",
    "let j = i / p.post % p.count;",
    "let r = i / (p.post * p.count);",
    "let given = indices[p.at_indices + j];",
    "let inside = given >= 0 && given < i32(p.size);",
    "let found = u32(clamp(given, 0, i32(p.size) - 1));",
]
_FAULT: Final = ["if (!inside) { atomicMax(&faults[0], p.fault); }"]


def render(step: Step, limits: Limits, cache: TextCache) -> Program:
    """The program of a gather, or of a scatter into a value that is changed."""
    attrs = step.node.attrs
    assert attrs is not None
    axis, size, raises = attrs["axis"], attrs["size"], attrs["raises"]
    shape = attrs["shape"]  # of what is gathered, or scattered
    is_scatter = step.base is not None
    data, indices = step.views
    params = Params()
    for name, value in (
        ("n", prod(shape)), ("post", prod(shape[axis + 1 :])), ("count", shape[axis]),
        ("size", size), ("at_data", data.offset), ("at_indices", indices.offset), ("fault", 0),
    ):  # fmt: skip
        params.add(name, value)
    space = params.space(limits)
    dtype = step.node.dtype
    key = (step.node.op.name, space, dtype.name, raises)
    wgsl = cache.get(key) or cache.put(key, _text(step, params, space, raises=raises))
    bindings = (*step.slots, len(step.inputs), *((FAULTS,) if raises else ()))
    lanes = 1 if is_scatter else dtype.lanes
    launch = Launch(
        wgsl=wgsl,
        label=step.node.op.name,
        bindings=bindings,
        writes=0b1100 if raises else 0b100,
        params=tuple(params.words),
        param_space=space,
        groups=-(-prod(shape) // (WORKGROUP * lanes)),
        cost=WORKGROUP * lanes * 16,
        fault_at=params.names.index("fault: u32") if raises else None,
    )
    return Program((launch,))


def _text(step: Step, params: Params, space: ParamSpace, *, raises: bool) -> str:
    dtype = step.node.dtype
    fault = _FAULT if raises else []
    if step.base is not None:
        guard = ["if (!inside) { return; }"] if raises else []
        lines = [
            f"let i = group * {WORKGROUP}u + lid;",
            "if (i >= p.n) { return; }",
            *_FIND,
            *fault,
            *guard,
            "out[(r * p.size + found) * p.post + q] = data[p.at_data + i];",
        ]
    else:
        place = "(p.at_data + (r * p.size + found) * p.post + q)"
        value = types.load("data", place, dtype)
        if raises:
            value = f"select({types.zero(dtype)}, {value}, inside)"
        lines = each_element(dtype, WORKGROUP, "p.n", "i", [*_FIND, *fault], value)
    buffers = [
        ("data", types.storage(dtype), False),
        ("indices", "i32", False),
        ("out", types.storage(dtype), True),
        *([("faults", "atomic<u32>", True)] if raises else []),
    ]
    return shader(
        space=space,
        params=params,
        buffers=buffers,
        body="".join(f"  {line}\n" for line in lines),
        workgroup=WORKGROUP,
    )
