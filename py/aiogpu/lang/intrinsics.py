"""What only kernels call: the GPU's side of the language.

The bodies never run: the compiler knows the functions. Called from Python they say so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, TypeVar, overload

from aiogpu.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiogpu.lang.annotations import Array

T = TypeVar("T")
F = TypeVar("F", bound="Callable[..., Any]")

#: By function: the name under which the compiler knows it.
KNOWN: Final[dict[object, str]] = {}


def _known(function: F) -> F:
    KNOWN[function] = function.__name__
    return function


def _outside(name: str) -> NoReturn:
    raise UsageError(f"gl.{name}: called outside of a kernel; use k.simulate(...) to run one here")


# Where an invocation is


@overload
def global_id(rank: Literal[1]) -> int: ...
@overload
def global_id(rank: Literal[2]) -> tuple[int, int]: ...
@overload
def global_id(rank: Literal[3]) -> tuple[int, int, int]: ...
@_known
def global_id(rank: int) -> Any:
    """This invocation's place in the grid: ``rank`` numbers, the last the fastest; 1: a number."""
    _outside("global_id")


@overload
def local_id(rank: Literal[1]) -> int: ...
@overload
def local_id(rank: Literal[2]) -> tuple[int, int]: ...
@overload
def local_id(rank: Literal[3]) -> tuple[int, int, int]: ...
@_known
def local_id(rank: int) -> Any:
    """Its place in its workgroup."""
    _outside("local_id")


@overload
def group_id(rank: Literal[1]) -> int: ...
@overload
def group_id(rank: Literal[2]) -> tuple[int, int]: ...
@overload
def group_id(rank: Literal[3]) -> tuple[int, int, int]: ...
@_known
def group_id(rank: int) -> Any:
    """Its workgroup's place among the workgroups."""
    _outside("group_id")


@overload
def num_groups(rank: Literal[1]) -> int: ...
@overload
def num_groups(rank: Literal[2]) -> tuple[int, int]: ...
@overload
def num_groups(rank: Literal[3]) -> tuple[int, int, int]: ...
@_known
def num_groups(rank: int) -> Any:
    """How many workgroups there are along each axis."""
    _outside("num_groups")


@overload
def group_size(rank: Literal[1]) -> int: ...
@overload
def group_size(rank: Literal[2]) -> tuple[int, int]: ...
@overload
def group_size(rank: Literal[3]) -> tuple[int, int, int]: ...
@_known
def group_size(rank: int) -> Any:
    """The workgroup's size along each axis; known when the kernel is compiled."""
    _outside("group_size")


@_known
def local_index() -> int:
    """This invocation's number in its workgroup."""
    _outside("local_index")


# Memory


@_known
def shared(shape: int | tuple[int, ...], dtype: type[T]) -> Array[T]:
    """Memory of the workgroup, zero at the start; ``shape`` must be known at compile time."""
    _outside("shared")


@_known
def local(shape: int | tuple[int, ...], dtype: type[T]) -> Array[T]:
    """A fixed array of this invocation, zero where it is made."""
    _outside("local")


@_known
def barrier() -> None:
    """Wait until all invocations of the workgroup are here, and see what they wrote.

    All of them must come here, or none: where that cannot be shown, the line is refused.
    """
    _outside("barrier")


# Atomic operations: each gives the value before it


@_known
def atomic_add(memory: Any, index: int | tuple[int, ...], value: T) -> T:
    """Add to an element; f32 by compare and exchange."""
    _outside("atomic_add")


@_known
def atomic_sub(memory: Any, index: int | tuple[int, ...], value: T) -> T:
    """Subtract from an element."""
    _outside("atomic_sub")


@_known
def atomic_min(memory: Any, index: int | tuple[int, ...], value: T) -> T:
    """Put the smaller one in an element."""
    _outside("atomic_min")


@_known
def atomic_max(memory: Any, index: int | tuple[int, ...], value: T) -> T:
    """Put the larger one in an element."""
    _outside("atomic_max")


@_known
def atomic_and(memory: Any, index: int | tuple[int, ...], value: int) -> int:
    """Clear bits of an element."""
    _outside("atomic_and")


