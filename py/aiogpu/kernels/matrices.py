"""What kernels of matrix factorisations share: arithmetic of both dtypes, lanes, launches.

A matrix of a batch lies row by row. Where one matrix is worked on by steps that depend on each
other, a workgroup does it, with barriers; or, on a software adapter, where those cost 30 to 40
times, one invocation. All else is cut so that invocations do not depend on each other.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from aiogpu import dtypes
from aiogpu.kernels.writer import MAX_TURNS, Params, indent, launch, shader
from aiogpu.program import FAULTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aiogpu.kernels.writer import TextCache
    from aiogpu.limits import Limits
    from aiogpu.program import Launch
    from aiogpu.schedule.step import Step

WORKGROUP: Final = 64
BLOCK: Final = 32  # columns that are factored before the others are brought up to date

_REAL: Final = {
    "mul": "fn mul(a: f32, b: f32) -> f32 { return a * b; }",
    "conj": "fn conj(a: f32) -> f32 { return a; }",
    "abs2": "fn abs2(a: f32) -> f32 { return a * a; }",
    "real": "fn real(a: f32) -> f32 { return a; }",
    "number": "fn number(r: f32) -> f32 { return r; }",
    "quotient": "fn quotient(a: f32, b: f32) -> f32 { return ag_div_f32(a, b); }",
    "size": "fn size(a: f32) -> f32 { return abs(a); }",
    "parts": "fn parts(a: f32) -> vec2f { return vec2f(a, 0.0); }",
    "of_parts": "fn of_parts(z: vec2f) -> f32 { return z.x; }",
    "hermitian": "fn hermitian(a: f32) -> f32 { return a; }",
    "tau_of": "fn tau_of(alpha: f32, beta: f32) -> f32 { return ag_div_f32(beta - alpha, beta); }",
}
_COMPLEX: Final = {
    "mul": "fn mul(a: vec2f, b: vec2f) -> vec2f {\n"
    "  return vec2f(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);\n}",
    "conj": "fn conj(a: vec2f) -> vec2f { return vec2f(a.x, -a.y); }",
    "abs2": "fn abs2(a: vec2f) -> f32 { return a.x * a.x + a.y * a.y; }",
    "real": "fn real(a: vec2f) -> f32 { return a.x; }",
    "number": "fn number(r: f32) -> vec2f { return vec2f(r, 0.0); }",
    "quotient": "fn quotient(a: vec2f, b: vec2f) -> vec2f { return ag_cdiv(a, b); }",
    "size": "fn size(a: vec2f) -> f32 { return ag_cabs(a); }",
    "parts": "fn parts(a: vec2f) -> vec2f { return a; }",
    "of_parts": "fn of_parts(z: vec2f) -> vec2f { return z; }",
    "hermitian": "fn hermitian(a: vec2f) -> vec2f { return vec2f(a.x, 0.0); }",
    "tau_of": "fn tau_of(alpha: vec2f, beta: f32) -> vec2f {\n"
    "  return vec2f(ag_div_f32(beta - alpha.x, beta), ag_div_f32(-alpha.y, beta));\n}",
}
_NAME: Final = re.compile(r"\b(\w+)\(")


class Bound(NamedTuple):
    """A buffer of a launch: its name, its element (``T`` is the matrices' own), its slot."""

    name: str
    kind: str
    slot: int
    is_written: bool = False


class Launches:
    """The launches of one step, in the order in which they are added."""

    def __init__(self, step: Step, limits: Limits, cache: TextCache) -> None:
        self._name = step.core.op.name
        self._limits = limits
        self._cache = cache
        self.kind = step.core.inputs[0].dtype.compute
        self.is_alone = limits.is_fallback
        self.made: list[Launch] = []

    def add(
        self,
        part: str,
        lines: Sequence[str],
        buffers: Sequence[Bound],
        words: Mapping[str, int | float],
        groups: int,
        cost: int,
        *,
        declarations: str = "",
        fault: str = "",
    ) -> None:
        """One launch.

        Args:
            part: What it does; with the operation's name and ``buffers`` the key of its text.
            lines: Statements; they see ``group``, ``lid``, ``p`` and the buffers. ``T`` is the
                WGSL type of the matrices' elements.
            buffers: What it binds.
            words: Integers and floats of the parameter block.
            groups: Workgroups.
            cost: Operations of one workgroup, roughly.
            declarations: Functions and workgroup memory.
            fault: What is wrong with the data when the text sets ``faults[0]`` to ``p.fault``.
        """
        params = Params()
        for name, word in words.items():
            if isinstance(word, float):
                params.add(name, dtypes.word(word, dtypes.FLOAT), "f32")
            else:
                params.add(name, word)
        if fault:
            params.add("fault", 0)
        params.ensure_zero()
        space = params.space(self._limits)
        bindings = [bound.slot for bound in buffers] + [FAULTS] * bool(fault)
        key = (
            self._name,
            part,
            self.kind,
            self.is_alone,
            space,
            tuple(buffer[:2] for buffer in buffers),
        )
        wgsl = self._cache.get(key)
        if wgsl is None:
            body = indent(lines)
            kinds = [(b.name, self._kind(b.kind), b.is_written) for b in buffers]
            if fault:
                kinds.append(("faults", "atomic<u32>", True))
            text = shader(
                space=space,
                params=params,
                buffers=kinds,
                declarations=self._arithmetic(body + declarations) + declarations,
                body=body,
                workgroup=WORKGROUP,
            )
            wgsl = self._cache.put(key, re.sub(r"\bT\b", self.kind, text))
        writes = sum(bound.is_written << at for at, bound in enumerate(buffers))
        more = {"fault_at": params.names.index("fault: u32"), "fault": fault} if fault else {}
        self.made.append(
            launch(
                wgsl, self._name, params, space, bindings, groups, cost,
                writes=writes | (bool(fault) << len(buffers)), **more,
            )
        )  # fmt: skip

    def _kind(self, kind: str) -> str:
        return self.kind if kind == "T" else kind

    def _arithmetic(self, text: str) -> str:
        """The functions of the elements' arithmetic that a text calls."""
        functions = _COMPLEX if self.kind == "vec2f" else _REAL
        used = set(_NAME.findall(text))
        return "".join(f"{source}\n" for name, source in functions.items() if name in used)

    # How invocations are numbered

    def each(self, count: str) -> list[str]:
        """Statements of a launch of one invocation ``at`` for each of ``count`` things."""
        return [
            f"let at = group * {WORKGROUP}u + lid;",
            f"if (at >= {count}) {{ return; }}",
        ]

    def each_matrix(self) -> list[str]:
        """Statements of a launch that works on a matrix ``b`` of the batch in `lanes` lanes."""
        if self.is_alone:
            return [
                f"let b = group * {WORKGROUP}u + lid;",
                "if (b >= p.batch) { return; }",
                "let lane = 0u;",
            ]
        return ["let b = group;", "if (b >= p.batch) { return; }", "let lane = lid;"]

    @property
    def lanes(self) -> str:
        """How many invocations share a matrix."""
        return "1u" if self.is_alone else f"{WORKGROUP}u"

    @property
    def sync(self) -> list[str]:
        """Statements after which lanes see what the others stored."""
        return [] if self.is_alone else ["storageBarrier();", "workgroupBarrier();"]

    def matrix_groups(self, batch: int) -> int:
        """Workgroups of a launch of `each_matrix`."""
        return groups_of(batch) if self.is_alone else batch

    def matrix_cost(self, operations: int) -> int:
        """The cost of one such workgroup, of which a matrix takes so many operations."""
        return operations * (WORKGROUP if self.is_alone else 1)

    def blocks(self, n: int, turns: int) -> list[tuple[int, int]]:
        """Where each block of columns begins and ends.

        ``turns`` is how many turns of loops a column costs whoever brings it up to date.
        """
        width = min(BLOCK, max(1, MAX_TURNS // turns)) if self.is_alone else BLOCK
        return [(start, min(start + width, n)) for start in range(0, n, width)]

    def pieces(self, start: int, end: int, turns: int) -> list[tuple[int, int]]:
        """A block in parts that a launch may factor, where a column takes so many turns."""
        width = max(1, MAX_TURNS // turns) if self.is_alone else end - start
        return [(at, min(at + width, end)) for at in range(start, end, width)]

    def meeting(self, name: str, fold: str) -> str:
        """A function by which all lanes get the fold of ``mine`` and ``other`` over them."""
        if self.is_alone:
            return f"fn meet_{name}(lane: u32, given: f32) -> f32 {{ return given; }}\n"
        return f"""\
var<workgroup> all_{name}: array<f32, {WORKGROUP}>;
fn meet_{name}(lane: u32, given: f32) -> f32 {{
  var mine = given;
  all_{name}[lane] = mine;
  workgroupBarrier();
  for (var half = {WORKGROUP // 2}u; half > 0u; half /= 2u) {{
    if (lane < half) {{
      let other = all_{name}[lane + half];
      mine = {fold};
      all_{name}[lane] = mine;
    }}
    workgroupBarrier();
  }}
  let result = all_{name}[0];
  workgroupBarrier();
  return result;
}}
"""


def groups_of(count: int) -> int:
    """Workgroups of a launch of `Launches.each`."""
    return -(-count // WORKGROUP)
