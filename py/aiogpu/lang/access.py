"""How a kernel reaches memory in WGSL: bindings, strides, bounds, atomics.

Every access that may be out of range goes through a function of its own, ``get_`` or one for each
atomic operation, so that the kernel's text stays readable.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final, Literal

from aiogpu.kernels import types
from aiogpu.lang import subgroups
from aiogpu.lang.subgroups import SUBGROUP
from aiogpu.lang.types import F32, I32, Type, in_registers, wgsl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiogpu.dtypes import DType
    from aiogpu.lang.tree import Kernel, Memory
    from aiogpu.limits import Limits

Bounds = Literal["safe", "unchecked", "debug"]

_ATOMICS: Final = {
    "add": "atomicAdd", "sub": "atomicSub", "min": "atomicMin", "max": "atomicMax",
    "and": "atomicAnd", "or": "atomicOr", "xor": "atomicXor", "exchange": "atomicExchange",
}  # fmt: skip
_OF_FLOATS: Final = {
    "add": "now + value", "sub": "now - value", "min": "ag_min_f32(now, value)",
    "max": "ag_max_f32(now, value)",
}  # fmt: skip

REPORT: Final = """\
fn report(line: u32, index: u32, size: u32) {
  loop {
    let was = atomicCompareExchangeWeak(&faults[1], 0u, p.fault);
    if (was.exchanged) {
      atomicStore(&faults[2], line);
      atomicStore(&faults[3], index);
      atomicStore(&faults[4], size);
      atomicMax(&faults[0], p.fault);
      return;
    }
    if (was.old_value != 0u) { return; }
  }
}
"""


@dataclass(frozen=True, slots=True)
class Layout:
    """How an array lies in memory: in C order from the start, or through strides."""

    is_dense: bool


class Access:
    """The memory of a kernel.

    Attributes:
        has_storage_to_share: Whether some array is both written and read.
        has_lanes: Whether functions are told where they are in the device's subgroups.
    """

    def __init__(
        self, kernel: Kernel, layouts: Sequence[Layout], bounds: Bounds, limits: Limits
    ) -> None:
        self._kernel = kernel
        self._bounds = bounds
        self._has_f16 = limits.has_f16
        self.has_lanes = limits.has_subgroups and subgroups.is_native(kernel)
        self._layouts = dict(zip(kernel.arrays, layouts, strict=True))
        self._numbers = {memory: at for at, memory in enumerate(kernel.arrays)}
        self._own = {memory: at for at, memory in enumerate(kernel.memories)}
        self._functions: dict[str, str] = {}
        self.has_storage_to_share = any(
            memory.kind != "in" and memory.is_read for memory in kernel.arrays
        )

    # Names and declarations

    def name(self, memory: Memory) -> str:
        """The WGSL name of a memory."""
        if memory in self._numbers:
            return f"b{self._numbers[memory]}"
        return f"m{self._own[memory]}"

    def stored(self, memory: Memory) -> str:
        """The WGSL type of an element as it is declared."""
        dtype = memory.dtype
        if memory.is_atomic:
            return "atomic<i32>" if dtype is I32 else types.ATOMIC
        if memory.kind == "in":
            return types.storage(dtype, self._has_f16)
        if memory.is_buffer:
            return types.stored_scattered(dtype, self._has_f16)
        return wgsl(dtype)

    def array_type(self, memory: Memory) -> str:
        """The WGSL type of a memory of the kernel's own."""
        return f"array<{self.stored(memory)}, {prod(memory.shape)}>"

    def buffers(self) -> list[tuple[str, str, bool]]:
        """The bindings of the arrays: name, element type, whether it is written."""
        return [
            (self.name(memory), self.stored(memory), memory.kind != "in")
            for memory in self._kernel.arrays
        ]

    def declarations(self) -> str:
        """Memory of the kernel's own, and the functions that reach memory."""
        lines = []
        for memory in self._kernel.memories:
            space = "workgroup" if memory.kind == "shared" else "private"
            lines.append(f"var<{space}> {self.name(memory)}: {self.array_type(memory)};\n")
        if subgroups.is_used(self._kernel):
            count = prod(self._kernel.workgroup)
            lines.append(subgroups.scratch(count, native=self.has_lanes))
        if self._bounds == "debug":
            lines.append(REPORT)
        return "".join(lines) + "".join(self._functions.values())

    # What expressions name

    def size(self, memory: Memory, axis: int) -> str:
        """The size of an axis, a u32."""
        if memory.shape:
            return f"{memory.shape[axis]}u"
        return f"p.n{self._numbers[memory]}_{axis}"

    def groups(self, axis: int) -> str:
        """The number of workgroups along an axis, an i32."""
        return f"i32(p.g{axis})" if axis < self._kernel.naxes else "1i"

    def _place(self, memory: Memory, index: Sequence[str]) -> str:
        """The number of an element."""
        if memory in self._numbers and not self._layouts[memory].is_dense:
            number = self._numbers[memory]
            terms = "".join(f" + {at} * p.s{number}_{axis}" for axis, at in enumerate(index))
            return f"p.o{number}{terms}"
        if not index:
            return "0u"
        place = index[0]
        for axis in range(1, len(index)):
            place = f"({place}) * {self.size(memory, axis)} + {index[axis]}"
        return place

    def _inside(self, memory: Memory, index: Sequence[str]) -> str:
        tests = [f"{at} < {self.size(memory, axis)}" for axis, at in enumerate(index)]
        return " && ".join(tests) or "true"

    def _element(self, memory: Memory, place: str) -> str:
        name, dtype, stored = self.name(memory), memory.dtype, self.stored(memory)
        if stored == "atomic<i32>":
            return f"atomicLoad(&{name}[{place}])"
        if memory.is_atomic and dtype is F32:
            return f"bitcast<f32>(atomicLoad(&{name}[{place}]))"
        if not memory.is_buffer:
            return f"atomicLoad(&{name}[{place}])" if memory.is_atomic else f"{name}[{place}]"
        return types.load(name, place, dtype, stored)

    def _assignment(self, memory: Memory, place: str, value: str) -> list[str]:
        name, dtype, stored = self.name(memory), memory.dtype, self.stored(memory)
        if memory.is_atomic:
            word = f"bitcast<u32>({value})" if dtype is F32 else value
            return [f"atomicStore(&{name}[{place}], {word});"]
        if not memory.is_buffer:
            return [f"{name}[{place}] = {value};"]
        return types.store(name, place, value, dtype, stored)

    def _is_checked(self, *, is_inside: bool) -> bool:
        return not is_inside and self._bounds != "unchecked"

    def _arguments(self, memory: Memory) -> list[str]:
        return [f"i{axis}" for axis in range(memory.rank)]

    def _otherwise(self, memory: Memory, index: Sequence[str], line: str) -> str:
        """In debug mode, what reports the first index that is out of range."""
        if self._bounds != "debug":
            return ""
        tests = [
            f"if ({at} >= {self.size(memory, axis)}) "
            f"{{ report({line}, {at}, {self.size(memory, axis)}); }}"
            for axis, at in enumerate(index)
        ]
        return " else ".join(tests)

    # Reading and writing

    def load(
        self, memory: Memory, index: list[str], default: str | None, is_inside: bool, line: int
    ) -> str:
        """An element; ``default``, or 0, where there is none."""
        if default is None and not self._is_checked(is_inside=is_inside):
            return self._element(memory, self._place(memory, index))
        kind = wgsl(in_registers(memory.dtype))
        with_default = default is not None
        name = f"{'find' if with_default else 'get'}_{self.name(memory)}"
        is_debug = self._bounds == "debug" and not with_default
        if name not in self._functions:
            own = self._arguments(memory)
            params = [f"{at}: u32" for at in own]
            params += ["other: " + kind] * with_default + ["line: u32"] * is_debug
            other = "other" if with_default else types.zero(in_registers(memory.dtype))
            report = self._otherwise(memory, own, "line") if is_debug else ""
            self._functions[name] = (
                f"fn {name}({', '.join(params)}) -> {kind} {{\n"
                f"  if ({self._inside(memory, own)}) "
                f"{{ return {self._element(memory, self._place(memory, own))}; }}\n"
                f"  {report}\n  return {other};\n}}\n"
            )
        args = [*index, *([default] if default is not None else [])]
        args += [f"{line}u"] * is_debug
        return f"{name}({', '.join(args)})"

    def store(
        self, memory: Memory, index: list[str], value: str, is_inside: bool, line: int
    ) -> list[str]:
        """Statements that store an element, if it is there."""
        if memory.dtype is not in_registers(memory.dtype):
            value = types.narrow(value, memory.dtype)
        if not self._is_checked(is_inside=is_inside):
            place = self._place(memory, index)
            lines = self._assignment(memory, place, value)
            return lines if len(lines) == 1 else ["{", *(f"  {each}" for each in lines), "}"]
        own = self._arguments(memory)
        lines = ["{", f"  let value = {value};"]
        lines += [f"  let {at} = {each};" for at, each in zip(own, index, strict=True)]
        lines += [
            f"  if ({self._inside(memory, own)}) {{",
            *(f"    {e}" for e in self._assignment(memory, self._place(memory, own), "value")),
            "  }",
        ]
        if report := self._otherwise(memory, own, f"{line}u"):
            lines[-1] = f"  }} else {report}"
        return [*lines, "}"]

    # Atomic operations

    def atomic(
        self,
        memory: Memory,
        name: str,
        index: list[str],
        args: list[str],
        is_inside: bool,
        line: int,
    ) -> str:
        """An atomic operation; gives the value before, or 0 where there is no element."""
        is_checked = self._is_checked(is_inside=is_inside)
        is_debug = is_checked and self._bounds == "debug"
        function = f"atomic_{name}_{self.name(memory)}" + ("" if is_checked else "_inside")
        kind = wgsl(memory.dtype)
        if function not in self._functions:
            own = self._arguments(memory)
            params = [f"{at}: u32" for at in own]
            params += (
                [f"value: {kind}"] if len(args) == 1 else [f"expected: {kind}", f"value: {kind}"]
            )
            params += ["line: u32"] * is_debug
            guard = ""
            if is_checked:
                report = self._otherwise(memory, own, "line")
                guard = (
                    f"  if (!({self._inside(memory, own)})) {{ {report} "
                    f"return {types.zero(memory.dtype)}; }}\n"
                )
            place = f"&{self.name(memory)}[{self._place(memory, own)}]"
            self._functions[function] = (
                f"fn {function}({', '.join(params)}) -> {kind} {{\n{guard}"
                f"{_atomic_body(name, memory.dtype, place)}}}\n"
            )
        given = [*index, *args, *([f"{line}u"] * is_debug)]
        return f"{function}({', '.join(given)})"

    # Subgroups

    def subgroup(self, name: str, kind: Type, args: list[str]) -> str:
        """An operation of a subgroup: neighbours in the workgroup, by workgroup memory."""
        count = prod(self._kernel.workgroup)
        if name == "size":
            return f"{min(SUBGROUP, count)}i"
        if name == "id":
            return f"(lx % {SUBGROUP}i)"
        text = wgsl(kind)
        called = f"subgroup_{name}_{text}"
        if called not in self._functions:
            self._functions[called] = subgroups.function(
                called, name, text, count, native=self.has_lanes
            )
        own = ["lx", "lane", "lanes"] if self.has_lanes else ["lx"]
        return f"{called}({', '.join([*own, *args])})"


def _atomic_body(name: str, dtype: DType, place: str) -> str:
    word = "bitcast<u32>(value)" if dtype is F32 else "value"
    back = "bitcast<f32>({0})" if dtype is F32 else "{0}"
    if name == "compare_exchange":
        expected = "bitcast<u32>(expected)" if dtype is F32 else "expected"
        return (
            f"  var old = {expected};\n"
            "  loop {\n"
            f"    let was = atomicCompareExchangeWeak({place}, {expected}, {word});\n"
            "    old = was.old_value;\n"
            f"    if (was.exchanged || old != {expected}) {{ break; }}\n  }}\n"
            f"  return {back.format('old')};\n"
        )
    if dtype is F32 and name in _OF_FLOATS:
        return (
            f"  var old = atomicLoad({place});\n"
            "  loop {\n"
            "    let now = bitcast<f32>(old);\n"
            f"    let was = atomicCompareExchangeWeak({place}, old, "
            f"bitcast<u32>({_OF_FLOATS[name]}));\n"
            "    if (was.exchanged) { break; }\n    old = was.old_value;\n  }\n"
            "  return bitcast<f32>(old);\n"
        )
    return f"  return {back.format(f'{_ATOMICS[name]}({place}, {word})')};\n"
