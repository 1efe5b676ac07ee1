"""A call of a kernel: its arguments by parameter, the shapes of what it makes, its grid."""

from __future__ import annotations

import inspect
import operator
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Final, TypeVar

from aiogpu import dtypes, shapes
from aiogpu.errors import DTypeError, UsageError
from aiogpu.lang.annotations import Like
from aiogpu.lang.types import as_element, in_registers
from aiogpu.lang.values import default_type, is_number, plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aiogpu.dtypes import DType
    from aiogpu.lang.signature import Parameter
    from aiogpu.shapes import Shape

RESERVED: Final = ("out_shape", "threads", "workgroups")
Sizes = int | tuple[int, ...] | list[int]


@dataclass(frozen=True, slots=True)
class Call:
    """What a call says.

    Attributes:
        given: The arrays that are given, by parameter.
        kinds: The dtype of each array, made ones included, by parameter.
        shapes: Their shapes.
        scalars: The numbers that are given.
        scalar_types: Their types, in registers.
        consts: What is known when the kernel is compiled.
        groups: Workgroups along x, y, z.
        naxes: Axes of the grid.
    """

    given: dict[str, Any]
    kinds: dict[str, DType]
    shapes: dict[str, Shape]
    scalars: dict[str, Any]
    scalar_types: dict[str, DType]
    consts: dict[str, Any]
    groups: tuple[int, int, int]
    naxes: int

    def key(self) -> tuple[object, ...]:
        """All that the typed tree depends on, but for what stands outside of the function."""
        return (
            tuple([(kind, len(self.shapes[name])) for name, kind in self.kinds.items()]),
            tuple(self.scalar_types.items()),
            tuple([(type(value), value) for value in self.consts.values()]),
            self.naxes,
        )


def bind(
    name: str, parameters: Sequence[Parameter], args: Sequence[Any], named: Mapping[str, Any]
) -> dict[str, Any]:
    """Arguments by parameter; outputs are left out.

    Raises:
        UsageError: Too many, too few, or unknown ones.
    """
    takes = [each for each in parameters if each.is_given]
    if len(args) > len(takes):
        shown = ", ".join(each.name for each in takes)
        made = [each.name for each in parameters if not each.is_given]
        hint = f"; {', '.join(made)}: made by the kernel, and returned" if made else ""
        raise UsageError(f"{name}: {len(args)} arguments: takes {len(takes)}: {shown}{hint}")
    bound = {each.name: value for each, value in zip(takes, args, strict=False)}
    for key, value in named.items():
        if key in bound or key not in {each.name for each in takes}:
            why = "given twice" if key in bound else "no such parameter"
            raise UsageError(f"{name}: {key}: {why}")
        bound[key] = value
    for each in takes:
        if each.name not in bound:
            if each.default is inspect.Parameter.empty:
                raise UsageError(f"{name}: {each.name}: is not given")
            bound[each.name] = each.default
    return bound


def as_number(name: str, parameter: str, value: Any) -> Any:  # noqa: ANN401 - whatever was given
    """A Python number.

    Raises:
        UsageError: It is none.
    """
    number = plain(value)
    if not is_number(number):
        raise UsageError(
            f"{name}: {parameter}: {type(value).__name__}: takes a number; annotate the parameter "
            "gl.In[...] for an array"
        )
    return number


