"""A step's instructions as WGSL statements: what elementwise kernels and reductions share."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiogpu import dtypes, shapes
from aiogpu.kernels import types
from aiogpu.schedule.step import Apply, Cast, Const, Iota, Load
from aiogpu.shapes import contiguous_strides

if TYPE_CHECKING:
    from aiogpu.kernels.writer import Params
    from aiogpu.schedule.step import Step
    from aiogpu.shapes import Shape


class Access(NamedTuple):
    """How one load finds its element.

    Attributes:
        kind: ``direct`` (the element's own number), ``offset`` (that plus an offset), ``single``
            (one element for all) or ``strided`` (through coordinates).
        strides: For ``strided``, one for each axis of `Layout.sizes`.
        offset: First element.
    """

    kind: str
    strides: Shape
    offset: int


class Layout(NamedTuple):
    """The space of a step, reduced to as few axes as its strided loads allow."""

    sizes: Shape
    accesses: tuple[Access | None, ...]  # one for each instruction; None where it is not a load


def layout(step: Step) -> Layout:
    """Choose the access of every load and coalesce the axes of the strided ones."""
    dense = contiguous_strides(step.space)
    kinds: list[tuple[str, Shape, int] | None] = []
    strided: list[Shape] = []
    for instr in step.body:
        if not isinstance(instr, Load):
            kinds.append(None)
            continue
        view = instr.view
        if not any(s for s, size in zip(view.strides, view.shape, strict=True) if size != 1):
            kinds.append(("single", (), view.offset))
        elif view.is_contiguous:
            kinds.append(("offset" if view.offset else "direct", (), view.offset))
        else:
            kinds.append(("strided", view.strides, view.offset))
            strided.append(view.strides)
    if not strided:
        return Layout((), tuple(None if k is None else Access(*k) for k in kinds))
    sizes, walks = shapes.coalesce(step.space, [dense, *strided])
    rest = iter(walks[1:])
    accesses = [
        None
        if kind is None
        else Access(kind[0], next(rest) if kind[0] == "strided" else (), kind[2])
        for kind in kinds
    ]
    return Layout(sizes, tuple(accesses))


def key(step: Step, lay: Layout) -> tuple[object, ...]:
    """All that the text of the body depends on."""
    parts: list[object] = [len(lay.sizes)]
    for instr, access in zip(step.body, lay.accesses, strict=True):
        if access is not None:
            assert isinstance(instr, Load)
            parts.append((instr.slot, access.kind, instr.dtype.name))
        elif isinstance(instr, Apply):
            parts.append((instr.op.name, instr.args, instr.dtype.name))
        elif isinstance(instr, Cast):
            parts.append((instr.arg, instr.dtype.name))
        else:
            parts.append((type(instr).__name__, instr[-1].name))
    return tuple(parts)


def add_params(params: Params, step: Step, lay: Layout) -> None:
    """Append sizes, strides, offsets and scalars, in the order in which `write` names them."""
    add = params.add
    for axis, size in enumerate(lay.sizes[1:], 1):
        add(f"n{axis}", size)
    for at, (instr, access) in enumerate(zip(step.body, lay.accesses, strict=True)):
        if access is not None:
            if access.kind != "direct":
                add(f"o{at}", access.offset)
            for axis, stride in enumerate(access.strides):
                add(f"s{at}_{axis}", stride)
        elif isinstance(instr, Const):
            add(f"k{at}", dtypes.word(instr.value, instr.dtype), _param_type(instr))
        elif isinstance(instr, Iota):
            add(f"a{at}", dtypes.word(instr.start, instr.dtype), _param_type(instr))
            add(f"b{at}", dtypes.word(instr.step, instr.dtype), _param_type(instr))


def _param_type(instr: Const | Iota) -> str:
    return "u32" if instr.dtype.compute == "bool" else instr.dtype.compute


def write(step: Step, lay: Layout, index: str) -> tuple[list[str], str]:
    """Statements that compute element number ``index`` (a u32 name), and the name of the result.

    Every instruction is one ``let``: nested expressions hundreds deep do not compile in Tint.
    """
    lines: list[str] = []
    if lay.sizes:
        rest = index
        for axis in range(len(lay.sizes) - 1, 0, -1):
            lines += [f"let c{axis} = {rest} % p.n{axis};", f"let r{axis} = {rest} / p.n{axis};"]
            rest = f"r{axis}"
        lines.append(f"let c0 = {rest};")
    for at, instr in enumerate(step.body):
        lines.append(f"let v{at} = {_expression(step, lay, at, instr, index)};")
    return lines, f"v{len(step.body) - 1}"


def _expression(step: Step, lay: Layout, at: int, instr: object, index: str) -> str:
    match instr:
        case Load(slot, _, dtype):
            return types.load(f"b{slot}", _place(lay, at, index), dtype)
        case Const(_, dtype):
            return f"(p.k{at} != 0u)" if dtype.compute == "bool" else f"p.k{at}"
        case Iota(_, _, dtype):
            return types.narrow(f"(p.a{at} + {dtype.compute}({index}) * p.b{at})", dtype)
        case Cast(arg, dtype):
            return types.cast(f"v{arg}", step.body[arg].dtype, dtype)
        case Apply(op, args, dtype):
            compute = step.body[args[-1]].dtype.compute
            template = op.wgsl.get(compute) or op.wgsl["*"]
            return types.narrow(template.format(*(f"v{a}" for a in args)), dtype)
        case _:
            raise AssertionError(instr)


def _place(lay: Layout, at: int, index: str) -> str:
    access = lay.accesses[at]
    assert access is not None
    if access.kind == "direct":
        return index
    if access.kind == "single":
        return f"p.o{at}"
    if access.kind == "offset":
        return f"({index} + p.o{at})"
    terms = "".join(f" + c{axis} * p.s{at}_{axis}" for axis in range(len(access.strides)))
    return f"(p.o{at}{terms})"


def buffers(step: Step) -> list[tuple[str, str, bool]]:
    """The inputs as bindings."""
    kinds = {
        instr.slot: types.storage(instr.dtype) for instr in step.body if isinstance(instr, Load)
    }
    return [(f"b{slot}", kinds[slot], False) for slot in range(len(step.inputs))]
