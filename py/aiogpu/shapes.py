"""Shapes, strides and views: pure arithmetic on tuples. Strides and offsets count elements."""

from __future__ import annotations

import operator
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from aiogpu.errors import AxisError, DTypeError, ShapeError, SyncAccessError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Shape = tuple[int, ...]
MAX_RANK = 8


def is_integer(given: object) -> bool:
    """Whether it is one integer, Python's or NumPy's, and no sequence of them."""
    return isinstance(given, int) or (
        hasattr(given, "__index__") and not getattr(given, "shape", ())
    )


def integer(given: object, operation: str) -> int:
    """An integer, Python's or NumPy's, as Python's.

    Raises:
        DTypeError: Something else.
    """
    if isinstance(given, int):
        return given
    try:
        return operator.index(given)  # type: ignore[arg-type]
    except SyncAccessError:
        raise  # an array, which says what to await
    except TypeError:
        shown = f"{type(given).__name__} {given!r}"
        raise DTypeError(f"{operation}: {shown}: must be an integer") from None


def integers(given: object, operation: str) -> tuple[int, ...]:
    """One integer or several, Python's or NumPy's, as a tuple.

    Raises:
        DTypeError: Something else.
    """
    if is_integer(given) or not hasattr(given, "__iter__"):
        return (integer(given, operation),)
    return tuple([integer(each, operation) for each in given])


def check(shape: int | Sequence[int], operation: str) -> Shape:
    """``shape`` as a tuple of sizes.

    Raises:
        ShapeError: A negative size, or more than 8 axes.
        DTypeError: A size is no integer.
    """
    sizes = integers(shape, operation)
    if any(size < 0 for size in sizes):
        raise ShapeError(f"{operation}: shape {sizes}: a size is negative")
    if len(sizes) > MAX_RANK:
        raise ShapeError(f"{operation}: shape {sizes}: {len(sizes)} axes, {MAX_RANK} allowed")
    return sizes


def broadcast(shapes: Iterable[Shape], operation: str) -> Shape:
    """The shape to which all of ``shapes`` broadcast.

    Raises:
        ShapeError: Two of them do not; the message names the axis.
    """
    result: list[int] = []
    given = list(shapes)
    for shape in given:
        if len(shape) > len(result):
            result[:0] = [1] * (len(shape) - len(result))
        for back in range(1, len(shape) + 1):
            size = shape[-back]
            if size == 1 or size == result[-back]:
                continue
            if result[-back] != 1:
                shown = " and ".join(map(str, given))
                raise ShapeError(
                    f"{operation}: shapes {shown}: sizes {result[-back]} and {size} "
                    f"of axis -{back} do not broadcast"
                )
            result[-back] = size
    return tuple(result)


def axis_index(axis: int, rank: int, operation: str) -> int:
    """``axis`` counted from the front.

    Raises:
        AxisError: There is no such axis.
        DTypeError: It is no integer.
    """
    axis = integer(axis, operation)
    if not -rank <= axis < rank:
        raise AxisError(f"{operation}: axis {axis}: the array has {rank} axes")
    return axis % rank


def axis_indices(axis: int | Sequence[int] | None, rank: int, operation: str) -> tuple[int, ...]:
    """The axes that ``axis`` names, sorted; None names all.

    Raises:
        AxisError: There is no such axis.
        UsageError: One is named twice.
    """
    if axis is None:
        return tuple(range(rank))
    named = [axis_index(each, rank, operation) for each in integers(axis, operation)]
    if len(set(named)) != len(named):
        raise UsageError(f"{operation}: axis {axis}: an axis is named twice")
    return tuple(sorted(named))


