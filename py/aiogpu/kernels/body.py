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
    from aiogpu.shapes import Shape, View


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
    """The space of a step, reduced to as few axes as its strided loads and store allow.

    Attributes:
        sizes: Sizes of those axes; empty where nothing is strided.
        accesses: One for each instruction; None where it is not a load.
        target: Where a store puts the elements; None for a result of its own.
    """

    sizes: Shape
    accesses: tuple[Access | None, ...]
    target: Access | None = None


def layout(step: Step) -> Layout:
    """Choose the access of every load and of the store, and coalesce the axes of strided ones."""
    views = [instr.view if isinstance(instr, Load) else None for instr in step.body]
    views.append(step.target)
    kinds = [None if view is None else _access(view) for view in views]
    strided = [kind.strides for kind in kinds if kind is not None and kind.kind == "strided"]
    if strided:
        sizes, walks = shapes.coalesce(step.space, [contiguous_strides(step.space), *strided])
        rest = iter(walks[1:])
        kinds = [
            kind._replace(strides=next(rest)) if kind and kind.kind == "strided" else kind
            for kind in kinds
        ]
    else:
        sizes = ()
    return Layout(sizes, tuple(kinds[:-1]), kinds[-1])


def _access(view: View) -> Access:
    if not any(s for s, size in zip(view.strides, view.shape, strict=True) if size != 1):
        return Access("single", (), view.offset)
    if view.is_contiguous:
        return Access("offset" if view.offset else "direct", (), view.offset)
    return Access("strided", view.strides, view.offset)


def key(step: Step, lay: Layout) -> tuple[object, ...]:
    """All that the text of the body depends on."""
    parts: list[object] = [len(lay.sizes), lay.target and lay.target.kind]
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
            _add_access(params, access, str(at))
        elif isinstance(instr, Const):
            add(f"k{at}", dtypes.word(instr.value, instr.dtype), _param_type(instr))
        elif isinstance(instr, Iota):
            add(f"a{at}", dtypes.word(instr.start, instr.dtype), _param_type(instr))
            add(f"b{at}", dtypes.word(instr.step, instr.dtype), _param_type(instr))
    if lay.target is not None:
        _add_access(params, lay.target, "t")
    if _guarded(step):
        params.ensure_zero()


def _add_access(params: Params, access: Access, name: str) -> None:
    if access.kind != "direct":
        params.add(f"o{name}", access.offset)
    for axis, stride in enumerate(access.strides):
        params.add(f"s{name}_{axis}", stride)


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
    guarded = _guarded(step)
    for at, instr in enumerate(step.body):
        value = _expression(step, lay, at, instr, index)
        lines.append(f"let v{at} = {f'ag_opaque({value}, p.zero)' if at in guarded else value};")
    return lines, f"v{len(step.body) - 1}"


def _expression(step: Step, lay: Layout, at: int, instr: object, index: str) -> str:
    match instr:
        case Load(slot, _, dtype):
            return types.load(
                f"b{slot}", _place(lay.accesses[at], str(at), index), dtype, _storage(step)[slot]
            )
        case Const(_, dtype):
            return f"(p.k{at} != 0u)" if dtype.compute == "bool" else f"p.k{at}"
        case Iota(_, _, dtype):
            number = types.cast(index, dtypes.uint32, dtype)
            return types.narrow(f"(p.a{at} + {number} * p.b{at})", dtype)
        case Cast(arg, dtype):
            return types.cast(f"v{arg}", step.body[arg].dtype, dtype)
        case Apply(op, args, dtype):
            compute = step.body[args[-1]].dtype.compute
            template = op.wgsl.get(compute) or op.wgsl["*"]
            if op.name == "subtract" and args[0] == args[1] and compute == "f32":
                template = "ag_sub_f32({0}, {1})"  # x - x is NaN for infinities
            return types.narrow(template.format(*(f"v{a}" for a in args)), dtype)
        case _:
            raise AssertionError(instr)


def target(lay: Layout, index: str) -> str:
    """Where element number ``index`` is stored."""
    return index if lay.target is None else _place(lay.target, "t", index)


def _place(access: Access | None, name: str, index: str) -> str:
    assert access is not None
    if access.kind == "direct":
        return index
    if access.kind == "single":
        return f"p.o{name}"
    if access.kind == "offset":
        return f"({index} + p.o{name})"
    terms = "".join(f" + c{axis} * p.s{name}_{axis}" for axis in range(len(access.strides)))
    return f"(p.o{name}{terms})"


_LINEAR = frozenset({"add", "subtract", "multiply", "negative"})


def _guarded(step: Step) -> set[int]:
    """Results that the compiler must take as they are.

    SwiftShader and lavapipe reassociate across operations, so that (a - b) + b is a. A float32 sum,
    difference or product that goes into another one passes through `ag_opaque`.
    """
    linear = [
        isinstance(instr, Apply) and instr.op.name in _LINEAR and instr.dtype.compute == "f32"
        for instr in step.body
    ]
    return {
        arg
        for at, instr in enumerate(step.body)
        if linear[at] and isinstance(instr, Apply)
        for arg in instr.args
        if linear[arg]
    }


def buffers(step: Step) -> list[tuple[str, str, bool]]:
    """The inputs as bindings."""
    kinds = _storage(step)
    return [(f"b{slot}", kinds[slot], False) for slot in range(len(step.inputs))]


def _storage(step: Step) -> dict[int, str]:
    """How each input is declared: as its first load reads it; others reinterpret the bits."""
    kinds: dict[int, str] = {}
    for instr in step.body:
        if isinstance(instr, Load):
            kinds.setdefault(instr.slot, types.storage(instr.dtype))
    return kinds
