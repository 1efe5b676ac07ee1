"""Matrix products, batched, of operands with any strides.

Three kernels: ``tiled`` stages tiles through workgroup memory and computes a block in registers;
``direct`` does without barriers, for software adapters, where they cost 30 to 40 times; ``plain``
takes what is no vector, complex numbers, element by element. Operands that lie densely along the
axis on which they are read are loaded four elements at a time.

The block sizes are those that were fastest among some twenty on an NVIDIA H200 and on SwiftShader.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from aiogpu import shapes
from aiogpu.kernels import types
from aiogpu.kernels.fused import Fused
from aiogpu.kernels.writer import Params, TextCache, indent, launch, shader
from aiogpu.program import Program
from aiogpu.shapes import View, contiguous_strides

if TYPE_CHECKING:
    from aiogpu.dtypes import DType
    from aiogpu.limits import Limits
    from aiogpu.program import ParamSpace
    from aiogpu.schedule.step import Step


class Kernel(NamedTuple):
    """How a workgroup computes its part of the product.

    Attributes:
        kind: ``tiled``, ``direct`` or ``plain``.
        rows: Rows of the product in one workgroup.
        columns: Columns of it.
        depth: Length of the tiles in workgroup memory.
        tall: Rows of one invocation's block.
        wide: Columns of it, a multiple of 4.
        is_ahead: Whether it fetches the next tiles while it multiplies these.
        is_unrolled: Whether loops are written out: with loops, or stores by vectors, an NVIDIA
            compiler chooses registers that cost up to a third. Software adapters compile it for
            minutes.
    """

    kind: str
    rows: int
    columns: int
    depth: int
    tall: int
    wide: int
    is_ahead: bool = True
    is_unrolled: bool = True

    @property
    def across(self) -> int:
        """Invocations side by side."""
        return self.columns // self.wide

    @property
    def workgroup(self) -> int:
        """Invocations of a workgroup."""
        return self.across * (self.rows // self.tall)


HUGE: Final = Kernel("tiled", 128, 128, 16, 8, 8, is_ahead=False)
LARGE: Final = Kernel("tiled", 128, 64, 16, 8, 8)
MIDDLE: Final = Kernel("tiled", 64, 64, 16, 8, 8)
SMALL: Final = Kernel("tiled", 32, 32, 32, 4, 4)
DIRECT: Final = Kernel("direct", 64, 64, 4, 8, 8)
DIRECT_SMALL: Final = Kernel("direct", 32, 32, 4, 4, 4)
PLAIN: Final = Kernel("plain", 32, 32, 1, 4, 4)
BUSY: Final = 100  # workgroups that keep a large GPU busy


def choose(shape: tuple[int, ...], dtype: DType, limits: Limits) -> Kernel:
    """The kernel for a product of a shape, batch first."""
    *batch, m, n = shape
    if dtype.compute == "vec2f":
        return PLAIN
    if limits.is_fallback:
        return DIRECT if min(m, n) >= 48 else DIRECT_SMALL
    for kernel in (HUGE, LARGE, MIDDLE):
        busy = 2 * BUSY if kernel is HUGE else BUSY
        if prod(batch) * -(-m // kernel.rows) * -(-n // kernel.columns) >= busy:
            return kernel
    return SMALL


def tile_for(limits: Limits) -> tuple[int, int, int]:
    """Rows, columns and depth of the tile that one workgroup computes at a time."""
    kernel = DIRECT if limits.is_fallback else LARGE
    return kernel.rows, kernel.columns, kernel.depth


def render(step: Step, limits: Limits, cache: TextCache) -> Program:
    """The program of a matrix product."""
    left, right = step.views
    core = step.core
    *batch, m, n = core.shape
    k = left.shape[-1]
    left = left.broadcast_to((*batch, m, k), "matmul")
    right = right.broadcast_to((*batch, k, n), "matmul")
    dense = contiguous_strides((*batch, 1))[:-1]
    sizes, walks = shapes.coalesce(tuple(batch), [dense, left.strides[:-2], right.strides[:-2]])
    product = Product(
        "matmul", (prod(batch), m, n, k), sizes, (walks[1], walks[2]),
        (left.offset, left.strides[-2], left.strides[-1]),
        (right.offset, right.strides[-2], right.strides[-1]),
        (in_fours(left), in_fours(right)),
    )  # fmt: skip
    return render_product(step, product, limits, cache)


class Product(NamedTuple):
    """A batched product to be computed: what is multiplied, and how it lies.

    Attributes:
        label: The operation's name.
        shape: Batches, rows, columns and inner size.
        sizes: Sizes of the batch's axes.
        walks: Strides of the left and the right operand along them.
        left: Offset, stride of rows and of columns of the left operand.
        right: The same of the right one.
        fours: Which of the step's operands are read by vectors of four.
        operands: Which of the step's operands are left and right.
        text: A function ``right(b0, k, n)`` in place of the one that reads a matrix: four elements
            of row ``k`` from column ``n`` on; and the functions that it calls.
        params: Further parameters, by name.
    """

    label: str
    shape: tuple[int, int, int, int]
    sizes: tuple[int, ...]
    walks: tuple[tuple[int, ...], tuple[int, ...]]
    left: tuple[int, int, int]
    right: tuple[int, int, int]
    fours: tuple[bool, bool]
    operands: tuple[int, int] = (0, 1)
    text: str = ""
    params: tuple[tuple[str, int], ...] = ()


def render_product(step: Step, product: Product, limits: Limits, cache: TextCache) -> Program:
    """The program of a product."""
    core = step.core
    batches, m, n, k = product.shape
    kernel = choose((batches, m, n), core.dtype, limits)
    params = Params()
    for name, word in (
        ("m", m), ("n", n), ("k", k), ("batches", batches),
        ("a_at", product.left[0]), ("a_row", product.left[1]), ("a_col", product.left[2]),
        ("b_at", product.right[0]), ("b_row", product.right[1]), ("b_col", product.right[2]),
    ):  # fmt: skip
        params.add(name, word)
    for axis, size in enumerate(product.sizes):
        params.add(f"n{axis}", size)
        params.add(f"a{axis}", product.walks[0][axis])
        params.add(f"b{axis}", product.walks[1][axis])
    for name, word in product.params:
        params.add(name, word)
    fours = () if kernel.kind == "plain" else product.fours
    fused = Fused(step, limits, is_scattered=True, fours=fours)
    fused.add_params(params)
    space = params.space(limits, is_hot=True)
    is_whole = k % kernel.depth == 0
    key = (product.label, kernel, is_whole, space, core.dtype, len(product.sizes), fused.key)
    wgsl = cache.get(key) or cache.put(key, _text(step, fused, kernel, params, space, product))
    groups = batches * -(-m // kernel.rows) * -(-n // kernel.columns)
    bindings = (*fused.slots, len(step.inputs))
    cost = min(m, kernel.rows) * min(n, kernel.columns) * (2 * k + fused.ninstrs)
    return Program((launch(wgsl, product.label, params, space, bindings, groups, cost),))


def in_fours(view: View) -> bool:
    """Whether the last axis can be read by aligned vectors of four."""
    return (
        view.strides[-1] == 1
        and view.shape[-1] % 4 == 0
        and view.offset % 4 == 0
        and all(stride % 4 == 0 for stride in view.strides[:-1])
    )


def _text(
    step: Step, fused: Fused, kernel: Kernel, params: Params, space: ParamSpace, product: Product
) -> str:
    dtype = step.core.dtype
    if kernel.kind == "tiled":
        is_whole = product.shape[3] % kernel.depth == 0
        declarations, body = _tiled(kernel, dtype.compute, is_whole, is_bare=not fused.ninstrs)
    else:
        write = _direct if kernel.kind == "direct" else _plain
        declarations, body = write(kernel, dtype.compute)
    loads = _loads(fused, dtype, product) if kernel.kind != "plain" else ""
    readers = "".join(
        fused.reader(at, name)
        for at, name in zip(product.operands, "ab", strict=True)
        if not fused.fours(at)
    )
    return shader(
        space=space,
        params=params,
        buffers=fused.buffers(),
        declarations=declarations + readers + loads + fused.functions() + _put(fused, dtype),
        body=indent([*_place(kernel, len(product.sizes)), *body]),
        workgroup=kernel.workgroup,
    )


def _place(kernel: Kernel, naxes: int) -> list[str]:
    """Statements that say which part of which product a workgroup computes."""
    lines = [
        f"let tiles_n = (p.n + {kernel.columns - 1}u) / {kernel.columns}u;",
        f"let tiles = tiles_n * ((p.m + {kernel.rows - 1}u) / {kernel.rows}u);",
        "let batch = group / tiles;",
        "if (batch >= p.batches) { return; }",
        "let tile = group % tiles;",
        f"let row0 = tile / tiles_n * {kernel.rows}u;",
        f"let col0 = tile % tiles_n * {kernel.columns}u;",
        f"let tx = lid % {kernel.across}u;",
        f"let ty = lid / {kernel.across}u;",
        "let c0 = batch * p.m * p.n;",
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
    return lines


def _put(fused: Fused, dtype: DType) -> str:
    """The function that finishes and stores an element of the product, if it is inside."""
    lines = [
        "if (row >= p.m || col >= p.n) { return; }",
        "let e = c0 + row * p.n + col;",
        f"let value = {types.narrow('given', dtype)};",
        *fused.store("e", "value"),
    ]
    head = f"fn put(c0: u32, row: u32, col: u32, given: {dtype.compute})"
    return f"{head} {{\n{indent(lines)}}}\n"


def _loads(fused: Fused, dtype: DType, product: Product) -> str:
    """Functions that load four elements: of a row of the left, or of a row of the right operand.

    What is past the end of a row is 0 in the left operand, and anything in the right one, whose
    columns past the end are not stored.
    """
    four = f"vec4<{dtype.compute}>"
    first, second = product.operands
    if fused.fours(first):
        left = [f"return {fused.load_four(first, '(at + k) / 4u')};"]
        left_end = [f"return select({four}(), a4(at, min(k, p.k - 4u)), k < p.k);"]
    else:
        left = [f"return {four}({', '.join(f'a(at + (k + {q}u) * p.a_col)' for q in range(4))});"]
        left_end = [
            f"let x{q} = select({dtype.compute}(), a(at + min(k + {q}u, p.k - 1u) * p.a_col), "
            f"k + {q}u < p.k);"
            for q in range(4)
        ] + [f"return {four}(x0, x1, x2, x3);"]
    if fused.fours(second):
        right = [f"return {fused.load_four(second, '(at + min(n, p.n - 4u)) / 4u')};"]
    else:
        each = (f"b(at + min(n + {q}u, p.n - 1u) * p.b_col)" for q in range(4))
        right = [f"return {four}({', '.join(each)});"]
    return (
        f"fn a4(at: u32, k: u32) -> {four} {{\n{indent(left)}}}\n"
        f"fn a4_end(at: u32, k: u32) -> {four} {{\n{indent(left_end)}}}\n"
        + (
            product.text
            or f"fn b4(at: u32, n: u32) -> {four} {{\n{indent(right)}}}\n"
            f"fn right(b0: u32, k: u32, n: u32) -> {four} {{ return b4(b0 + k * p.b_row, n); }}\n"
        )
    )


def _sums(kernel: Kernel, kind: str) -> list[str]:
    """The block of sums, rows by vectors of four columns."""
    return [
        f"var c{i}_{j} = vec4<{kind}>();"
        for i in range(kernel.tall)
        for j in range(kernel.wide // 4)
    ]


def _multiply(kernel: Kernel, kind: str, row: int, a: str) -> list[str]:
    """Add the products of four elements ``a`` of a row with four rows ``y`` of columns."""
    lines = []
    for q, part in enumerate("xyzw"):
        for j in range(kernel.wide // 4):
            c, y = f"c{row}_{j}", f"y{q}_{j}"
            factor = f"vec4<{kind}>({a}.{part})"
            lines.append(
                f"{c} = fma({factor}, {y}, {c});" if kind == "f32" else f"{c} += {factor} * {y};"
            )
    return lines


def _puts(kernel: Kernel, kind: str, row: str, col: str) -> list[str]:
    """Store the block; ``row`` and ``col`` are templates of its rows and columns.

    By a loop, since the finish would stand there sixty-four times: SwiftShader compiles that for
    seconds.
    """
    vectors = kernel.wide // 4
    count = kernel.tall * vectors
    return [
        f"var block: array<vec4<{kind}>, {count}>;",
        *(
            f"block[{i * vectors + j}] = c{i}_{j};"
            for i in range(kernel.tall)
            for j in range(vectors)
        ),
        f"for (var at = 0u; at < {4 * count}u; at++) {{",
        f"  let row = {row.format(f'(at / {4 * vectors}u)')};",
        f"  let col = {col.format(f'(at / 4u % {vectors}u)')} + at % 4u;",
        "  put(c0, row, col, block[at / 4u][at % 4u]);",
        "}",
    ]


def _direct(kernel: Kernel, kind: str) -> tuple[str, list[str]]:
    tall, vectors = kernel.tall, kernel.wide // 4
    rows = []
    last = []
    for q in range(4):
        for j in range(vectors):
            load = f"y{q}_{j} = right(b0, k + {q}u, left + {4 * j}u);"
            rows.append(f"let {load}")
            last.append(f"var y{q}_{j} = vec4<{kind}>(); if (k + {q}u < p.k) {{ {load} }}")
    body = [
        f"let top = row0 + ty * {tall}u;",
        f"let left = col0 + tx * {kernel.wide}u;",
        # Rows past the end repeat the last one and are not stored.
        *(f"let at{i} = a0 + min(top + {i}u, p.m - 1u) * p.a_row;" for i in range(tall)),
        *_sums(kernel, kind),
        "let whole = p.k / 4u * 4u;",
        "for (var k = 0u; k < whole; k += 4u) {",
        *(f"  {row}" for row in rows),
    ]
    for i in range(tall):
        body += [
            "  {",
            f"    let x = a4(at{i}, k);",
            *(f"    {line}" for line in _multiply(kernel, kind, i, "x")),
            "  }",
        ]
    body += [
        "}",
        "if (whole < p.k) {",
        "  let k = whole;",
        *(f"  {line}" for line in last),
    ]
    for i in range(tall):
        body += [
            "  {",
            f"    let x = a4_end(at{i}, k);",
            *(f"    {line}" for line in _multiply(kernel, kind, i, "x")),
            "  }",
        ]
    return "", [*body, "}", *_puts(kernel, kind, "top + {}", "left + 4u * {}")]


def _tiled(kernel: Kernel, kind: str, is_whole: bool, *, is_bare: bool) -> tuple[str, list[str]]:
    """The text of a kernel whose tiles go through workgroup memory."""
    rows, columns, depth = kernel.rows, kernel.columns, kernel.depth
    size, across = kernel.workgroup, kernel.across
    down = size // across
    deep, wide = depth // 4, columns // 4  # of the tiles, in vectors
    four = f"vec4<{kind}>"
    declarations = (
        f"var<workgroup> tile_a: array<{four}, {rows * deep}>;\n"
        f"var<workgroup> tile_b: array<{four}, {depth * wide}>;\n"
    )
    parts_a, parts_b = rows * deep // size, depth * wide // size
    places, fetch = _fetches(kernel, four, is_whole=is_whole)
    keep = [
        *(f"tile_a[lid + {i * size}u] = ra{i};" for i in range(parts_a)),
        *(f"tile_b[lid + {i * size}u] = rb{i};" for i in range(parts_b)),
    ]
    multiply = []
    for part in (f"{q}u" for q in range(deep)) if kernel.is_unrolled else ("q",):
        multiply.append("{" if kernel.is_unrolled else f"for (var q = 0u; q < {deep}u; q++) {{")
        multiply += [
            f"  let y{q}_{j} = tile_b[({part} * 4u + {q}u) * {wide}u + tx + {j * across}u];"
            for q in range(4)
            for j in range(kernel.wide // 4)
        ]
        for i in range(kernel.tall):
            multiply += [
                "  {",
                f"    let x = tile_a[(ty + {i * down}u) * {deep}u + {part}];",
                *(f"    {line}" for line in _multiply(kernel, kind, i, "x")),
                "  }",
            ]
        multiply.append("}")
    body = [
        *_sums(kernel, kind),
        *(f"var ra{i}: {four};" for i in range(parts_a)),
        *(f"var rb{i}: {four};" for i in range(parts_b)),
        *places,
        *_loop(kernel, fetch, keep, multiply),
    ]
    row = f"row0 + ty + {down}u * {{}}"
    col = f"col0 + (tx + {across}u * {{}}) * 4u"
    if not is_bare or not kernel.is_unrolled:
        return declarations, body + _puts(kernel, kind, row, col)
    stores = [
        f"put(c0, {row.format(f'{i}u')}, {col.format(f'{j}u')} + {lane}u, c{i}_{j}[{lane}]);"
        for i in range(kernel.tall)
        for j in range(kernel.wide // 4)
        for lane in range(4)
    ]
    return declarations, body + stores


def _loop(kernel: Kernel, fetch: list[str], keep: list[str], multiply: list[str]) -> list[str]:
    """The walk along the inner axis: fetch tiles, keep them in workgroup memory, multiply."""
    if not kernel.is_ahead:
        return [
            f"for (var k0 = 0u; k0 < p.k; k0 += {kernel.depth}u) {{",
            *(f"  {line}" for line in (*fetch, *keep)),
            "  workgroupBarrier();",
            *(f"  {line}" for line in multiply),
            "  workgroupBarrier();",
            "}",
        ]
    return [
        "var k0 = 0u;",
        *fetch,
        "loop {",
        *(f"  {line}" for line in keep),
        "  workgroupBarrier();",
        f"  k0 += {kernel.depth}u;",
        "  if (k0 < p.k) {",
        *(f"    {line}" for line in fetch),
        "  }",
        *(f"  {line}" for line in multiply),
        "  if (k0 >= p.k) { break; }",
        "  workgroupBarrier();",
        "}",
    ]


def _fetches(kernel: Kernel, four: str, *, is_whole: bool) -> tuple[list[str], list[str]]:
    """What an invocation fetches of the tiles from ``k0`` on: where from, and the fetching.

    What does not depend on ``k0`` is settled before the loop; where the inner axis ends with a
    tile, nothing is asked inside of it.
    """
    size, deep, wide = kernel.workgroup, kernel.depth // 4, kernel.columns // 4
    places, fetch = [], []
    for i in range(kernel.rows * deep // size):
        at = f"(lid + {i * size}u)"
        row = f"min(row0 + {at} / {deep}u, p.m - 1u)"
        places += [
            f"let at_a{i} = a0 + {row} * p.a_row;",
            f"let k_a{i} = {at} % {deep}u * 4u;",
        ]
        fetch.append(f"ra{i} = {'a4' if is_whole else 'a4_end'}(at_a{i}, k0 + k_a{i});")
    for i in range(kernel.depth * wide // size):
        at = f"(lid + {i * size}u)"
        places += [
            f"let k_b{i} = {at} / {wide}u;",
            f"let n_b{i} = col0 + {at} % {wide}u * 4u;",
        ]
        load = f"right(b0, k0 + k_b{i}, n_b{i})"
        if not is_whole:
            load = f"right(b0, min(k0 + k_b{i}, p.k - 1u), n_b{i})"
            load = f"select({four}(), {load}, k0 + k_b{i} < p.k)"
        fetch.append(f"rb{i} = {load};")
    return places, fetch


def _plain(kernel: Kernel, kind: str) -> tuple[str, list[str]]:
    tall, wide = kernel.tall, kernel.wide
    # By parts: SwiftShader takes minutes to compile sixteen calls of `ag_cmul` in a loop. Its care
    # for what a compiler might fold is not needed here, where no operand is known to be another.
    product = (
        "vec2f(x{r}.x * y{c}.x - x{r}.y * y{c}.y, x{r}.x * y{c}.y + x{r}.y * y{c}.x)"
        if kind == "vec2f"
        else "x{r} * y{c}"
    )
    pairs = [(r, c) for r in range(tall) for c in range(wide)]
    return "", [
        f"let row = row0 + ty * {tall}u;",
        f"let col = col0 + tx * {wide}u;",
        *(f"var c{r}_{c} = {kind}();" for r, c in pairs),
        # Rows and columns past the end repeat the last one and are not stored.
        *(f"let a_{r} = a0 + min(row + {r}u, p.m - 1u) * p.a_row;" for r in range(tall)),
        *(f"let b_{c} = b0 + min(col + {c}u, p.n - 1u) * p.b_col;" for c in range(wide)),
        "for (var k = 0u; k < p.k; k++) {",
        *(f"  let x{r} = a(a_{r} + k * p.a_col);" for r in range(tall)),
        *(f"  let y{c} = b(b_{c} + k * p.b_row);" for c in range(wide)),
        *(f"  c{r}_{c} += {product.format(r=r, c=c)};" for r, c in pairs),
        "}",
        *(f"put(c0, row + {r}u, col + {c}u, c{r}_{c});" for r, c in pairs),
    ]