def contiguous_strides(shape: Shape) -> Shape:
    """Strides of ``shape`` in C order."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return tuple(strides)


class View(NamedTuple):
    """How the elements of a shape lie in a contiguous buffer."""

    shape: Shape
    strides: Shape
    offset: int = 0

    @classmethod
    def contiguous(cls, shape: Shape) -> View:
        """The whole of a buffer, in C order."""
        return cls(shape, contiguous_strides(shape))

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements stand in C order without gaps, from any offset."""
        expected = 1
        for size, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if size != 1:
                if stride != expected:
                    return False
                expected *= size
        return True

    def broadcast_to(self, shape: Shape, operation: str) -> View:
        """The view repeated along new and size-1 axes.

        Raises:
            ShapeError: The shapes do not allow it.
        """
        lead = len(shape) - len(self.shape)
        if lead < 0:
            raise ShapeError(f"{operation}: shape {self.shape} to {shape}: fewer axes than before")
        strides = [0] * lead
        for size, stride, target in zip(self.shape, self.strides, shape[lead:], strict=True):
            if size not in (1, target):
                raise ShapeError(
                    f"{operation}: shape {self.shape} to {shape}: {size} is not {target}"
                )
            strides.append(stride if size == target else 0)
        return View(shape, tuple(strides), self.offset)

    def permute(self, axes: Sequence[int]) -> View:
        """The view with its axes in another order."""
        return View(
            tuple(self.shape[a] for a in axes), tuple(self.strides[a] for a in axes), self.offset
        )

    def cut(self, axis: int, start: int, end: int) -> View:
        """The part of the view from ``start`` to ``end`` along an axis."""
        at = axis % len(self.shape)
        shape = (*self.shape[:at], end - start, *self.shape[at + 1 :])
        return View(shape, self.strides, self.offset + start * self.strides[at])

    def reshape(self, shape: Shape) -> View | None:
        """The view in another shape of as many elements, or None where strides cannot say it."""
        if prod(self.shape) == 0:
            return View.contiguous(shape)
        old = [
            (size, stride)
            for size, stride in zip(self.shape, self.strides, strict=True)
            if size != 1
        ]
        strides: list[int] = []
        runs = _runs(old)
        rest = list(reversed(runs))
        left, stride = rest.pop() if rest else (1, 0)
        for size in shape:
            if size == 1:
                strides.append(0)
                continue
            if left == 1 and rest:
                left, stride = rest.pop()
            if left % size:
                return None
            left //= size
            strides.append(stride * left)
        return View(shape, tuple(strides), self.offset)


def _runs(dims: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join neighbouring (size, stride) pairs that one stride can walk."""
    runs: list[tuple[int, int]] = []
    for size, stride in dims:
        if runs and runs[-1][1] == size * stride:
            runs[-1] = (runs[-1][0] * size, stride)
        else:
            runs.append((size, stride))
    return runs


def coalesce(shape: Shape, strides: Sequence[Shape]) -> tuple[Shape, list[Shape]]:
    """The fewest axes that walk several strided operands of one shape in the same order."""
    sizes: list[int] = []
    walks: list[list[int]] = [[] for _ in strides]
    for axis, size in enumerate(shape):
        if size == 1:
            continue
        steps = [operand[axis] for operand in strides]
        if sizes and all(walk[-1] == step * size for walk, step in zip(walks, steps, strict=True)):
            sizes[-1] *= size
            for walk, step in zip(walks, steps, strict=True):
                walk[-1] = step
        else:
            sizes.append(size)
            for walk, step in zip(walks, steps, strict=True):
                walk.append(step)
    return tuple(sizes), [tuple(walk) for walk in walks]


def infer_size(shape: Sequence[int], nelems: int, operation: str) -> Shape:
    """``shape`` with its one -1 replaced, checked to hold ``nelems`` elements.

    Raises:
        ShapeError: More than one -1, or another number of elements.
    """
    sizes = list(integers(shape, operation))
    if sizes.count(-1) > 1:
        raise ShapeError(f"{operation}: shape {tuple(sizes)}: more than one -1")
    if -1 in sizes:
        known = prod(size for size in sizes if size != -1)
        if known and nelems % known == 0:
            sizes[sizes.index(-1)] = nelems // known
    result = tuple(sizes)
    if -1 in result or prod(result) != nelems:
        shown = integers(shape, operation)
        raise ShapeError(f"{operation}: shape {shown}: does not hold {nelems} elements")
    return check(result, operation)
