"""What a kernel's parameters are annotated with, and the types of what it works on.

For a type checker an element is a Python number, so that kernels pass mypy strict; at run time
``gl.f32`` is ``gpu.float32``, and ``gl.In[gl.f32]`` says so in a form that we can read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from aiogpu import dtypes

if TYPE_CHECKING:
    from typing import Self, TypeAlias

    f32: TypeAlias = float
    f16: TypeAlias = float
    i32: TypeAlias = int
    u32: TypeAlias = int
    i8: TypeAlias = int
    u8: TypeAlias = int
    i16: TypeAlias = int
    u16: TypeAlias = int
else:
    f32, f16 = dtypes.float32, dtypes.float16
    i32, u32 = dtypes.int32, dtypes.uint32
    i8, u8, i16, u16 = dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Role:
    """A parameter's annotation at run time.

    Attributes:
        name: ``in``, ``out``, ``inout`` or ``const``.
        element: What stands in the brackets.
    """

    name: str
    element: Any


@dataclass(frozen=True, slots=True)
class VectorOf:
    """``gl.vec3[gl.f32]`` at run time."""

    size: int
    element: Any


class _Sized:
    """What arrays in kernels have in common."""

    shape: tuple[int, ...]
    ndim: int
    size: int
    dtype: Any

    def __len__(self) -> int:
        raise NotImplementedError


class In(_Sized, Generic[T]):
    """An array that a kernel reads: any view, read through its strides."""

    if TYPE_CHECKING:

        def __getitem__(self, index: int | tuple[int, ...]) -> T: ...

        def get(self, *index_and_default: Any) -> T: ...  # noqa: ANN401, D102 - indices, an element

    else:

        def __class_getitem__(cls, element):
            """The annotation."""
            return Role("in", element)


class Out(_Sized, Generic[T]):
    """A new array that a kernel writes; what is not written is undefined."""

    if TYPE_CHECKING:

        def __getitem__(self, index: int | tuple[int, ...]) -> T: ...

        def __setitem__(self, index: int | tuple[int, ...], value: T) -> None: ...

        def get(self, *index_and_default: Any) -> T: ...  # noqa: ANN401, D102 - indices, an element

    else:

        def __class_getitem__(cls, element):
            """The annotation."""
            return super().__class_getitem__(element) if element is T else Role("out", element)


class InOut(Out[T]):
    """An array that a kernel changes: the new value is returned, the argument keeps its own."""

    if not TYPE_CHECKING:

        def __class_getitem__(cls, element):
            """The annotation."""
            return Role("inout", element)


if TYPE_CHECKING:
    const: TypeAlias = Annotated[T, "known when the kernel is compiled"]
else:

    class const:  # noqa: N801 - it is written like int
        """A parameter that is known when the kernel is compiled."""

        def __class_getitem__(cls, kind):
            """The annotation."""
            return Role("const", kind)


class Array(Out[T]):
    """Memory of a workgroup or of an invocation: what `shared` and `local` give."""


class _Vector(Generic[T]):
    x: T
    y: T

    if TYPE_CHECKING:

        def __init__(self, *parts: T | _Vector[T]) -> None: ...

        def __getitem__(self, index: int) -> T: ...

        def __setitem__(self, index: int, value: T) -> None: ...

        def __neg__(self) -> Self: ...

        def __add__(self, other: Self | float) -> Self: ...

        __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __add__


class vec2(_Vector[T]):  # noqa: N801 - it is written like float
    """A vector of two numbers."""

    if not TYPE_CHECKING:

        def __class_getitem__(cls, element):
            """The annotation."""
            return VectorOf(2, element)


class vec3(_Vector[T]):  # noqa: N801 - it is written like float
    """A vector of three numbers."""

    z: T

    if not TYPE_CHECKING:

        def __class_getitem__(cls, element):
            """The annotation."""
            return VectorOf(3, element)


class vec4(_Vector[T]):  # noqa: N801 - it is written like float
    """A vector of four numbers."""

    z: T
    w: T

    if not TYPE_CHECKING:

        def __class_getitem__(cls, element):
            """The annotation."""
            return VectorOf(4, element)


VECTORS: dict[Any, int] = {vec2: 2, vec3: 3, vec4: 4}


@dataclass(frozen=True, slots=True)
class Like:
    """The default of an ``Out`` parameter whose shape is that of another parameter."""

    name: str


def like(name: str) -> Any:  # noqa: ANN401 - a default for an annotated parameter
    """As the default of an ``Out`` parameter: it has the shape of parameter ``name``."""
    return Like(name)
