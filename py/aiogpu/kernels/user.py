"""Kernels that a user wrote in WGSL: what their text declares, and their launches."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aiogpu import dtypes
from aiogpu.errors import KernelError, KernelLine, LimitError
from aiogpu.lang.text import POSITION, excerpt
from aiogpu.program import Launch, Program

if TYPE_CHECKING:
    from aiogpu.dtypes import DType
    from aiogpu.kernels.writer import TextCache
    from aiogpu.limits import Limits
    from aiogpu.schedule.step import Step

_COMMENT: Final = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_BINDING: Final = re.compile(
    r"@group\s*\(\s*(\d+)\s*\)\s*@binding\s*\(\s*(\d+)\s*\)\s*"
    r"var\s*<\s*(\w+)\s*(?:,\s*(\w+)\s*)?>\s*(\w+)\s*:\s*([^;]+);"
)
_ELEMENT: Final = re.compile(
    r"array\s*<\s*(?:vec[234]\s*<\s*(\w+)\s*>|vec[234](\w)|atomic\s*<\s*(\w+)\s*>|(\w+))"
)
_ENTRY: Final = re.compile(r"@compute\b(.*?)\bfn\s+(\w+)", re.DOTALL)
_WORKGROUP: Final = re.compile(r"@workgroup_size\s*\(([^)]*)\)")
_OVERRIDE: Final = re.compile(r"\boverride\s+(\w+)")
_SHORT: Final = {"f": "f32", "i": "i32", "u": "u32"}
_DTYPES: Final = {"f32": dtypes.float32, "i32": dtypes.int32, "u32": dtypes.uint32}


@dataclass(frozen=True, eq=False, slots=True)
class Written:
    """A kernel's text, and where the user wrote it.

    Attributes:
        text: The WGSL.
        name: The kernel's name.
        filename: The file that holds the text; "" where none does, as for text put together.
        first: The line of the file in which the text begins.
    """

    text: str
    name: str
    filename: str = ""
    first: int = 1

    def shown(self, number: int, start: int = -1, end: int = -1) -> str:
        """Line ``number`` of the text, with carets from one column to another."""
        lines = self.text.splitlines()
        line = lines[number - 1] if 0 < number <= len(lines) else ""
        if self.filename:
            return excerpt(f"{self.filename}:{self.first + number - 1}", line, start, end)
        return excerpt(f"WGSL:{number}", line, start, end)

    def explain(self, wgsl: str, said: str) -> str:
        """What a compiler said about the text, with the user's lines."""
        assert wgsl == self.text
        shown = []
        for line in said.splitlines():
            shown.append(line)
            if match := POSITION.match(line):
                column = int(match[2]) - 1
                shown.append(self.shown(int(match[1]), column, column + 1))
        return "\n".join(shown)

    def fault(self, line: int, index: int, size: int) -> str:
        """Not asked for: only kernels written in Python report indices."""
        return f"{self.name}: line {line}: index {index} is out of range: there are {size}"

    def blamed(self, wgsl: str, said: str) -> KernelLine | None:  # noqa: ARG002 - the form that all have
        """The first line that a compiler complained of."""
        found = next(filter(None, map(POSITION.match, said.splitlines())), None)
        lines = self.text.splitlines()
        if found is None or not 0 < int(found[1]) <= len(lines):
            return None
        number = int(found[1])
        # Text that was put together has no file, and its own numbers.
        line = self.first + number - 1 if self.filename else number
        return KernelLine(self.filename or "WGSL", line, lines[number - 1].strip())

    def place(self, line: int) -> KernelLine | None:  # noqa: ARG002 - the form that all have
        """Not asked for, as `fault`."""
        return None

    def at(self, pattern: re.Pattern[str]) -> str:
        """The line in which a pattern is first found, with carets under it."""
        match = pattern.search(self.text)
        if match is None:
            return self.shown(1)
        before = self.text[: match.start()]
        column = len(before) - (before.rfind("\n") + 1)
        return self.shown(before.count("\n") + 1, column, column + len(match[0]))


@dataclass(frozen=True, slots=True)
class Binding:
    """A storage binding that the text declares."""

    name: str
    dtype: DType
    is_written: bool


@dataclass(frozen=True, slots=True)
class Declared:
    """What a WGSL text declares: its bindings in order, entry point, workgroup and overrides."""

    bindings: tuple[Binding, ...]
    entry: str
    workgroup: tuple[int, int, int]
    overrides: frozenset[str]