@_known
def atomic_or(memory: Any, index: int | tuple[int, ...], value: int) -> int:
    """Set bits of an element."""
    _outside("atomic_or")


@_known
def atomic_xor(memory: Any, index: int | tuple[int, ...], value: int) -> int:
    """Change bits of an element."""
    _outside("atomic_xor")


@_known
def atomic_exchange(memory: Any, index: int | tuple[int, ...], value: T) -> T:
    """Put a value in an element."""
    _outside("atomic_exchange")


@_known
def atomic_compare_exchange(memory: Any, index: int | tuple[int, ...], expected: T, value: T) -> T:
    """Put a value in an element that is ``expected``; it was if that is what is given back."""
    _outside("atomic_compare_exchange")


# Among the invocations of a subgroup


@_known
def subgroup_size() -> int:
    """How many invocations a subgroup has: 32, or all of a smaller workgroup."""
    _outside("subgroup_size")


@_known
def subgroup_id() -> int:
    """This invocation's number in its subgroup."""
    _outside("subgroup_id")


@_known
def subgroup_add(value: T) -> T:
    """The sum over the subgroup: of neighbours, then of the pairs, and so on."""
    _outside("subgroup_add")


@_known
def subgroup_min(value: T) -> T:
    """The least one in the subgroup."""
    _outside("subgroup_min")


@_known
def subgroup_max(value: T) -> T:
    """The largest one in the subgroup."""
    _outside("subgroup_max")


@_known
def subgroup_broadcast(value: T, source: int) -> T:
    """The value of the subgroup's invocation number ``source``, modulo 32."""
    _outside("subgroup_broadcast")


@_known
def subgroup_shuffle(value: T, source: int) -> T:
    """The value of invocation number ``source``, which may be another one for each."""
    _outside("subgroup_shuffle")


# Values


@_known
def select(condition: bool, this: T, other: T) -> T:
    """``this if condition else other``, both computed."""
    _outside("select")


@_known
def bitcast(value: Any, dtype: type[T]) -> T:
    """The same 32 bits as another type."""
    _outside("bitcast")


@_known
def unroll(*bounds: int) -> range:
    """A range whose loop is written out when the kernel is compiled."""
    _outside("unroll")


@_known
def rsqrt(x: float) -> float:
    """One by the square root."""
    _outside("rsqrt")


@_known
def floor(x: float) -> float:
    """Rounded down, as a float; `math.floor` gives an int."""
    _outside("floor")


@_known
def ceil(x: float) -> float:
    """Rounded up, as a float; `math.ceil` gives an int."""
    _outside("ceil")


@_known
def trunc(x: float) -> float:
    """Rounded towards 0, as a float."""
    _outside("trunc")


@_known
def rint(x: float) -> float:
    """Rounded to the nearest, halves to even, as a float; `round` gives an int."""
    _outside("rint")


@_known
def fma(a: float, b: float, c: float) -> float:
    """``a * b + c``, rounded once where the device can."""
    _outside("fma")


@_known
def clamp(x: T, low: T, high: T) -> T:
    """The nearest to ``x`` within the bounds."""
    _outside("clamp")


@_known
def popcount(x: int) -> int:
    """How many bits are set."""
    _outside("popcount")


@_known
def clz(x: int) -> int:
    """Zero bits before the first that is set."""
    _outside("clz")


@_known
def ctz(x: int) -> int:
    """Zero bits after the last that is set."""
    _outside("ctz")


@_known
def reverse_bits(x: int) -> int:
    """The bits in reverse."""
    _outside("reverse_bits")


@_known
def dot(a: Any, b: Any) -> float:
    """The scalar product of two vectors."""
    _outside("dot")


@_known
def cross(a: Any, b: Any) -> Any:
    """The vector product of two vec3."""
    _outside("cross")


@_known
def length(a: Any) -> float:
    """The length of a vector."""
    _outside("length")


@_known
def normalize(a: Any) -> Any:
    """A vector of length 1 in the same direction."""
    _outside("normalize")


def func(function: F) -> F:
    """Mark a function of the device: its annotations are the types of its parameters.

    Plain Python functions may be called from kernels too; they take what they are given.
    """
    DEVICE.add(function)
    return function


DEVICE: Final[set[object]] = set()
