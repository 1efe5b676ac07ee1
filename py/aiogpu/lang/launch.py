"""Kernels written in Python as launches: `Compiled` is one for the types of its arguments."""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING, Final

from aiogpu.errors import LimitError
from aiogpu.kernels.writer import Params, indent, launch, shader
from aiogpu.lang import subgroups, tree
from aiogpu.lang.access import Access, Layout
from aiogpu.lang.emit import Emitter
from aiogpu.lang.text import Origins, Text
from aiogpu.program import FAULTS, Program
from aiogpu.shapes import View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiogpu.errors import KernelLine
    from aiogpu.kernels.writer import TextCache
    from aiogpu.lang.access import Bounds
    from aiogpu.lang.source import Source
    from aiogpu.lang.tree import Kernel
    from aiogpu.limits import Limits
    from aiogpu.program import ParamSpace
    from aiogpu.schedule.step import Const, Step
    from aiogpu.shapes import Shape

_TURNS: Final = 16  # that a loop is taken to have, if its bounds come with the call


class Compiled:
    """A kernel for the types of its arguments.

    Attributes:
        kernel: Its typed tree.
        bounds: What happens to indices out of range.
        allowed: The limits of a device that is known to allow it.
    """

    def __init__(self, kernel: Kernel, bounds: Bounds, *, is_fast: bool) -> None:
        self.kernel = kernel
        self.bounds = bounds
        self.allowed: Limits | None = None
        self._is_fast = is_fast
        self._texts: dict[object, tuple[str, Origins]] = {}
        self.cost = max(1, _cost(kernel.main.body, set()))

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.kernel.main.source.name

    def params(
        self,
        layouts: Sequence[Layout],
        views: Sequence[View],
        scalars: Sequence[Const],
        groups: tuple[int, ...],
    ) -> Params:
        """The parameter block: the grid, sizes and strides, and the numbers that are given."""
        kernel = self.kernel
        params = Params()
        params.add("ngroups", prod(groups))
        for axis in range(kernel.naxes):
            params.add(f"g{axis}", groups[axis])
        for at, (layout, view) in enumerate(zip(layouts, views, strict=True)):
            for axis, size in enumerate(view.shape):
                params.add(f"n{at}_{axis}", size)
            if not layout.is_dense:
                params.add(f"o{at}", view.offset)
                for axis, stride in enumerate(view.strides):
                    params.add(f"s{at}_{axis}", stride)
        for name, const in zip(kernel.scalars, scalars, strict=True):
            params.number(f"k_{name}", const)
        if self.bounds == "debug":
            params.add("fault", 0)
        return params

    def text(
        self, layouts: tuple[Layout, ...], params: Params, limits: Limits
    ) -> tuple[str, Origins]:
        """The shader, and where its lines come from."""
        space = params.space(limits, is_hot=True)
        has_axes = _has_axes(self.kernel, limits)
        key = (layouts, space, limits.has_f16, limits.has_subgroups, has_axes)
        found = self._texts.get(key)
        if found is None:
            access = Access(self.kernel, layouts, self.bounds, limits)
            found = self._texts[key] = self._write(access, params, space, has_axes=has_axes)
        return found

    def _write(
        self, access: Access, params: Params, space: ParamSpace, *, has_axes: bool
    ) -> tuple[str, Origins]:
        kernel = self.kernel
        emitter = Emitter(access, kernel.workgroup, is_fast=self._is_fast)
        emitter.functions(kernel.functions[:-1])
        main = emitter.main(kernel.main, has_axes=has_axes)
        text = Text()
        for line in emitter.structs(kernel.functions):
            text.add(line)
        for part in (access.declarations(), emitter.helpers()):
            for line in part.splitlines():
                text.add(line)
        text.lines += emitter.text.lines
        sizes = _sizes(kernel)
        statements = main.plain()
        own = {
            "lx": "i32(l3.x)" if has_axes and sizes[1:] == (1, 1) else "i32(lid)",
            "li": "vec3i(l3)" if has_axes else _split("lid", sizes),
            "wg": _split_group(kernel.naxes),
        }
        head = [
            # A grid in rows may have more workgroups than are asked for.
            "if (group >= p.ngroups) { return; }",
            *(f"let {name} = {e};" for name, e in own.items() if _names(statements, name)),
            *(subgroups.prologue() if access.has_lanes else ()),
        ]
        faults = [("faults", "atomic<u32>", True)] if self.bounds == "debug" else []
        wgsl = shader(
            space=space,
            params=params,
            buffers=[*access.buffers(), *faults],
            body=indent(head) + statements,
            workgroup=sizes if has_axes else prod(sizes),
            declarations=text.plain(),
        )
        return wgsl, Origins.within(wgsl, text, main)

    def fault(self, line: int, index: int, size: int) -> str:
        """An index out of range that the shader reported, with the line of Python."""
        for function in self.kernel.functions:
            if function.source.line(line):
                what = f"index {index} is out of range: there are {size}"
                return function.source.said(line, what)
        return f"{self.name}: line {line}: index {index} is out of range: there are {size}"

    def place(self, line: int) -> KernelLine | None:
        """That line of Python."""
        sources = (function.source for function in self.kernel.functions)
        return next((source.place(line) for source in sources if source.line(line)), None)

    def explain(self, wgsl: str, said: str) -> str:
        """What a compiler said about one of the texts, with the lines of Python."""
        for text, origins in self._texts.values():
            if text == wgsl:
                return origins.explain(wgsl, said)
        return said

    def blamed(self, wgsl: str, said: str) -> KernelLine | None:
        """The first line of Python that a compiler complained of."""
        texts = self._texts.values()
        return next((each.blamed(wgsl, said) for text, each in texts if text == wgsl), None)


