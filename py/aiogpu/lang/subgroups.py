"""Operations of subgroups: neighbours in a workgroup, by the device's own operations or by memory.

A subgroup is `SUBGROUP` invocations whose numbers in the workgroup follow each other, the first of
them a multiple of `SUBGROUP`; the last one of a workgroup may have fewer. Reductions combine
neighbours two by two, then the pairs, and so on, so that sums of floats have one order.

What a device calls a subgroup is another thing: it has 4 lanes (SwiftShader), 32 (NVIDIA), 64, or
what the driver likes at the time, and WGSL does not say which invocations share one. So a kernel
looks first (`PROLOGUE`): ``lanes`` is how many neighbours share a subgroup of the device everywhere
in the workgroup, 1 if that is not how the invocations lie. So many are combined by the device's
operations, the rest, if there is one, through workgroup memory.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from aiogpu.lang.uniform import asks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiogpu.lang.tree import Kernel

SUBGROUP: Final = 32

_MERGE: Final = {
    "add": "{0} + {1}", "min": "min({0}, {1})", "max": "max({0}, {1})",
}  # fmt: skip
_MERGE_FLOATS: Final = {
    "add": "{0} + {1}", "min": "ag_min_f32({0}, {1})", "max": "ag_max_f32({0}, {1})",
}  # fmt: skip
_APART: Final = "apart"  # how much fewer than SUBGROUP neighbours share a subgroup


def is_used(kernel: Kernel) -> bool:
    """Whether a kernel has operations of subgroups."""
    return any(asks(function) for function in kernel.functions)


def is_native(kernel: Kernel) -> bool:
    """Whether the device's operations can do them: subgroups are whole, and powers of two."""
    count = prod(kernel.workgroup)
    width = min(SUBGROUP, count)
    return is_used(kernel) and count % width == 0 and width & (width - 1) == 0


def scratch(count: int, *, native: bool) -> str:
    """The declarations of the memory that they need."""
    apart = f"var<workgroup> {_APART}: atomic<u32>;\n" if native else ""
    return f"var<workgroup> scratch: array<u32, {count}>;\n{apart}"


def scratch_nbytes(kernel: Kernel) -> Sequence[int]:
    """The sizes of these variables; those of the device's operations included."""
    return (4 * prod(kernel.workgroup), 4) if is_used(kernel) else ()


def prologue() -> list[str]:
    """Statements that find out how the invocations lie in the device's subgroups."""
    return [
        "let head = lid - lane;",
        # Not `&&`: all invocations come to the broadcast.
        "let fits = (lane == lid % nlanes) & (subgroupBroadcastFirst(head) == head);",
        f"atomicMax(&{_APART}, {SUBGROUP}u - select(1u, min(nlanes, {SUBGROUP}u), fits));",
        f"let lanes = {SUBGROUP}u - workgroupUniformLoad(&{_APART});",
    ]


def function(called: str, name: str, kind: str, count: int, *, native: bool) -> str:
    """The WGSL function of an operation.

    Args:
        called: Its name in the text.
        name: The operation.
        kind: The WGSL type of the values.
        count: Invocations of the workgroup.
        native: Whether the device has subgroups and they may be used.
    """
    write = _moving if name in {"broadcast", "shuffle"} else _reducing
    return write(called, name, kind, count, native=native)


def _params(kind: str, *, native: bool) -> str:
    return f"lx: i32, {'lane: u32, lanes: u32, ' if native else ''}value: {kind}"


def _exchange(value: str, count: int) -> str:
    """Put a value in memory where the others see it."""
    fewer = "" if count % SUBGROUP == 0 else f"min({SUBGROUP}, {count} - first)"
    return (
        "  workgroupBarrier();\n"
        f"  scratch[lx] = bitcast<u32>({value});\n"
        "  workgroupBarrier();\n"
        f"  let first = lx & {-SUBGROUP};\n"
        f"  let n = {fewer or SUBGROUP};\n"
    )


def _moving(called: str, name: str, kind: str, count: int, *, native: bool) -> str:  # noqa: ARG001 - as `_reducing`
    width = min(SUBGROUP, count)
    head = f"fn {called}({_params(kind, native=native)}, source: i32) -> {kind} {{\n"
    if native:
        at = f"(lane & {-width & 0xFFFFFFFF}u) + u32(min(source & {SUBGROUP - 1}, {width - 1}))"
        head += f"  if (lanes >= {width}u) {{ return subgroupShuffle(value, {at}); }}\n"
    return (
        f"{head}{_exchange('value', count)}"
        f"  return bitcast<{kind}>(scratch[first + min(source & {SUBGROUP - 1}, n - 1)]);\n}}\n"
    )


def _reducing(called: str, name: str, kind: str, count: int, *, native: bool) -> str:
    width = min(SUBGROUP, count)
    merge = (_MERGE_FLOATS if kind == "f32" else _MERGE)[name]
    lines = [f"fn {called}({_params(kind, native=native)}) -> {kind} {{\n  var acc = value;\n"]
    if native:
        for gap in (1 << bit for bit in range(width.bit_length() - 1)):
            merged = merge.format("acc", "next")
            lines.append(
                f"  if (lanes > {gap}u) {{ let next = subgroupShuffleXor(acc, {gap}u); "
                f"acc = {merged}; }}\n"
            )
        lines.append(f"  if (lanes >= {width}u) {{ return acc; }}\n")
    lines.append(
        f"{_exchange('acc', count)}"
        f"  var part: array<{kind}, {width}>;\n"
        f"  for (var k = 0; k < n; k++) {{ part[k] = bitcast<{kind}>(scratch[first + k]); }}\n"
        f"  for (var gap = {'i32(lanes)' if native else '1'}; gap < n; gap *= 2) {{\n"
        "    for (var k = 0; k + gap < n; k += 2 * gap) "
        f"{{ part[k] = {merge.format('part[k]', 'part[k + gap]')}; }}\n"
        "  }\n"
        "  return part[0];\n}\n"
    )
    return "".join(lines)
