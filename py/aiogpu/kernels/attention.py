"""Scaled dot-product attention that never holds the matrix of scores.

The running maximum and sum of the online softmax (Milakov and Gimelshein, Online normalizer
calculation for softmax, 2018) go over the keys four at a time. On a GPU a workgroup takes `QUERIES`
queries; each has `SPLITS` invocations, which share the keys out and meet at the end, and keys and
values pass through workgroup memory (as in Dao et al., FlashAttention, 2022). On a software
adapter, where barriers cost 30 to 40 times, one invocation has a query to itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from aiogpu.dtypes import FLOAT, word
from aiogpu.kernels import types
from aiogpu.kernels.fused import Fused
from aiogpu.kernels.writer import Params, TextCache, indent, launch, shader
from aiogpu.program import Program

if TYPE_CHECKING:
    from aiogpu.limits import Limits
    from aiogpu.program import ParamSpace
    from aiogpu.schedule.step import Step

QUERIES: Final = 64
SPLITS: Final = 4
KEYS: Final = 4  # between two looks at the running maximum


class Shape(NamedTuple):
    """What the text depends on.

    Attributes:
        width: Of a head.
        has_mask: Whether something is added to the scores.
        splits: Invocations of a query.
        tile: Keys in workgroup memory; 0 where they are read as they lie.
    """

    width: int
    has_mask: bool
    splits: int
    tile: int

    @property
    def vectors(self) -> int:
        """Vectors of four in a head's width."""
        return -(-self.width // 4)


def render(step: Step, limits: Limits, cache: TextCache) -> Program:
    """The program of an attention of q, k, v and perhaps a mask, dense from their offsets."""
    core = step.core
    attrs = core.attrs
    assert attrs is not None
    batch, heads, queries, width = core.shape
    keys = attrs["keys"]
    how = _shape(width, len(step.views) == 4, limits)
    fours = [width % 4 == 0 and view.offset % 4 == 0 for view in step.views[:3]]
    fused = Fused(step, limits, is_scattered=True, fours=fours)
    params = Params()
    for name, value in (
        ("pairs", batch * heads), ("heads", heads), ("queries", queries), ("keys", keys),
        ("causal", int(attrs["causal"])),
    ):  # fmt: skip
        params.add(name, value)
    params.add("scale", word(attrs["scale"], FLOAT), "f32")
    for at, view in enumerate(step.views):
        params.add(f"at{at}", view.offset)
    if how.has_mask:
        mask = step.views[3]
        params.add("mask_batch", mask.strides[0])
        params.add("mask_head", mask.strides[1])
    fused.add_params(params)
    space = params.space(limits, is_hot=True)
    key = ("attention", space, how, core.dtype, fused.key)
    wgsl = cache.get(key) or cache.put(key, _text(step, fused, how, params, space))
    bindings = (*fused.slots, len(step.inputs))
    cost = min(queries, QUERIES) * keys * (4 * width + 40 + fused.ninstrs)
    groups = batch * heads * -(-queries // QUERIES)
    return Program((launch(wgsl, "attention", params, space, bindings, groups, cost),))


def _shape(width: int, has_mask: bool, limits: Limits) -> Shape:
    if not limits.is_fallback:
        for tile in (32, 16, 8):
            nbytes = 16 * (2 * tile * -(-width // 4) + QUERIES * SPLITS) + 8 * QUERIES * SPLITS
            if nbytes <= limits.max_shared_nbytes:
                return Shape(width, has_mask, SPLITS, tile)
    return Shape(width, has_mask, 1, 0)


def _text(step: Step, fused: Fused, how: Shape, params: Params, space: ParamSpace) -> str:
    each = range(how.vectors)
    is_shared = how.tile > 0
    lines = [
        f"let blocks = (p.queries + {QUERIES - 1}u) / {QUERIES}u;",
        "let pair = group / blocks;",
        "if (pair >= p.pairs) { return; }",
        f"let first = group % blocks * {QUERIES}u;",
        f"let query = first + lid % {QUERIES}u;",
        f"let split = lid / {QUERIES}u;",
        "let inside = query < p.queries;",
        *([] if is_shared else ["if (!inside) { return; }"]),
        "let row = pair * p.queries + min(query, p.queries - 1u);",
        f"let k0 = p.at1 + pair * p.keys * {how.width}u;",
        f"let v0 = p.at2 + pair * p.keys * {how.width}u;",
        *(f"let x{d} = q4(p.at0 + row * {how.width}u, {d}u) * p.scale;" for d in each),
        *(f"var acc{d} = vec4f();" for d in each),
        "var most = -ag_inf();",
        "var total = 0.0;",
        # Query i sees the keys up to i + keys - queries: aligned at the bottom right.
        "let last = seen(query);",
        *(["let mask0 = p.at3 + pair / p.heads * p.mask_batch + pair % p.heads * p.mask_head"
           " + query * p.keys;"] if how.has_mask else []),
    ]  # fmt: skip
    if is_shared:
        lines += _tiles(how)
        lines += _meet(how)
    else:
        lines += _walk(how, "0u", "last", "p.keys", "k4(k0 + {key} * {width}u, {d}u)",
                       "v4(v0 + {key} * {width}u, {d}u)")  # fmt: skip
    lines += [
        "if (inside && split == 0u) {",
        *(f"  {line}" for line in _store(step, fused, how)),
        "}",
    ]
    return shader(
        space=space,
        params=params,
        buffers=fused.buffers(),
        declarations=_declarations(fused, how) + fused.functions(),
        body=indent(lines),
        workgroup=QUERIES * how.splits,
    )


def _declarations(fused: Fused, how: Shape) -> str:
    texts = []
    for at, name in enumerate("qkv"):
        if fused.fours(at):
            result = fused.load_four(at, "(at / 4u + d)")
        else:
            texts.append(fused.reader(at, name))
            parts = (
                f"select(0.0, {name}(at + 4u * d + {i}u), 4u * d + {i}u < {how.width}u)"
                for i in range(4)
            )
            result = f"vec4f({', '.join(parts)})"
        texts.append(f"fn {name}4(at: u32, d: u32) -> vec4f {{ return {result}; }}\n")
    if how.has_mask:
        texts.append(fused.reader(3, "mask"))
    texts.append(
        "fn seen(query: u32) -> u32 {\n"
        "  let end = i32(query) + i32(p.keys) - i32(p.queries) + 1;\n"
        "  return select(p.keys, u32(clamp(end, 0, i32(p.keys))), p.causal != 0u);\n"
        "}\n"
    )
    if how.tile:
        threads = QUERIES * how.splits
        texts.append(
            f"var<workgroup> tile_k: array<vec4f, {how.tile * how.vectors}>;\n"
            f"var<workgroup> tile_v: array<vec4f, {how.tile * how.vectors}>;\n"
            f"var<workgroup> parts: array<vec4f, {threads}>;\n"
            f"var<workgroup> all_most: array<f32, {threads}>;\n"
            f"var<workgroup> all_total: array<f32, {threads}>;\n"
        )
    return "".join(texts)


def _walk(how: Shape, start: str, end: str, limit: str, key_at: str, value_at: str) -> list[str]:
    """Statements that go over the keys from ``start`` to ``end``, some at a time.

    ``key_at`` and ``value_at`` are templates of a vector of a key and of its value; what is past
    ``limit`` is not looked at.
    """
    lines = [f"for (var j = {start}; j < {end}; j += {KEYS}u) {{"]
    for n in range(KEYS):
        key = f"min(j + {n}u, {limit} - 1u)"
        terms = [
            f"dot(x{d}, {key_at.format(key=f'key{n}', width=how.width, d=d)})"
            for d in range(how.vectors)
        ]
        lines += [f"  let key{n} = {key};", f"  var score{n} = {terms[0]};"]
        lines += [f"  score{n} += {term};" for term in terms[1:]]
        if how.has_mask:
            lines.append(f"  score{n} += mask(mask0 + {'base + ' if how.tile else ''}key{n});")
        lines.append(f"  if (j + {n}u >= {end}) {{ score{n} = -ag_inf(); }}")
    best = "most"
    for n in range(KEYS):
        best = f"ag_max_f32({best}, score{n})"
    lines += [
        f"  let next = {best};",
        "  if (bitcast<u32>(next) != 0xff800000u) {",  # else only masked keys so far
        "    let keep = ag_exp(most - next);",
        *(f"    let weight{n} = ag_exp(score{n} - next);" for n in range(KEYS)),
        f"    total = total * keep + {' + '.join(f'weight{n}' for n in range(KEYS))};",
    ]
    for d in range(how.vectors):
        sums = " + ".join(
            f"weight{n} * {value_at.format(key=f'key{n}', width=how.width, d=d)}"
            for n in range(KEYS)
        )
        lines.append(f"    acc{d} = acc{d} * keep + {sums};")
    return [*lines, "    most = next;", "  }", "}"]


def _tiles(how: Shape) -> list[str]:
    """Statements that bring keys and values to workgroup memory, tile by tile, and use them."""
    threads, count = QUERIES * how.splits, how.tile * how.vectors
    share = how.tile // how.splits  # keys of one tile for one invocation
    place = f"min(base + s / {how.vectors}u, p.keys - 1u) * {how.width}u"
    walk = _walk(
        how, f"split * {share}u", "stop", f"{how.tile}u",
        f"tile_k[{{key}} * {how.vectors}u + {{d}}u]", f"tile_v[{{key}} * {how.vectors}u + {{d}}u]",
    )  # fmt: skip
    return [
        # The last query of the workgroup sees the most keys.
        f"let ends = seen(min(first + {QUERIES - 1}u, p.queries - 1u));",
        f"for (var base = 0u; base < ends; base += {how.tile}u) {{",
        f"  for (var s = lid; s < {count}u; s += {threads}u) {{",
        f"    tile_k[s] = k4(k0 + {place}, s % {how.vectors}u);",
        f"    tile_v[s] = v4(v0 + {place}, s % {how.vectors}u);",
        "  }",
        "  workgroupBarrier();",
        f"  let stop = min(max(last, base) - base, (split + 1u) * {share}u);",
        *(f"  {line}" for line in walk),
        "  workgroupBarrier();",
        "}",
    ]


def _meet(how: Shape) -> list[str]:
    """Statements that put together what the invocations of a query found."""
    others = [f"lid % {QUERIES}u + {n * QUERIES}u" for n in range(how.splits)]
    best = f"all_most[{others[0]}]"
    for other in others[1:]:
        best = f"ag_max_f32({best}, all_most[{other}])"
    lines = [
        "all_most[lid] = most;",
        "workgroupBarrier();",
        f"let best = {best};",
        "var part = ag_exp(most - best);",
        "if (bitcast<u32>(most) == 0xff800000u) { part = 0.0; }",
        "all_total[lid] = total * part;",
        "workgroupBarrier();",
        f"total = {' + '.join(f'all_total[{other}]' for other in others)};",
    ]
    for d in range(how.vectors):
        lines += [
            f"parts[lid] = acc{d} * part;",
            "workgroupBarrier();",
            f"acc{d} = {' + '.join(f'parts[{other}]' for other in others)};",
            "workgroupBarrier();",
        ]
    return lines


def _store(step: Step, fused: Fused, how: Shape) -> list[str]:
    """Statements that store a query's row; one that is wholly masked is zeros."""
    return [
        f"var result: array<vec4f, {how.vectors}>;",
        *(f"result[{d}] = acc{d};" for d in range(how.vectors)),
        f"for (var d = 0u; d < {how.width}u; d++) {{",
        f"  let e = row * {how.width}u + d;",
        "  let quotient = select(ag_div_f32(result[d / 4u][d % 4u], total), 0.0, total == 0.0);",
        f"  let value = {types.narrow('quotient', step.core.dtype)};",
        *(f"  {line}" for line in fused.store("e", "value")),
        "}",
    ]
