"""The instructions of a step as WGSL functions of an element's number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from aiogpu import dtypes, shapes
from aiogpu.kernels import types
from aiogpu.schedule.step import OUT, Apply, Cast, Code, Const, Iota, Load, Place, Result
from aiogpu.shapes import View, contiguous_strides

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from aiogpu.dtypes import DType
    from aiogpu.kernels.writer import Params
    from aiogpu.schedule.step import Instr
    from aiogpu.shapes import Shape


class Access(NamedTuple):
    """How an element's number follows from that of its place.

    Attributes:
        kind: ``direct`` (the same), ``offset`` (that plus an offset), ``single`` (one element for
            all) or ``strided`` (through coordinates).
        strides: For ``strided``, one for each axis of the place in `Layout.sizes`.
        offset: First element.
    """

    kind: str
    strides: Shape
    offset: int


class Layout(NamedTuple):
    """The places of a code, each reduced to as few axes as its strided accesses allow.

    Attributes:
        sizes: For each place the sizes of those axes; empty where nothing is strided.
        loads: One for each instruction; None where it is not a load.
        places: One for each place after the first.
    """

    sizes: tuple[Shape, ...]
    loads: tuple[Access | None, ...]
    places: tuple[Access, ...]


def layout(code: Code) -> Layout:
    """Choose the access of every load and place, and coalesce the axes of strided ones."""
    loads = [instr for instr in code.instrs if isinstance(instr, Load)]
    seen: list[Load | Place] = [*loads, *code.places]
    found = [_access(each.view) for each in seen]
    sizes: list[Shape] = [()] * (len(code.places) + 1)
    for number in range(len(sizes)):
        at = [
            k
            for k, each in enumerate(seen)
            if found[k].kind == "strided"
            and number == (each.place if isinstance(each, Load) else each.parent)
        ]
        if at:
            space = seen[at[0]].view.shape
            walks = [contiguous_strides(space), *(found[k].strides for k in at)]
            sizes[number], walks = shapes.coalesce(space, walks)
            for k, strides in zip(at, walks[1:], strict=True):
                found[k] = found[k]._replace(strides=strides)
    rest = iter(found)
    each_load = tuple(next(rest) if isinstance(instr, Load) else None for instr in code.instrs)
    return Layout(tuple(sizes), each_load, tuple(rest))


def _access(view: View) -> Access:
    if not any(s for s, size in zip(view.strides, view.shape, strict=True) if size != 1):
        return Access("single", (), view.offset)
    if view.is_contiguous:
        return Access("offset" if view.offset else "direct", (), view.offset)
    return Access("strided", view.strides, view.offset)


def key(code: Code, lay: Layout) -> tuple[object, ...]:
    """All that the text of a code depends on."""
    parts: list[object] = [tuple(map(len, lay.sizes))]
    parts += [
        (place.parent, access.kind) for place, access in zip(code.places, lay.places, strict=True)
    ]
    for instr, access in zip(code.instrs, lay.loads, strict=True):
        if isinstance(instr, Load):
            assert access is not None
            parts.append((instr.slot, access.kind, instr.dtype, instr.place))
        elif isinstance(instr, Apply):
            parts.append((instr.op, instr.args, instr.dtype))
        elif isinstance(instr, Cast):
            parts.append((instr.arg, instr.dtype))
        else:
            parts.append((type(instr), instr.dtype, getattr(instr, "place", None)))
    return tuple(parts)


# What gives one of its operands needs no rounding to its dtype.
_EXACT: Final = frozenset({"copy", "positive", "maximum", "minimum", "where"})
_LINEAR: Final = frozenset({"add", "subtract", "multiply", "negative", "random_between"})


def guarded(code: Code) -> set[int]:
    """Results that the compiler must take as they are.

    SwiftShader and lavapipe reassociate across operations, so that (a - b) + b is a. A sum,
    difference or product of floats that goes into another one passes through `ag_opaque`.
    """
    linear = [
        isinstance(instr, Apply) and instr.op.name in _LINEAR and instr.dtype.compute == "f32"
        for instr in code.instrs
    ]
    return {
        arg
        for at, instr in enumerate(code.instrs)
        if linear[at] and isinstance(instr, Apply)
        for arg in instr.args
        if linear[arg]
    }


class Function:
    """One code as a WGSL function; ``tag`` sets its parameters apart from others'."""

    def __init__(self, code: Code, tag: str) -> None:
        self.code = code
        self.tag = tag
        self.lay = layout(code)
        self._guarded = guarded(code)
        self._given: Collection[int] = ()

    @property
    def key(self) -> tuple[object, ...]:
        """All that the text depends on."""
        return key(self.code, self.lay)

    def add_params(self, params: Params) -> None:
        """Append sizes, strides, offsets and numbers, in the order in which the text names them."""
        tag = self.tag
        for place, sizes in enumerate(self.lay.sizes):
            for axis, size in enumerate(sizes[1:], 1):
                params.add(f"n{tag}{place}_{axis}", size)
        for at, access in enumerate(self.lay.places, 1):
            _add_access(params, access, f"{tag}p{at}")
        for at, (instr, load) in enumerate(zip(self.code.instrs, self.lay.loads, strict=True)):
            if load is not None:
                _add_access(params, load, f"{tag}{at}")
            elif isinstance(instr, Const):
                params.number(f"k{tag}{at}", instr)
            elif isinstance(instr, Iota):
                kind = instr.dtype.compute
                params.add(f"a{tag}{at}", dtypes.word(instr.start, instr.dtype), kind)
                params.add(f"b{tag}{at}", dtypes.word(instr.step, instr.dtype), kind)
        if self._guarded or any("p.zero" in text for text in self.functions):
            params.ensure_zero()

    @property
    def functions(self) -> dict[str, None]:
        """The functions of a user's that the text calls, each once."""
        return {
            instr.op.functions: None
            for instr in self.code.instrs
            if isinstance(instr, Apply) and instr.op.functions
        }

    def aligned(self, stored: Mapping[int, str]) -> set[int]:
        """The inputs that are read at the element's own number alone, as they are declared.

        Four neighbours of one, the first of a number that four divides, are a vector.
        """
        found: dict[int, int] = {}
        others: set[int] = set()
        for instr, access in zip(self.code.instrs, self.lay.loads, strict=True):
            if not isinstance(instr, Load):
                continue
            assert access is not None
            is_own = instr.place == 0 and access.kind in {"direct", "offset"}
            is_word = not instr.dtype.is_packed and stored[instr.slot] == instr.dtype.compute
            is_half = instr.dtype is dtypes.float16 and stored[instr.slot] == "f16"
            is_scalar = instr.dtype.kind != "complex" and (is_word or is_half)
            is_whole = access.offset % 4 == 0
            is_one = found.setdefault(instr.slot, access.offset) == access.offset
            if not (is_own and is_scalar and is_whole and is_one):
                others.add(instr.slot)
        return found.keys() - others

    def vector_number(self, slot: int, index: str) -> str:
        """The number of the vector that holds four elements of an aligned input.

        Args:
            slot: The input.
            index: A quarter of the first element's number.
        """
        offsets = [
            f"p.o{self.tag}{at}"
            for at, (instr, access) in enumerate(zip(self.code.instrs, self.lay.loads, strict=True))
            if isinstance(instr, Load) and instr.slot == slot
            if access is not None and access.kind == "offset"
        ]
        return f"{index} + {offsets[0]} / 4u" if offsets else index

    def text(self, head: str, stored: Mapping[int, str], given: Collection[int] = ()) -> str:
        """The function, under ``head``; it gives the last instruction's value.

        Every instruction is one ``let``: nested expressions hundreds deep do not compile in Tint.

        Args:
            head: Name and parameters.
            stored: How each input is declared.
            given: Inputs whose element is not loaded: a parameter, ``x`` and the slot, is it.
        """
        self._given = given
        lines = self._coordinates(0, "i")
        for at, (place, access) in enumerate(
            zip(self.code.places, self.lay.places, strict=True), 1
        ):
            lines.append(f"let i{at} = {self._number(access, f'{self.tag}p{at}', place.parent)};")
            lines += self._coordinates(at, f"i{at}")
        for at, instr in enumerate(self.code.instrs):
            value = self._expression(at, instr, stored)
            guard = f"ag_opaque({value}, p.zero)" if at in self._guarded else value
            lines.append(f"let v{at} = {guard};")
        lines.append(f"return v{len(self.code.instrs) - 1};")
        return _function(f"{head} -> {self.code.dtype.compute}", lines)

    def number_text(self, head: str) -> str:
        """A function that gives the number of the element that the first load would read."""
        access = self.lay.loads[0]
        assert access is not None
        lines = [*self._coordinates(0, "i"), f"return {self._number(access, f'{self.tag}0', 0)};"]
        return _function(head, lines)

    def _coordinates(self, place: int, index: str) -> list[str]:
        sizes = self.lay.sizes[place]
        if not sizes:
            return []
        lines = []
        rest = index
        tag = f"{place}_"
        for axis in range(len(sizes) - 1, 0, -1):
            size = f"p.n{self.tag}{place}_{axis}"
            lines += [
                f"let c{tag}{axis} = {rest} % {size};",
                f"let r{tag}{axis} = {rest} / {size};",
            ]
            rest = f"r{tag}{axis}"
        lines.append(f"let c{tag}0 = {rest};")
        return lines

    def _number(self, access: Access, name: str, place: int) -> str:
        """The number of the element that an access names, seen from a place."""
        index = f"i{place}" if place else "i"
        if access.kind == "direct":
            return index
        if access.kind == "single":
            return f"p.o{name}"
        if access.kind == "offset":
            return f"({index} + p.o{name})"
        terms = "".join(
            f" + c{place}_{axis} * p.s{name}_{axis}" for axis in range(len(access.strides))
        )
        return f"(p.o{name}{terms})"

    def _expression(self, at: int, instr: Instr, stored: Mapping[int, str]) -> str:
        code = self.code
        match instr:
            case Load(slot, _, dtype, place):
                if slot in self._given:
                    return f"x{slot}"
                access = self.lay.loads[at]
                assert access is not None
                index = self._number(access, f"{self.tag}{at}", place)
                return types.load(buffer(slot), index, dtype, stored[slot])
            case Const(_, dtype):
                return _parameter(f"p.k{self.tag}{at}", dtype)
            case Iota(_, _, dtype, place):
                wide = dtypes.FLOAT if dtype.kind == "float" else dtype
                number = types.cast(f"i{place}" if place else "i", dtypes.uint32, wide)
                return types.narrow(f"(p.a{self.tag}{at} + {number} * p.b{self.tag}{at})", dtype)
            case Cast(arg, dtype):
                return types.cast(f"v{arg}", code.instrs[arg].dtype, dtype)
            case Result():
                return "value"
            case Apply(op, args, dtype):
                given = code.instrs[args[-1]].dtype
                compute = given.compute
                template = op.wgsl.get(given.name) or op.wgsl.get(compute) or op.wgsl["*"]
                if op.name == "subtract" and args[0] == args[1] and compute == "f32":
                    template = "ag_sub_f32({0}, {1})"  # x - x is NaN for infinities
                value = template.format(*(f"v{a}" for a in args))
                return value if op.name in _EXACT else types.narrow(value, dtype)