class Types:
    """The dtypes of one call's parameters; each TypeVar has one."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._known: dict[TypeVar, DType] = {}

    def array(self, parameter: Parameter, dtype: DType) -> DType:
        """The dtype of an array that is given.

        Raises:
            DTypeError: It is not what the parameter takes.
        """
        wanted = parameter.element
        if isinstance(wanted, TypeVar):
            allowed = [as_element(each) for each in wanted.__constraints__]
            known = self._known.setdefault(wanted, dtype)
            if known is not dtype or (allowed and dtype not in allowed):
                shown = " or ".join(each.name for each in allowed if each) or "any dtype"
                needed = known.name if known is not dtype else shown
                raise DTypeError(
                    f"{self._name}: {parameter.name}: {dtype.name}: {wanted.__name__} is {needed}; "
                    "cast with astype"
                )
        elif wanted is not None and dtype is not wanted:
            raise DTypeError(
                f"{self._name}: {parameter.name}: {dtype.name}: takes {wanted.name}; "
                "cast with astype"
            )
        if dtype.kind == "complex":
            raise DTypeError(f"{self._name}: {parameter.name}: complex64: take real and imag parts")
        return dtype

    def made(self, parameter: Parameter, fallback: DType | None) -> DType:
        """The dtype of an array that the kernel makes, or of a number."""
        wanted = parameter.element
        if not isinstance(wanted, TypeVar):
            assert wanted is not None
            return wanted
        found = self._known.get(wanted, fallback)
        if found is None:
            raise DTypeError(
                f"{self._name}: {parameter.name}: no argument says what {wanted.__name__} is"
            )
        return self._known.setdefault(wanted, found)


def resolve(
    name: str,
    parameters: Sequence[Parameter],
    workgroup: tuple[int, ...],
    bound: Mapping[str, Any],
    described: Mapping[str, tuple[DType, Shape]],
    grid: Mapping[str, Any],
) -> Call:
    """A call, from its arguments.

    Args:
        name: The kernel's name.
        parameters: Its parameters.
        workgroup: Invocations along each axis, the fastest last.
        bound: The arguments by parameter.
        described: Dtype and shape of those that are arrays.
        grid: ``out_shape``, ``threads``, ``workgroups``, as they were given.

    Raises:
        UsageError: The arguments do not fit; DTypeError and ShapeError among them.
    """
    types = Types(name)
    kinds: dict[str, DType] = {}
    sizes: dict[str, Shape] = {}
    for each in parameters:
        if each.kind in {"in", "inout"}:
            dtype, sizes[each.name] = described[each.name]
            kinds[each.name] = types.array(each, dtype)
    made = [each for each in parameters if each.kind == "out"]
    for each, shape in zip(made, _made_shapes(name, made, sizes, grid["out_shape"]), strict=True):
        kinds[each.name], sizes[each.name] = types.made(each, None), shape
    scalars: dict[str, Any] = {}
    scalar_types: dict[str, DType] = {}
    consts: dict[str, Any] = {}
    for each in parameters:
        if each.kind == "const":
            consts[each.name] = bound[each.name]
        elif each.kind == "scalar":
            value = as_number(name, each.name, bound[each.name])
            kind = in_registers(types.made(each, default_type(value)))
            scalar_types[each.name] = kind
            scalars[each.name] = _fitting(name, each.name, value, kind)
    order = [each.name for each in parameters if each.is_array]
    first = next(each.name for each in parameters if each.kind in {"out", "inout"})
    groups, naxes = grid_of(name, workgroup, grid["threads"], grid["workgroups"], sizes[first])
    return Call(
        {each: bound[each] for each in order if each in bound},
        {each: kinds[each] for each in order},
        {each: sizes[each] for each in order},
        scalars,
        scalar_types,
        consts,
        groups,
        naxes,
    )


def _fitting(name: str, parameter: str, value: Any, kind: DType) -> Any:  # noqa: ANN401 - a Python number
    """A number that a type has room for."""
    if kind.kind in {"int", "uint"}:
        if isinstance(value, float):
            raise DTypeError(f"{name}: {parameter}: {value!r}: takes {kind.name}")
        dtypes.check_range(int(value), kind, f"{name}: {parameter}")
    return value


def _made_shapes(
    name: str,
    made: Sequence[Parameter],
    known: Mapping[str, Shape],
    given: Any,  # noqa: ANN401 - shapes
) -> list[Shape]:
    """The shapes of the arrays that a kernel makes."""
    if given is not None and made:
        if not _is_shape(given):
            raise UsageError(f"{name}: out_shape {given!r}: takes a shape, or a list of shapes")
        nested = not isinstance(given, int) and any(not _is_int(size) for size in given)
        each = list(given) if nested else [given] * len(made)
        if len(each) != len(made):
            raise UsageError(f"{name}: {len(each)} shapes: the kernel makes {len(made)} arrays")
        return [shapes.check(shape, name) for shape in each]
    if given is not None:
        raise UsageError(f"{name}: out_shape: the kernel has no Out parameter")
    result = []
    for each_made in made:
        like = each_made.default.name if isinstance(each_made.default, Like) else None
        if like is None:
            like = next(iter(known), None)
        if like is None or like not in known:
            raise UsageError(f"{name}: {each_made.name}: say its shape: out_shape=...")
        result.append(known[like])
    return result


def _is_shape(given: Any) -> bool:  # noqa: ANN401 - whatever was given
    """Whether something is a shape, or a sequence of shapes."""
    if _is_int(given):
        return True
    return isinstance(given, (tuple, list)) and all(
        _is_int(each) or (isinstance(each, (tuple, list)) and all(map(_is_int, each)))
        for each in given
    )


def _is_int(value: object) -> bool:
    return hasattr(value, "__index__")


def grid_of(
    name: str,
    workgroup: tuple[int, ...],
    threads: Any,  # noqa: ANN401 - sizes
    workgroups: Any,  # noqa: ANN401 - sizes
    shape: Shape,
) -> tuple[tuple[int, int, int], int]:
    """Workgroups along x, y, z, and how many axes the kernel's grid has."""
    if threads is not None and workgroups is not None:
        raise UsageError(f"{name}: both threads and workgroups are given")
    given = workgroups if workgroups is not None else shape if threads is None else threads
    word = "workgroups" if workgroups is not None else "threads"
    if not _is_int(given) and not isinstance(given, (tuple, list)):
        raise UsageError(f"{name}: {word} {given!r}: takes a whole number, or a tuple of them")
    sizes_given: Any = [given] if _is_int(given) else given
    if not all(map(_is_int, sizes_given)):
        raise UsageError(f"{name}: {word} {given!r}: takes whole numbers")
    wanted = tuple(operator.index(size) for size in sizes_given)
    if len(wanted) > 3:
        raise UsageError(f"{name}: threads {wanted}: at most 3 axes: say threads=...")
    if any(size < 0 for size in wanted):
        raise UsageError(f"{name}: threads {wanted}: must not be negative")
    naxes = max(len(workgroup), len(wanted), 1)
    along = (*reversed(wanted), 1, 1, 1)[:3]
    sizes = (*reversed(workgroup), 1, 1, 1)[:3]
    if workgroups is None:
        along = tuple(-(-need // size) for need, size in zip(along, sizes, strict=True))
    x, y, z = along
    if any(count * size > 0x7FFFFFFF for count, size in zip(along, sizes, strict=True)):
        raise UsageError(f"{name}: {along} workgroups: ids are i32: at most 2^31 - 1 along an axis")
    if prod(along) > 0xFFFFFFFF:
        raise UsageError(f"{name}: {along} workgroups: at most 2^32 - 1 in all")
    return (x, y, z), naxes