def declared(source: str, name: str) -> Declared:
    """Read the declarations of a kernel's text.

    Raises:
        KernelError: There is no entry point, or a binding that we cannot fill.
    """
    text = _COMMENT.sub(" ", source)
    entry = _ENTRY.search(text)
    if entry is None:
        raise KernelError(f"wgsl: {name}: no @compute entry point")
    found: dict[int, Binding] = {}
    for group, at, space, access, variable, kind in _BINDING.findall(text):
        if group != "0" or space != "storage":
            raise KernelError(
                f"wgsl: {name}: {variable}: only storage buffers in @group(0) can be bound"
            )
        element = _ELEMENT.match(kind.strip())
        scalar = next((g for g in element.groups() if g), "") if element else ""
        dtype = _DTYPES.get(_SHORT.get(scalar, scalar))
        if dtype is None:
            raise KernelError(
                f"wgsl: {name}: {variable}: {kind.strip()}: must be an array of f32, i32 or u32"
            )
        found[int(at)] = Binding(variable, dtype, access == "read_write")
    if sorted(found) != list(range(len(found))) or not found:
        raise KernelError(
            f"wgsl: {name}: bindings {sorted(found)}: must be numbered from 0 without gaps"
        )
    return Declared(
        tuple(found[at] for at in sorted(found)),
        entry[2],
        _workgroup(entry[1], name),
        frozenset(_OVERRIDE.findall(text)),
    )


def _workgroup(attributes: str, name: str) -> tuple[int, int, int]:
    match = _WORKGROUP.search(attributes)
    sizes = (
        [size.strip().rstrip("ui") for size in match[1].split(",") if size.strip()] if match else []
    )
    if not sizes or not all(size.isdigit() for size in sizes):
        raise KernelError(f"wgsl: {name}: @workgroup_size must be one to three literal numbers")
    x, y, z = [int(size) for size in sizes] + [1] * (3 - len(sizes))
    return x, y, z


def check_limits(
    source: Written, facts: Declared, groups: tuple[int, int, int], limits: Limits
) -> None:
    """Refuse what a device does not allow.

    Raises:
        LimitError: Too many bindings, too large a workgroup, or too many of them.
    """
    name = source.name
    if len(facts.bindings) > limits.max_storage_buffers:
        raise LimitError(
            f"{name}: {len(facts.bindings)} bindings: this device allows "
            f"{limits.max_storage_buffers}\n{source.at(_BINDING)}"
        )
    x, y, z = facts.workgroup
    most = (limits.max_size_x, limits.max_size_y, limits.max_size_z)
    if x * y * z > limits.max_invocations or any(
        size > allowed for size, allowed in zip(facts.workgroup, most, strict=True)
    ):
        raise LimitError(
            f"{name}: a workgroup of {x} by {y} by {z}: this device allows "
            f"{limits.max_invocations} invocations, {' by '.join(map(str, most))} along the axes\n"
            f"{source.at(_WORKGROUP)}"
        )
    if max(groups) > limits.max_groups:
        raise LimitError(
            f"{name}: {groups} workgroups: this device allows {limits.max_groups} along an axis: "
            "spread them over two axes, or let each do more"
        )


def render(step: Step, limits: Limits, cache: TextCache) -> Program:  # noqa: ARG001 - the families' common form
    """The launch of a user's kernel."""
    attrs = step.node.attrs
    assert attrs is not None
    source: Written = attrs["source"]
    facts: Declared = attrs["declared"]
    groups: tuple[int, int, int] = attrs["groups"]
    check_limits(source, facts, groups, limits)
    x, y, z = facts.workgroup
    operands = iter(step.slots)
    results = iter(range(len(step.inputs), len(step.inputs) + len(facts.bindings)))
    shown = iter([_whole_words(operand.nbytes) for operand in step.node.inputs])
    made = iter([_whole_words(nbytes) for nbytes in attrs["outputs"]])
    slots = [next(results if binding.is_written else operands) for binding in facts.bindings]
    return Program(
        (
            Launch(
                wgsl=source.text,
                label=source.name,
                bindings=tuple(slots),
                writes=sum(binding.is_written << at for at, binding in enumerate(facts.bindings)),
                params=(),
                param_space="none",
                groups=groups,
                cost=64 * x * y * z,
                constants=attrs["constants"],
                entry=facts.entry,
                sizes=tuple(next(made if b.is_written else shown) for b in facts.bindings),
                is_checked=False,
                origin=source,
            ),
        )
    )


def _whole_words(nbytes: int) -> int:
    """The size of a binding: at least one word, which WebGPU demands."""
    return max(4, -(-nbytes // 4) * 4)
