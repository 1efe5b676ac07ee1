"""The frame that all our shaders share: parameters, bindings, the linear grid."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aiogpu.kernels import numerics, types

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiogpu.dtypes import DType
    from aiogpu.limits import Limits
    from aiogpu.program import ParamSpace

_NUMERIC = re.compile(r"\bag_\w+")


class Params:
    """A parameter block being laid out: names and types for the text, words for the launch.

    Sizes and scalars travel here and are never baked into a shader's text, so one pipeline serves
    all sizes. The first word is ``grid_offset`` (see `aiogpu.program`).
    """

    __slots__ = ("names", "words")

    def __init__(self) -> None:
        self.names: list[str] = ["grid_offset: u32"]
        self.words: list[int] = [0]

    def add(self, name: str, word: int, wgsl_type: str = "u32") -> str:
        """Append one word; its name in the text."""
        self.names.append(f"{name}: {wgsl_type}")
        self.words.append(word & 0xFFFFFFFF)
        return f"p.{name}"

    def ensure_zero(self) -> None:
        """Append the word ``zero``, if it is not there: 0, which no compiler can know."""
        if "zero: u32" not in self.names:
            self.add("zero", 0)

    def space(self, limits: Limits) -> ParamSpace:
        """Where the block travels: immediate data is cheapest, a uniform buffer holds more."""
        return "immediate" if 4 * len(self.words) <= limits.immediate_nbytes else "uniform"


def shader(
    *,
    space: ParamSpace,
    params: Params,
    buffers: Sequence[tuple[str, str, bool]],
    body: str,
    workgroup: int,
    declarations: str = "",
) -> str:
    """A whole shader.

    Args:
        space: Where the parameters travel.
        params: The parameter block.
        buffers: Name, WGSL element type, and whether it is written, in binding order.
        body: Statements of ``main``. They see ``group`` (the number of this workgroup), ``lid``
            (the invocation's number in it) and ``p`` (the parameters).
        workgroup: Invocations of a workgroup.
        declarations: Module-scope text before ``main``.
    """
    fields = ", ".join(params.names)
    block = (
        "requires immediate_address_space;\n" if space == "immediate" else "",
        f"struct Params {{ {fields} }}\n",
        "var<immediate> p: Params;\n"
        if space == "immediate"
        else "@group(1) @binding(0) var<uniform> p: Params;\n",
    )
    bindings = "".join(
        f"@group(0) @binding({at}) "
        f"var<storage, {'read_write' if written else 'read'}> {name}: array<{kind}>;\n"
        for at, (name, kind, written) in enumerate(buffers)
    )
    functions = numerics.sources(sorted(set(_NUMERIC.findall(body + declarations))))
    return (
        f"{''.join(block)}{bindings}{functions}{declarations}"
        f"@compute @workgroup_size({workgroup})\n"
        "fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u,\n"
        "        @builtin(local_invocation_index) lid: u32) {\n"
        "  let group = p.grid_offset + wid.y * nwg.x + wid.x;\n"
        f"{body}}}\n"
    )


def each_element(
    dtype: DType, workgroup: int, count: str, index: str, statements: Sequence[str], result: str
) -> list[str]:
    """Statements that store ``result`` in ``out`` for every element ``index`` below ``count``.

    An invocation computes one element, or all elements of one word where several share it: no
    shader writes a byte.
    """
    at = f"let at = group * {workgroup}u + lid;"
    if not dtype.is_packed:
        return [
            at,
            f"let {index} = at;",
            f"if ({index} >= {count}) {{ return; }}",
            *statements,
            f"out[{index}] = {result};",
        ]
    return [
        at,
        f"if (at >= ({count} + {dtype.lanes - 1}u) / {dtype.lanes}u) {{ return; }}",
        "var packed = 0u;",
        f"for (var lane = 0u; lane < {dtype.lanes}u; lane++) {{",
        f"  let {index} = at * {dtype.lanes}u + lane;",
        f"  if ({index} >= {count}) {{ break; }}",
        *(f"  {line}" for line in statements),
        f"  packed |= {types.pack(result, dtype)} << (lane * {8 * dtype.itemsize}u);",
        "}",
        "out[at] = packed;",
    ]


class TextCache:
    """Shader texts by what they depend on, so that a warm render costs a lookup."""

    def __init__(self) -> None:
        self._texts: dict[object, str] = {}

    def get(self, key: object) -> str | None:
        """The text under ``key``, or None."""
        return self._texts.get(key)

    def put(self, key: object, text: str) -> str:
        """Keep and return ``text``."""
        self._texts[key] = text
        return text
