"""What a kernel's parameters are, by their annotations."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from aiogpu.lang.annotations import Like, Role, VectorOf
from aiogpu.lang.source import captured_names
from aiogpu.lang.types import Pair, Vector, as_element, in_registers

if TYPE_CHECKING:
    import ast

    from aiogpu.dtypes import DType
    from aiogpu.lang.source import Source
    from aiogpu.lang.types import Type

Kind = Literal["in", "out", "inout", "const", "scalar"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter.

    Attributes:
        name: Its name.
        kind: An array that is read, made or changed; a number, known at compile time or not.
        element: Its dtype; a TypeVar where that comes with the call; None where nothing says it.
        default: Its default; `inspect.Parameter.empty` where it has none.
    """

    name: str
    kind: Kind
    element: DType | TypeVar | None
    default: Any

    @property
    def is_given(self) -> bool:
        """Whether a call gives it; outputs are made."""
        return self.kind != "out"

    @property
    def is_array(self) -> bool:
        """Whether it is an array."""
        return self.kind in {"in", "out", "inout"}


def annotations_of(source: Source) -> dict[str, Any]:
    """The annotations of a function, strings evaluated."""
    function = source.function
    try:
        raw = dict(function.__annotations__)
    except NameError as error:
        source.refuse(source.tree, f"an annotation: {error}")
    space = {**captured_names(function)}
    found = {}
    for name, given in raw.items():
        value = given
        if isinstance(value, str):
            try:
                value = eval(value, function.__globals__, space)
            except Exception as error:  # noqa: BLE001 - whatever the user's text raises
                source.refuse(source.node_of(name), f"annotation {given!r}: {error}")
        found[name] = value
    return found


def parameters(source: Source, *, is_elementwise: bool) -> list[Parameter]:
    """The parameters of a kernel, or of an elementwise function, whose arrays come by element.

    Raises:
        KernelError: One of them is not annotated as it must be.
    """
    annotations = annotations_of(source)
    result = []
    for name, each in inspect.signature(source.function).parameters.items():
        node = source.node_of(name)
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            source.refuse(node, f"{name}: * and ** cannot be parameters of a kernel")
        given = annotations.get(name)
        if isinstance(given, Role):
            made = _with_role(source, node, name, given, each.default)
            if is_elementwise and made.is_array:
                source.refuse(
                    node,
                    f"{name}: an elementwise function sees elements: write gl.f32, or use "
                    "gpu.kernel for arrays",
                )
            result.append(made)
            continue
        element = given if isinstance(given, TypeVar) else as_element(given)
        if element is None and (given is not None or not is_elementwise):
            source.refuse(
                node,
                f"{name}: annotate it: gl.In[gl.f32], gl.Out[...], gl.InOut[...] for arrays, "
                "gl.f32 or gl.i32 for numbers, gl.const[int] for what is known at compile time",
            )
        result.append(Parameter(name, "scalar", element, each.default))
    if not is_elementwise and not any(p.kind in {"out", "inout"} for p in result):
        source.refuse(source.tree, "no Out or InOut parameter: the kernel would have no result")
    return result


def _with_role(source: Source, node: ast.AST, name: str, role: Role, default: Any) -> Parameter:  # noqa: ANN401 - any default
    if role.name == "const":
        return Parameter(name, "const", None, default)
    element = role.element if isinstance(role.element, TypeVar) else as_element(role.element)
    if element is None:
        source.refuse(node, f"{name}: {role.element!r}: an array of gl.f32, gl.i32, gl.u8, ...")
    if not isinstance(element, TypeVar) and element.kind == "complex":
        source.refuse(node, f"{name}: complex64: kernels compute with real numbers; take parts")
    if default is not inspect.Parameter.empty and not (
        role.name == "out" and isinstance(default, Like)
    ):
        source.refuse(node, f"{name}: an array has no default; gl.like('x') gives an Out its shape")
    return Parameter(name, role.name, element, default)  # type: ignore[arg-type]


def result_of(source: Source) -> Type | None:
    """The type that a function's annotation says it returns; None where it says nothing."""
    return as_type(annotations_of(source).get("return"))


def as_type(given: Any) -> Type | None:  # noqa: ANN401 - an annotation
    """An annotation as a type; None where it is not one of ours."""
    if isinstance(given, VectorOf):
        scalar = as_element(given.element)
        return None if scalar is None else Vector(scalar, given.size)
    if isinstance(given, GenericAlias) and given.__origin__ is tuple:
        parts = [as_type(each) for each in given.__args__]
        return None if None in parts else Pair(tuple(p for p in parts if p is not None))
    element = as_element(given)
    return None if element is None else in_registers(element)