def _sizes(kernel: Kernel) -> tuple[int, int, int]:
    """Invocations of a workgroup along x, y and z: the last axis in Python is x."""
    x, y, z = (*reversed(kernel.workgroup), 1, 1, 1)[:3]
    return x, y, z


def _has_axes(kernel: Kernel, limits: Limits) -> bool:
    """Whether a device allows the workgroup's axes as they are, not only all in one row."""
    most = (limits.max_size_x, limits.max_size_y, limits.max_size_z)
    return all(size <= allowed for size, allowed in zip(_sizes(kernel), most, strict=True))


def _names(text: str, name: str) -> bool:
    return re.search(rf"\b{name}\b", text) is not None


def _split(number: str, sizes: tuple[int, int, int]) -> str:
    """A number as three, the first the fastest."""
    x, y, _ = sizes
    parts = (
        f"i32({_modulo(number, x)})",
        f"i32({_modulo(_quotient(number, x), y)})",
        f"i32({_quotient(number, x * y)})",
    )
    used = [part if size > 1 else "0" for part, size in zip(parts, sizes, strict=True)]
    return f"vec3i({', '.join(used)})"


def _quotient(number: str, by: int) -> str:
    """By shifts where they do: SwiftShader divides one lane after another."""
    if by & (by - 1) == 0:
        return f"({number} >> {by.bit_length() - 1}u)"
    return f"({number} / {by}u)"


def _modulo(number: str, by: int) -> str:
    return f"({number} & {by - 1}u)" if by & (by - 1) == 0 else f"({number} % {by}u)"


def _split_group(naxes: int) -> str:
    if naxes == 1:
        return "vec3i(i32(group), 0, 0)"
    if naxes == 2:
        return "vec3i(i32(group % p.g0), i32(group / p.g0), 0)"
    return "vec3i(i32(group % p.g0), i32(group / p.g0 % p.g1), i32(group / (p.g0 * p.g1)))"


def layout_of(view: View) -> Layout:
    """How the elements of a view are reached."""
    return Layout(view.is_contiguous and view.offset == 0)


def _cost(body: Sequence[tree.Stmt], seen: set[tree.Function]) -> int:
    """Rough operations of an invocation."""
    total = 0
    for statement in body:
        turns = 1
        inner: list[tree.Stmt] = []
        own: list[tree.Expr] = []
        for name in ("value", "test", "start", "stop", "step"):
            expr = getattr(statement, name, None)
            if isinstance(expr, tree.Expr):
                own.append(expr)
        if isinstance(statement, (tree.For, tree.While)):
            inner = statement.body
            turns = _turns(statement) if isinstance(statement, tree.For) else _TURNS
        elif isinstance(statement, tree.If):
            inner = [*statement.then, *statement.other]
        for expr in own:
            for each in tree.walk(expr):
                total += isinstance(each, (tree.Op, tree.Load, tree.Atomic))
                if isinstance(each, tree.Apply):
                    total += _cost(each.function.body, seen)
        total += turns * _cost(inner, seen)
    return total


