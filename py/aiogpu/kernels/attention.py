"""Scaled dot-product attention that never holds the matrix of scores.

One invocation computes one query's row, with the running maximum and sum of the online softmax
(Milakov and Gimelshein, Online normalizer calculation for softmax, 2018).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aiogpu.dtypes import FLOAT, word
from aiogpu.kernels import types
from aiogpu.kernels.fused import Fused
from aiogpu.kernels.writer import Params, TextCache, indent, launch, shader
from aiogpu.program import Program

if TYPE_CHECKING:
    from aiogpu.limits import Limits
    from aiogpu.program import ParamSpace
    from aiogpu.schedule.step import Step

WORKGROUP: Final = 64


def render(step: Step, limits: Limits, cache: TextCache) -> Program:
    """The program of an attention of q, k, v and perhaps a mask, dense from their offsets."""
    core = step.core
    attrs = core.attrs
    assert attrs is not None
    batch, heads, queries, width = core.shape
    keys = attrs["keys"]
    has_mask = len(step.views) == 4
    fused = Fused(step, limits, is_scattered=True)
    rows = batch * heads * queries
    params = Params()
    for name, value in (
        ("rows", rows), ("heads", heads), ("queries", queries), ("keys", keys),
        ("causal", int(attrs["causal"])),
    ):  # fmt: skip
        params.add(name, value)
    params.add("scale", word(attrs["scale"], FLOAT), "f32")
    for at, view in enumerate(step.views):
        params.add(f"at{at}", view.offset)
    if has_mask:
        mask = step.views[3]
        params.add("mask_batch", mask.strides[0])
        params.add("mask_head", mask.strides[1])
    fused.add_params(params)
    space = params.space(limits)
    key = ("attention", space, width, has_mask, core.dtype, fused.key)
    wgsl = cache.get(key)
    if wgsl is None:
        wgsl = cache.put(key, _text(step, fused, params, space, has_mask=has_mask))
    bindings = (*fused.slots, len(step.inputs))
    cost = WORKGROUP * keys * (4 * width + 40 + fused.ninstrs)
    groups = -(-rows // WORKGROUP)
    return Program((launch(wgsl, "attention", params, space, bindings, groups, cost),))


def _text(step: Step, fused: Fused, params: Params, space: ParamSpace, *, has_mask: bool) -> str:
    width = step.core.shape[-1]
    readers = [fused.reader(at, name) for at, name in enumerate(("q", "k", "v"))]
    if has_mask:
        readers.append(fused.reader(3, "mask"))
    result = types.narrow("select(acc[d] / total, 0.0, total == 0.0)", step.core.dtype)
    add_mask = [
        "  score += mask(p.at3 + b * p.mask_batch + h * p.mask_head + query * p.keys + j);",
    ]
    lines = [
        f"let row = group * {WORKGROUP}u + lid;",
        "if (row >= p.rows) { return; }",
        "let query = row % p.queries;",
        "let pair = row / p.queries;",
        "let b = pair / p.heads;",
        "let h = pair % p.heads;",
        f"let q0 = p.at0 + row * {width}u;",
        f"let k0 = p.at1 + pair * p.keys * {width}u;",
        f"let v0 = p.at2 + pair * p.keys * {width}u;",
        f"var mine: array<f32, {width}>;",
        f"var acc: array<f32, {width}>;",
        f"for (var d = 0u; d < {width}u; d++) {{ mine[d] = q(q0 + d) * p.scale; acc[d] = 0.0; }}",
        # Query i sees the keys up to i + keys - queries: aligned at the bottom right.
        "var last = p.keys;",
        "if (p.causal != 0u) {",
        "  last = u32(clamp(i32(query) + i32(p.keys) - i32(p.queries) + 1, 0, i32(p.keys)));",
        "}",
        "var most = -ag_inf();",
        "var total = 0.0;",
        "for (var j = 0u; j < last; j++) {",
        "  var score = 0.0;",
        f"  for (var d = 0u; d < {width}u; d++) {{ score += mine[d] * k(k0 + j * {width}u + d); }}",
        *(add_mask if has_mask else []),
        "  let next = ag_max_f32(most, score);",
        "  if (bitcast<u32>(next) == 0xff800000u) { continue; }",  # only masked keys so far
        "  let keep = ag_exp(most - next);",
        "  let weight = ag_exp(score - next);",
        "  total = total * keep + weight;",
        f"  for (var d = 0u; d < {width}u; d++) {{",
        f"    acc[d] = acc[d] * keep + weight * v(v0 + j * {width}u + d);",
        "  }",
        "  most = next;",
        "}",
        f"for (var d = 0u; d < {width}u; d++) {{",
        # A row that is wholly masked is zeros.
        f"  let e = row * {width}u + d;",
        f"  let value = {result};",
        *(f"  {line}" for line in fused.store("e", "value")),
        "}",
    ]
    return shader(
        space=space,
        params=params,
        buffers=fused.buffers(),
        declarations="".join(readers) + fused.functions(),
        body=indent(lines),
        workgroup=WORKGROUP,
    )
