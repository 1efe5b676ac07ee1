"""The frame that all our shaders share: parameters, bindings, the linear grid."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from aiogpu import dtypes
from aiogpu.kernels import numerics
from aiogpu.program import Launch, Number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aiogpu.limits import Limits
    from aiogpu.program import ParamSpace
    from aiogpu.schedule.step import Const

# Loops of one invocation turn no oftener: lavapipe (Mesa 22.3, LP_MAX_TGSI_LOOP_ITERATIONS) leaves
# them after 65535 turns, all of an invocation's loops together, and says nothing.
MAX_TURNS: Final = 32768
_NUMERIC = re.compile(r"\bag_\w+")
_F16 = re.compile(r"\bf16\b")
_SUBGROUP = re.compile(r"\bsubgroup[A-Z]")
_LID = re.compile(r"\blid\b")
_NUMBER = "@builtin(local_invocation_index) lid: u32"
_PLACE = "@builtin(local_invocation_id) l3: vec3u"
_LANES = (
    ",\n        @builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_size) nlanes: u32"
)


class Params:
    """A parameter block being laid out: names and types for the text, words for the launch.

    Sizes and scalars travel here and are never baked into a shader's text, so one pipeline serves
    all sizes. The first word is ``grid_offset`` (see `aiogpu.program`).
    """

    __slots__ = ("names", "numbers", "words")

    def __init__(self) -> None:
        self.names: list[str] = ["grid_offset: u32"]
        self.words: list[int] = [0]
        self.numbers: list[Number] = []

    def add(self, name: str, word: int, wgsl_type: str = "u32") -> str:
        """Append one word; its name in the text."""
        self.names.append(f"{name}: {wgsl_type}")
        self.words.append(word & 0xFFFFFFFF)
        return f"p.{name}"

    def number(self, name: str, const: Const) -> None:
        """Append a number of the user's expression, so that another can take its place."""
        self.numbers.append(Number(len(self.words), const.number, const.dtype))
        kind = "u32" if const.dtype.compute == "bool" else const.dtype.compute
        words = dtypes.words(const.value, const.dtype)
        self.add(name, words[0], "f32" if len(words) > 1 else kind)
        if len(words) > 1:  # a complex number
            self.add(f"{name}i", words[1], "f32")

    def ensure_zero(self) -> None:
        """Append the word ``zero``, if it is not there: 0, which no compiler can know."""
        if "zero: u32" not in self.names:
            self.add("zero", 0)

    def space(self, limits: Limits, *, is_hot: bool = False) -> ParamSpace:
        """Where the block travels: immediate data is cheapest to send, a uniform buffer holds more.

        Args:
            limits: What the device can.
            is_hot: The shader reads its parameters in long loops. NVIDIA reads immediate data more
                slowly there: products took a third longer with it (H200, Chromium 156).
        """
        fits = 4 * len(self.words) <= limits.immediate_nbytes
        return "immediate" if fits and (limits.is_fallback or not is_hot) else "uniform"


def shader(
    *,
    space: ParamSpace,
    params: Params,
    buffers: Sequence[tuple[str, str, bool]],
    body: str,
    workgroup: int | tuple[int, int, int],
    declarations: str = "",
) -> str:
    """A whole shader.

    Args:
        space: Where the parameters travel.
        params: The parameter block.
        buffers: Name, WGSL element type, and whether it is written, in binding order.
        body: Statements of ``main``. They see ``group`` (the number of this workgroup), ``lid``
            (the invocation's number in it) and ``p`` (the parameters); if they use the device's
            subgroups, also ``lane`` and ``nlanes``.
        workgroup: Invocations of a workgroup; or those along x, y and z, and ``body`` sees also
            ``l3``, the invocation's place along these.
        declarations: Module-scope text before ``main``.
    """
    fields = ", ".join(params.names)
    block: tuple[str, ...] = (
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
    if _F16.search(bindings):
        block = ("enable f16;\n", *block)
    has_lanes = _SUBGROUP.search(body) is not None
    if has_lanes:
        block = ("enable subgroups;\n", *block)
    sizes, ids = f"{workgroup}", _NUMBER
    if not isinstance(workgroup, int):
        sizes = ", ".join(map(str, workgroup))
        ids = f"{_PLACE},\n        {_NUMBER}" if _LID.search(body) else _PLACE
    return (
        f"{''.join(block)}{bindings}{functions}{declarations}"
        f"@compute @workgroup_size({sizes})\n"
        "fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u,\n"
        f"        {ids}{_LANES if has_lanes else ''}) {{\n"
        "  let group = p.grid_offset + wid.y * nwg.x + wid.x;\n"
        f"{body}}}\n"
    )


def launch(
    wgsl: str,
    label: str,
    params: Params,
    space: ParamSpace,
    bindings: Sequence[int],
    groups: int,
    cost: int,
    **more: Any,  # noqa: ANN401 - other fields of a launch
) -> Launch:
    """A linear launch that writes its last binding."""
    fields: dict[str, Any] = {
        "wgsl": wgsl,
        "label": label,
        "bindings": tuple(bindings),
        "writes": 1 << (len(bindings) - 1),
        "params": tuple(params.words),
        "param_space": space,
        "groups": groups,
        "cost": cost,
        "numbers": tuple(params.numbers),
    }
    return Launch(**fields | more)


def indent(lines: Iterable[str]) -> str:
    """Statements as the text of a function's body."""
    return "".join(f"  {line}\n" for line in lines)


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
