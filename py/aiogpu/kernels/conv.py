"""Two-dimensional convolutions, forward and backward; NCHW data, KCRS filters.

A forward convolution of several channels is a matrix product of the filters with the windows, which
are read where they lie, as elements of a matrix that is never made (implicit GEMM: Chetlur et al.,
cuDNN: Efficient primitives for deep learning, 2014). For the rest, one invocation computes one
element of the result: an output, an input gradient or a filter gradient.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from aiogpu.kernels import matmul, types
from aiogpu.kernels.fused import Fused
from aiogpu.kernels.writer import Params, TextCache, indent, launch, shader
from aiogpu.program import Program
from aiogpu.shapes import View

if TYPE_CHECKING:
    from aiogpu.limits import Limits
    from aiogpu.schedule.step import Step

WORKGROUP: Final = 64

_OUTPUT: Final = [
    "let ox = i % p.ow;",
    "let oy = i / p.ow % p.oh;",
    "let ko = i / (p.ow * p.oh) % p.k;",
    "let b = i / (p.ow * p.oh * p.k);",
    "let c0 = ko / p.kpg * p.cpg;",
    "var acc = 0.0;",
    "for (var c = 0u; c < p.cpg; c++) {",
    "  let x0 = p.at0 + (b * p.c + c0 + c) * p.h * p.w;",
    "  let f0 = p.at1 + (ko * p.cpg + c) * p.r * p.s;",
    "  for (var y = 0u; y < p.r; y++) {",
    # Unsigned: a place before the first row wraps far behind the last.
    "    let iy = oy * p.stride_h + y * p.dilation_h - p.pad_h;",
    "    if (iy >= p.h) { continue; }",
    "    for (var x = 0u; x < p.s; x++) {",
    "      let ix = ox * p.stride_w + x * p.dilation_w - p.pad_w;",
    "      if (ix >= p.w) { continue; }",
    "      acc += first(x0 + iy * p.w + ix) * second(f0 + y * p.s + x);",
    "    }",
    "  }",
    "}",
]
_DATA: Final = [
    "let ix = i % p.w;",
    "let iy = i / p.w % p.h;",
    "let ci = i / (p.w * p.h) % p.c;",
    "let b = i / (p.w * p.h * p.c);",
    "let k0 = ci / p.cpg * p.kpg;",
    "let c = ci % p.cpg;",
    "var acc = 0.0;",
    "for (var k = k0; k < k0 + p.kpg; k++) {",
    "  let g0 = p.at0 + (b * p.k + k) * p.oh * p.ow;",
    "  let f0 = p.at1 + (k * p.cpg + c) * p.r * p.s;",
    "  for (var y = 0u; y < p.r; y++) {",
    "    let ty = iy + p.pad_h - y * p.dilation_h;",
    "    if (ty % p.stride_h != 0u || ty / p.stride_h >= p.oh || ty > 0x7fffffffu) { continue; }",
    "    for (var x = 0u; x < p.s; x++) {",
    "      let tx = ix + p.pad_w - x * p.dilation_w;",
    "      if (tx % p.stride_w != 0u || tx / p.stride_w >= p.ow || tx > 0x7fffffffu) { continue; }",
    "      acc += first(g0 + ty / p.stride_h * p.ow + tx / p.stride_w) * second(f0 + y * p.s + x);",
    "    }",
    "  }",
    "}",
]
_FILTER: Final = [
    "let x = i % p.s;",
    "let y = i / p.s % p.r;",
    "let c = i / (p.s * p.r) % p.cpg;",
    "let k = i / (p.s * p.r * p.cpg);",
    "let ci = k / p.kpg * p.cpg + c;",
    "var acc = 0.0;",
    "for (var b = 0u; b < p.batch; b++) {",
    "  let x0 = p.at0 + (b * p.c + ci) * p.h * p.w;",
    "  let g0 = p.at1 + (b * p.k + k) * p.oh * p.ow;",
    "  for (var oy = 0u; oy < p.oh; oy++) {",
    "    let iy = oy * p.stride_h + y * p.dilation_h - p.pad_h;",
    "    if (iy >= p.h) { continue; }",
    "    for (var ox = 0u; ox < p.ow; ox++) {",
    "      let ix = ox * p.stride_w + x * p.dilation_w - p.pad_w;",
    "      if (ix >= p.w) { continue; }",
    "      acc += first(x0 + iy * p.w + ix) * second(g0 + oy * p.ow + ox);",
    "    }",
    "  }",
    "}",
]
# Four windows' elements under place k of the filter: channel, row and column of it.
_WINDOW: Final = """\
fn right(b0: u32, k: u32, n: u32) -> vec4f {
  let x = k % p.s;
  let y = k / p.s % p.r;
  let plane = b0 + k / (p.s * p.r) * p.h * p.w;
  var found = vec4f();
  for (var q = 0u; q < 4u; q++) {
    let at = n + q;
    // Unsigned: a place before the first row wraps far behind the last.
    let iy = at / p.ow * p.stride_h + y * p.dilation_h - p.pad_h;
    let ix = at % p.ow * p.stride_w + x * p.dilation_w - p.pad_w;
    if (iy < p.h && ix < p.w) { found[q] = b(plane + iy * p.w + ix); }
  }
  return found;
}
"""
FEW: Final = 8  # filters of a group, under which a product's blocks would be empty
_BODIES: Final = {"conv2d": _OUTPUT, "conv2d_data": _DATA, "conv2d_filter": _FILTER}


def render(step: Step, limits: Limits, cache: TextCache) -> Program:
    """The program of a convolution; its two operands lie densely from their offsets."""
    core = step.core
    assert core.attrs is not None
    sizes: dict[str, int] = core.attrs["sizes"]
    name = core.op.name
    if name == "conv2d" and sizes["kpg"] >= FEW:
        return matmul.render_product(step, _product(step, sizes), limits, cache)
    fused = Fused(step, limits)
    params = Params()
    params.add("n", prod(core.shape))
    for at, view in enumerate(step.views):
        params.add(f"at{at}", view.offset)
    for key, value in sizes.items():
        params.add(key, value)
    fused.add_params(params)
    space = params.space(limits, is_hot=True)
    text = (name, space, core.dtype, fused.key)
    wgsl = cache.get(text)
    if wgsl is None:
        result = f"let result = {types.narrow('acc', core.dtype)};"
        lines = fused.each(WORKGROUP, "p.n", [*_BODIES[name], result], "result")
        readers = fused.reader(0, "first") + fused.reader(1, "second")
        wgsl = cache.put(
            text,
            shader(
                space=space,
                params=params,
                buffers=fused.buffers(),
                declarations=readers + fused.functions(),
                body=indent(lines),
                workgroup=WORKGROUP,
            ),
        )
    bindings = (*fused.slots, len(step.inputs))
    groups = -(-prod(core.shape) // (WORKGROUP * fused.lanes))
    cost = WORKGROUP * fused.lanes * (4 * _terms(name, sizes) + fused.ninstrs)
    return Program((launch(wgsl, name, params, space, bindings, groups, cost),))


def _product(step: Step, sizes: dict[str, int]) -> matmul.Product:
    """A forward convolution as a product of filters with windows, for each image and group."""
    image, filters = step.views
    groups = sizes["c"] // sizes["cpg"]
    inner = sizes["cpg"] * sizes["r"] * sizes["s"]
    plane = sizes["h"] * sizes["w"]
    walks = ((sizes["batch"], 0, sizes["c"] * plane), (groups, sizes["kpg"] * inner,
            sizes["cpg"] * plane))  # fmt: skip
    axes = [axis for axis in walks if axis[0] != 1]
    rows = View((sizes["k"], inner), (inner, 1), filters.offset)
    names = (
        "h", "w", "r", "s", "ow", "stride_h", "stride_w", "pad_h", "pad_w", "dilation_h",
        "dilation_w",
    )  # fmt: skip
    return matmul.Product(
        "conv2d",
        (sizes["batch"] * groups, sizes["kpg"], sizes["oh"] * sizes["ow"], inner),
        tuple(axis[0] for axis in axes),
        (tuple(axis[1] for axis in axes), tuple(axis[2] for axis in axes)),
        (filters.offset, inner, 1),
        (image.offset, 0, 0),
        (False, matmul.in_fours(rows)),
        (1, 0),
        _WINDOW,
        tuple((name, sizes[name]) for name in names),
    )


def _terms(name: str, sizes: dict[str, int]) -> int:
    """Products that one element of the result sums."""
    if name == "conv2d_filter":
        return sizes["batch"] * sizes["oh"] * sizes["ow"]
    return sizes["cpg" if name == "conv2d" else "kpg"] * sizes["r"] * sizes["s"]