def _turns(statement: tree.For) -> int:
    bounds = (statement.start, statement.stop, statement.step)
    if all(isinstance(each, tree.Lit) for each in bounds):
        return len(range(*(each.value for each in bounds)))  # type: ignore[attr-defined]
    return _TURNS


def render(step: Step, limits: Limits, cache: TextCache) -> Program:  # noqa: ARG001 - the families' common form
    """The launch of a kernel that was written in Python.

    Raises:
        LimitError: It needs more than the device allows.
    """
    attrs = step.node.attrs
    assert attrs is not None
    compiled: Compiled = attrs["compiled"]
    kernel = compiled.kernel
    shapes: Sequence[Shape] = attrs["shapes"]  # of what it writes, in order
    groups: tuple[int, int, int] = attrs["groups"]
    operands = iter(zip(step.slots, step.views, strict=True))
    written = iter(enumerate(shapes))
    views: list[View] = []
    slots: list[int] = []
    for memory in kernel.arrays:
        slot, view = next(operands) if memory.kind != "out" else (0, View.contiguous(()))
        if memory.kind != "in":
            number, shape = next(written)
            slot, view = len(step.inputs) + number, View.contiguous(shape)
        slots.append(slot)
        views.append(view)
    layouts = tuple(map(layout_of, views))
    params = compiled.params(layouts, views, step.consts, groups)
    space = params.space(limits, is_hot=True)
    wgsl, _ = compiled.text(layouts, params, limits)
    check_limits(compiled, limits)
    is_debug = compiled.bounds == "debug"
    writes = sum((memory.kind != "in") << at for at, memory in enumerate(kernel.arrays))
    if is_debug:
        writes |= 1 << len(slots)
    return Program(
        (
            launch(
                wgsl,
                compiled.name,
                params,
                space,
                (*slots, *((FAULTS,) if is_debug else ())),
                prod(groups),
                compiled.cost * prod(kernel.workgroup),
                writes=writes,
                fault_at=params.names.index("fault: u32") if is_debug else None,
                is_checked=compiled.bounds != "unchecked",
                origin=compiled,
            ),
        )
    )


def check_limits(compiled: Compiled, limits: Limits) -> None:
    """Refuse what a device does not allow, at the line of the kernel that asks for it.

    Raises:
        LimitError: Too many arrays, too large a workgroup, or too much shared memory.
    """
    if compiled.allowed is limits:
        return
    source = compiled.kernel.main.source
    _check_arrays(compiled, limits.max_storage_buffers, source)
    size = prod(compiled.kernel.workgroup)
    most = limits.max_invocations
    if not _has_axes(compiled.kernel, limits):
        most = min(most, limits.max_size_x)
    if size > most:
        what = f"a workgroup of {size} invocations: this device allows {most}: say workgroup=..."
        node = source.setting("workgroup")
        raise LimitError(source.shown(node, what)).at(source.place(node))
    _check_shared(compiled.kernel, limits.max_shared_nbytes)
    compiled.allowed = limits


def _check_arrays(compiled: Compiled, allowed: int, source: Source) -> None:
    arrays = compiled.kernel.arrays
    has_faults = compiled.bounds == "debug"
    if len(arrays) + has_faults <= allowed:
        return
    also = ", of which bounds='debug' takes one" if has_faults else ""
    what = (
        f"{len(arrays)} arrays: this device allows {allowed} in a kernel{also}: put several into "
        "one (stack, concat), or make two kernels of it"
    )
    first = source.node_of(arrays[allowed - has_faults].name)  # the first one too many
    raise LimitError(source.shown(first, what)).at(source.place(first))


def _check_shared(kernel: Kernel, allowed: int) -> None:
    """Workgroup memory counts as WebGPU counts it: each variable in units of 16 bytes."""
    total = sum(-(-nbytes // 16) * 16 for nbytes in subgroups.scratch_nbytes(kernel))
    for memory in kernel.memories:
        if memory.kind != "shared":
            continue
        total += -(-4 * prod(memory.shape) // 16) * 16
        if total > allowed:
            assert memory.made is not None
            source, node = memory.made
            what = (
                f"{total} bytes of shared memory up to here: this device allows {allowed} in a "
                "workgroup: share less at a time"
            )
            raise LimitError(source.shown(node, what)).at(source.place(node))
