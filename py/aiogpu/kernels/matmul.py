"""Matrix products, batched, of operands with any strides.

Two kernels: ``tiled`` stages 64x64 tiles through workgroup memory; ``direct`` has no barrier, for
software adapters, where barriers cost 30 to 40 times. Every invocation computes a 4x4 block.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

from aiogpu import shapes
from aiogpu.kernels import types
from aiogpu.kernels.fused import Fused
from aiogpu.kernels.writer import Params, TextCache, indent, launch, shader
from aiogpu.program import Program
from aiogpu.shapes import contiguous_strides

if TYPE_CHECKING:
    from aiogpu.limits import Limits
    from aiogpu.program import ParamSpace
    from aiogpu.schedule.step import Step

BLOCK = 4  # rows and columns of one invocation


class _Kernel(NamedTuple):
    name: str
    rows: int  # of C in one workgroup
    columns: int
    workgroup: int


_DIRECT = _Kernel("direct", 32, 32, 64)
_TILED = _Kernel("tiled", 64, 64, 256)
_DEPTH = 16  # of a tile in workgroup memory


def _kernel(limits: Limits) -> _Kernel:
    return _DIRECT if limits.is_fallback else _TILED


def tile_for(limits: Limits) -> tuple[int, int, int]:
    """Rows, columns and depth of the tile that one workgroup computes at a time."""
    kernel = _kernel(limits)
    return kernel.rows, kernel.columns, _DEPTH if kernel is _TILED else 1


def render(step: Step, limits: Limits, cache: TextCache) -> Program:
    """The program of a matrix product."""
    kernel = _kernel(limits)
    left, right = step.views
    core = step.core
    *batch, m, n = core.shape
    k = left.shape[-1]
    left = left.broadcast_to((*batch, m, k), "matmul")
    right = right.broadcast_to((*batch, k, n), "matmul")
    dense = contiguous_strides((*batch, 1))[:-1]
    sizes, walks = shapes.coalesce(tuple(batch), [dense, left.strides[:-2], right.strides[:-2]])
    params = Params()
    for name, word in (
        ("m", m), ("n", n), ("k", k), ("batches", prod(batch)),
        ("a_at", left.offset), ("a_row", left.strides[-2]), ("a_col", left.strides[-1]),
        ("b_at", right.offset), ("b_row", right.strides[-2]), ("b_col", right.strides[-1]),
    ):  # fmt: skip
        params.add(name, word)
    for axis, size in enumerate(sizes):
        params.add(f"n{axis}", size)
        params.add(f"a{axis}", walks[1][axis])
        params.add(f"b{axis}", walks[2][axis])
    fused = Fused(step, limits, is_scattered=True)
    fused.add_params(params)
    space = params.space(limits)
    key = ("matmul", kernel.name, space, core.dtype, len(sizes), fused.key)
    wgsl = cache.get(key) or cache.put(key, _text(step, fused, kernel, params, space, len(sizes)))
    groups = prod(batch) * -(-m // kernel.rows) * -(-n // kernel.columns)
    bindings = (*fused.slots, len(step.inputs))
    cost = kernel.rows * kernel.columns * (2 * k + fused.ninstrs)
    return Program((launch(wgsl, "matmul", params, space, bindings, groups, cost),))


def _text(
    step: Step, fused: Fused, kernel: _Kernel, params: Params, space: ParamSpace, naxes: int
) -> str:
    dtype = step.core.dtype
    kind = dtype.compute
    lines = [
        f"let tiles_n = (p.n + {kernel.columns - 1}u) / {kernel.columns}u;",
        f"let tiles = tiles_n * ((p.m + {kernel.rows - 1}u) / {kernel.rows}u);",
        "let batch = group / tiles;",
        "if (batch >= p.batches) { return; }",
        "let tile = group % tiles;",
        f"let row0 = tile / tiles_n * {kernel.rows}u;",
        f"let col0 = tile % tiles_n * {kernel.columns}u;",
        "var a0 = p.a_at;",
        "var b0 = p.b_at;",
        "var walk = batch;",
    ]
    for axis in range(naxes - 1, -1, -1):
        lines += [
            f"a0 += (walk % p.n{axis}) * p.a{axis};",
            f"b0 += (walk % p.n{axis}) * p.b{axis};",
            f"walk /= p.n{axis};",
        ]
    lines += [f"var c{r}_{c} = {types.zero(dtype)};" for r in range(BLOCK) for c in range(BLOCK)]
    if kernel is _TILED:
        declarations, product = _tiled(kind)
        lines += product
    else:
        declarations = ""
        lines += _direct(kernel, kind)
    lines.append("let c0 = batch * p.m * p.n;")
    for r in range(BLOCK):
        for c in range(BLOCK):
            lines += [
                f"if (row + {r}u < p.m && col + {c}u < p.n) {{",
                f"  let e = c0 + (row + {r}u) * p.n + col + {c}u;",
                f"  let value = {types.narrow(f'c{r}_{c}', dtype)};",
                *(f"  {line}" for line in fused.store("e", "value")),
                "}",
            ]
    readers = fused.reader(0, "a") + fused.reader(1, "b")
    return shader(
        space=space,
        params=params,
        buffers=fused.buffers(),
        declarations=declarations + readers + fused.functions(),
        body=indent(lines),
        workgroup=kernel.workgroup,
    )


def _multiply_add(kind: str) -> list[str]:
    product = "ag_cmul(x{r}, y{c})" if kind == "vec2f" else "x{r} * y{c}"
    return [f"c{r}_{c} += {product.format(r=r, c=c)};" for r in range(BLOCK) for c in range(BLOCK)]


def _direct(kernel: _Kernel, kind: str) -> list[str]:
    across = kernel.columns // BLOCK
    last_row, last_col = "p.m - 1u", "p.n - 1u"
    return [
        f"let row = row0 + lid / {across}u * {BLOCK}u;",
        f"let col = col0 + lid % {across}u * {BLOCK}u;",
        # Rows and columns past the end repeat the last one and are not stored.
        *(f"let a_{r} = a0 + min(row + {r}u, {last_row}) * p.a_row;" for r in range(BLOCK)),
        *(f"let b_{c} = b0 + min(col + {c}u, {last_col}) * p.b_col;" for c in range(BLOCK)),
        "for (var k = 0u; k < p.k; k++) {",
        *(f"  let x{r} = a(a_{r} + k * p.a_col);" for r in range(BLOCK)),
        *(f"  let y{c} = b(b_{c} + k * p.b_row);" for c in range(BLOCK)),
        *(f"  {line}" for line in _multiply_add(kind)),
        "}",
    ]


def _tiled(kind: str) -> tuple[str, list[str]]:
    rows, columns, depth, workgroup = _TILED.rows, _TILED.columns, _DEPTH, _TILED.workgroup
    across = columns // BLOCK
    zero = f"{kind}()"
    declarations = (
        f"var<workgroup> tile_a: array<{kind}, {rows * depth}>;\n"
        f"var<workgroup> tile_b: array<{kind}, {depth * columns}>;\n"
    )
    fill_a = [
        f"for (var s = lid; s < {rows * depth}u; s += {workgroup}u) {{",
        f"  let r = row0 + s / {depth}u;",
        f"  let q = k0 + s % {depth}u;",
        # Stored by depth, so that the inner loop reads neighbours.
        "  let inside = r < p.m && q < p.k;",
        f"  tile_a[s % {depth}u * {rows}u + s / {depth}u] = "
        f"select({zero}, a(select(0u, a0 + r * p.a_row + q * p.a_col, inside)), inside);",
        "}",
    ]
    fill_b = [
        f"for (var s = lid; s < {depth * columns}u; s += {workgroup}u) {{",
        f"  let q = k0 + s / {columns}u;",
        f"  let c = col0 + s % {columns}u;",
        "  let inside = q < p.k && c < p.n;",
        f"  tile_b[s] = select({zero}, "
        "b(select(0u, b0 + q * p.b_row + c * p.b_col, inside)), inside);",
        "}",
    ]
    return declarations, [
        f"let row = row0 + lid / {across}u * {BLOCK}u;",
        f"let col = col0 + lid % {across}u * {BLOCK}u;",
        f"let ly = lid / {across}u * {BLOCK}u;",
        f"let lx = lid % {across}u * {BLOCK}u;",
        f"for (var k0 = 0u; k0 < p.k; k0 += {depth}u) {{",
        *(f"  {line}" for line in (*fill_a, *fill_b)),
        "  workgroupBarrier();",
        f"  for (var q = 0u; q < {depth}u; q++) {{",
        *(f"    let x{r} = tile_a[q * {rows}u + ly + {r}u];" for r in range(BLOCK)),
        *(f"    let y{c} = tile_b[q * {columns}u + lx + {c}u];" for c in range(BLOCK)),
        *(f"    {line}" for line in _multiply_add(kind)),
        "  }",
        "  workgroupBarrier();",
        "}",
    ]