def buffer(slot: int) -> str:
    """The name of an input's binding."""
    return "out" if slot == OUT else f"b{slot}"


def _add_access(params: Params, access: Access, name: str) -> None:
    if access.kind != "direct":
        params.add(f"o{name}", access.offset)
    for axis, stride in enumerate(access.strides):
        params.add(f"s{name}_{axis}", stride)


def _parameter(name: str, dtype: DType) -> str:
    """A number in the parameter block, in the compute type."""
    if dtype.compute == "bool":
        return f"({name} != 0u)"
    return f"vec2f({name}, {name}i)" if dtype.compute == "vec2f" else name


def _function(head: str, lines: list[str]) -> str:
    return f"{head} {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


class Spot:
    """A view as a WGSL function: where an element lies, given its number."""

    def __init__(self, view: View, name: str) -> None:
        self.name = name
        self._function = Function(Code(view.shape, (Load(0, view, dtypes.uint32),)), name)

    @property
    def key(self) -> tuple[object, ...]:
        """All that the text depends on."""
        return self._function.key

    def add_params(self, params: Params) -> None:
        """Append what the text names."""
        self._function.add_params(params)

    def text(self) -> str:
        """The function."""
        return self._function.number_text(f"fn {self.name}(i: u32) -> u32")


def moved_last(code: Code, axes: tuple[int, ...]) -> tuple[Code, View | None]:
    """The code with ``axes`` last in its space.

    Returns:
        The code, and where its elements lie in the space as it was; None where that is the same.
    """
    rank = len(code.space)
    order = [axis for axis in range(rank) if axis not in axes] + list(axes)
    if order == list(range(rank)):
        return code, None
    instrs = tuple(
        instr._replace(view=instr.view.permute(order))
        if isinstance(instr, Load) and instr.place == 0
        else instr
        for instr in code.instrs
    )
    places = tuple(
        place._replace(view=place.view.permute(order)) if place.parent == 0 else place
        for place in code.places
    )
    space = tuple(code.space[axis] for axis in order)
    return Code(space, instrs, places), View.contiguous(code.space).permute(order)
