"""The value after ``x[region] = v``: a new array, computed in one launch."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from aiogpu.kernels import types
from aiogpu.kernels.writer import Params, TextCache, each_element, shader
from aiogpu.program import Launch, Program

if TYPE_CHECKING:
    from aiogpu.limits import Limits
    from aiogpu.schedule.step import Step

WORKGROUP = 128


def render(step: Step, limits: Limits, cache: TextCache) -> Program:
    """The program of an update: inputs are the old array and the new values, as views."""
    assert step.node.attrs is not None
    base, value = step.views
    dtype = step.node.dtype
    params = Params()
    params.add("n", prod(step.space))
    params.add("base_at", base.offset)
    params.add("value_at", value.offset)
    for axis, (size, (start, stride, count)) in enumerate(
        zip(step.space, step.node.attrs["region"], strict=True)
    ):
        for name, word in (
            ("size", size), ("start", start), ("step", stride), ("count", count),
            ("base", base.strides[axis]), ("value", value.strides[axis]),
        ):  # fmt: skip
            params.add(f"{name}{axis}", word)
    space = params.space(limits)
    key = ("update", space, dtype.name, len(step.space))
    wgsl = cache.get(key)
    if wgsl is None:
        statements, result = _body(step)
        wgsl = cache.put(
            key,
            shader(
                space=space,
                params=params,
                buffers=[
                    (name, types.storage(dtype), name == "out") for name in ("old", "fresh", "out")
                ],
                body="".join(
                    f"  {s}\n"
                    for s in each_element(dtype, WORKGROUP, "p.n", "i", statements, result)
                ),
                workgroup=WORKGROUP,
            ),
        )
    launch = Launch(
        wgsl=wgsl,
        label="setitem",
        bindings=(*step.slots, len(step.inputs)),
        writes=0b100,
        params=tuple(params.words),
        param_space=space,
        groups=-(-prod(step.space) // (WORKGROUP * dtype.lanes)),
        cost=WORKGROUP * dtype.lanes * 8 * (1 + len(step.space)),
    )
    return Program((launch,))


def _body(step: Step) -> tuple[list[str], str]:
    dtype = step.node.dtype
    lines = [
        "var rest = i;",
        "var from_old = p.base_at;",
        "var from_new = p.value_at;",
        "var inside = true;",
    ]
    for axis in range(len(step.space) - 1, -1, -1):
        lines += [
            f"let c{axis} = rest % p.size{axis};",
            f"rest /= p.size{axis};",
            f"from_old += c{axis} * p.base{axis};",
            f"let d{axis} = c{axis} - p.start{axis};",  # wraps where it is below the start
            f"inside = inside && d{axis} % p.step{axis} == 0u "
            f"&& d{axis} / p.step{axis} < p.count{axis} "
            f"&& c{axis} >= p.start{axis};",
            f"from_new += d{axis} / p.step{axis} * p.value{axis};",
        ]
    old, fresh = types.load("old", "from_old", dtype), types.load("fresh", "from_new", dtype)
    lines += [f"var result = {old};", f"if (inside) {{ result = {fresh}; }}"]
    return lines, "result"
