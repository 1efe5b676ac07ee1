"""Manipulation functions of the Array API standard, and `pad`.

Most give views, which are free until their values are needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiogpu import dtypes, shapes
from aiogpu.array import Array, as_node
from aiogpu.errors import DTypeError, UsageError
from aiogpu.graph import blocks, build

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiogpu.dtypes import DType, Scalar

    # A value for all; a pair for before and behind every axis; or a pair for each axis.
    Ends = int | Sequence[int] | Sequence[Sequence[int]]
    Fills = Scalar | Sequence[Scalar] | Sequence[Sequence[Scalar]]


def broadcast_to(x: Array, /, shape: Sequence[int]) -> Array:
    """``x`` repeated along new and size-1 axes, as a view.

    Raises:
        ShapeError: ``x`` does not broadcast to ``shape``.
    """
    return Array(build.broadcast_to(x._node, shapes.check(shape, "broadcast_to")))


def broadcast_arrays(*arrays: Array) -> list[Array]:
    """All arrays in the shape to which they broadcast, as views.

    Raises:
        ShapeError: They do not broadcast.
    """
    shape = shapes.broadcast([x.shape for x in arrays], "broadcast_arrays")
    return [broadcast_to(x, shape) for x in arrays]


def concat(arrays: Sequence[Array], /, *, axis: int | None = 0) -> Array:
    """Arrays behind each other along ``axis``; None flattens them first. Their dtypes promote.

    Raises:
        UsageError: There are no arrays.
        ShapeError: Sizes of other axes differ.
        AxisError: There is no such axis.
        DTypeError: The dtypes do not promote.
    """
    nodes = [x._node if axis is not None else x.reshape(-1)._node for x in arrays]
    if not nodes:
        raise UsageError("concat: no arrays: needs at least one")
    dtype = build.promotion(nodes, "concat")
    return Array(blocks.concat([build.cast(node, dtype) for node in nodes], axis or 0))


def stack(arrays: Sequence[Array], /, *, axis: int = 0) -> Array:
    """Arrays of one shape behind each other along a new axis. Their dtypes promote.

    Raises:
        UsageError: There are no arrays.
        ShapeError: The shapes differ.
        AxisError: There is no such place.
        DTypeError: The dtypes do not promote.
    """
    return concat([expand_dims(x, axis=axis) for x in arrays], axis=axis)


def expand_dims(x: Array, /, axis: int | Sequence[int] = 0) -> Array:
    """``x`` with new axes of size 1 at the places ``axis`` of the result, as a view.

    Raises:
        AxisError: There is no such place.
        UsageError: One is named twice.
        ShapeError: The result would have more than 8 axes.
    """
    rank = x.ndim + len(shapes.integers(axis, "expand_dims"))
    new = shapes.axis_indices(axis, rank, "expand_dims")
    sizes = iter(x.shape)
    return x.reshape([1 if at in new else next(sizes) for at in range(rank)])


def flip(x: Array, /, *, axis: int | Sequence[int] | None = None) -> Array:
    """``x`` with the order along ``axis``, or all axes, reversed, as a view.

    Raises:
        AxisError: There is no such axis.
    """
    flipped = shapes.axis_indices(axis, x.ndim, "flip")
    return (
        x[tuple(slice(None, None, -1 if a in flipped else 1) for a in range(x.ndim))]
        if x.ndim
        else x
    )


def moveaxis(x: Array, source: int | Sequence[int], destination: int | Sequence[int], /) -> Array:
    """``x`` with the axes ``source`` moved to the places ``destination``, as a view.

    Raises:
        AxisError: There is no such axis.
        UsageError: One is named twice, or the two do not name as many.
    """
    pairs = [shapes.integers(axes, "moveaxis") for axes in (source, destination)]
    taken, places = ([shapes.axis_index(a, x.ndim, "moveaxis") for a in axes] for axes in pairs)
    if len(taken) != len(places) or len({*taken}) != len(taken) or len({*places}) != len(places):
        raise UsageError(f"moveaxis: axes {source} to {destination}: must pair axes, each once")
    moved = dict(zip(places, taken, strict=True))
    rest = iter([axis for axis in range(x.ndim) if axis not in taken])
    return permute_dims(x, [moved[at] if at in moved else next(rest) for at in range(x.ndim)])


def pad(x: Array, pad_width: Ends, mode: str = "constant", *, constant_values: Fills = 0) -> Array:
    """``x`` with elements added before and behind it along each axis, as NumPy's ``pad``.

    Args:
        x: The array.
        pad_width: How many elements: a number for all ends; a pair (before, behind) for all axes;
            or a pair, or a sequence of one number, for each axis.
        mode: ``"constant"``, so far.
        constant_values: The elements, in the same forms; the dtype of ``x`` must hold them. Where
            axes differ, the corners are the later axis's.

    Raises:
        UsageError: Another mode, a negative width, or not a pair for each axis.
        DTypeError: The dtype of ``x`` cannot hold a value.
        IntegerOverflowError: The same of an integer.
        ShapeError: The result is too large.
    """
    if mode != "constant":
        raise UsageError(f"pad: mode {mode!r}: there is 'constant' only")
    widths = _pairs("pad_width", pad_width, x.ndim)
    if any(width < 0 or width != int(width) for pair in widths for width in pair):
        raise UsageError(f"pad: pad_width {pad_width}: must be whole numbers from 0 on")
    values = [
        (_fill(before, x.dtype), _fill(after, x.dtype))
        for before, after in _pairs("constant_values", constant_values, x.ndim)
    ]
    return Array(blocks.pad(x._node, widths, values)) if x.ndim else x


def _pairs(name: str, given: Any, rank: int) -> list[tuple[Any, Any]]:  # noqa: ANN401 - numbers, any nesting
    """What NumPy's `pad` is given, as a pair for each axis."""
    if not hasattr(given, "__len__"):
        return [(given, given)] * rank
    parts = list(given)
    if not any(hasattr(part, "__len__") for part in parts) and len(parts) in {1, 2}:
        return [(parts[0], parts[-1])] * rank
    if len(parts) == 1:
        parts *= rank
    if len(parts) != rank or any(
        not hasattr(part, "__len__") or len(part) not in {1, 2} for part in parts
    ):
        raise UsageError(f"pad: {name} {given}: must be a number, a pair, or {rank} pairs")
    return [(part[0], part[-1]) for part in parts]


def _fill(value: Scalar, dtype: DType) -> Scalar:
    """A number that ``dtype`` can hold."""
    value = dtypes.number(value, "pad")
    if dtype.kind == "bool" and value in {0, 1}:
        return bool(value)
    if dtypes.promote_scalar(dtype, value, "pad") is not dtype:
        raise DTypeError(f"pad: {value!r}: {dtype.name} cannot hold it")
    return value


def permute_dims(x: Array, /, axes: Sequence[int]) -> Array:
    """``x`` with its axes in another order, as a view.

    Raises:
        AxisError: There is no such axis.
        UsageError: ``axes`` does not name every axis once.
    """
    order = [shapes.axis_index(axis, x.ndim, "permute_dims") for axis in axes]
    if sorted(order) != list(range(x.ndim)):
        raise UsageError(
            f"permute_dims: axes {tuple(axes)}: must name each of the {x.ndim} axes once"
        )
    return Array(build.permute(x._node, order))


def reshape(x: Array, /, shape: Sequence[int], *, copy: bool | None = None) -> Array:
    """The elements of ``x`` in another shape, in C order; one size may be -1.

    Arrays are values: whether the memory is shared shows nowhere, and ``copy`` changes nothing.

    Raises:
        ShapeError: The shape holds another number of elements.
    """
    made = x.reshape(shape)
    return made.copy() if copy else made


def squeeze(x: Array, /, axis: int | Sequence[int]) -> Array:
    """``x`` without the named axes, which must have size 1, as a view.

    Raises:
        AxisError: There is no such axis.
        UsageError: One of them has another size.
    """
    dropped = shapes.axis_indices(axis, x.ndim, "squeeze")
    if any(x.shape[a] != 1 for a in dropped):
        raise UsageError(f"squeeze: shape {x.shape}, axis {axis}: an axis is not of size 1")
    return x.reshape(tuple(size for a, size in enumerate(x.shape) if a not in dropped))


def take(x: Array, indices: object, /, *, axis: int | None = None) -> Array:
    """Elements of ``x`` along ``axis``, by their numbers.

    Args:
        x: The array.
        indices: Integers, as an array of any shape or as what `asarray` takes; negative ones count
            from the end.
        axis: May be left out where ``x`` has one axis.

    Returns:
        The axis replaced by those of ``indices``.

    Raises:
        AxisError: There is no such axis. When the result is awaited: an index is out of range.
        DTypeError: ``indices`` are not integers.
        UsageError: ``axis`` is left out, and there are several.
        ShapeError: There are indices, and nothing along the axis; or the result has more than 8
            axes.
    """
    if axis is None and x.ndim != 1:
        raise UsageError(f"take: shape {x.shape}: axis may be left out for one axis only")
    at = shapes.axis_index(axis or 0, x.ndim, "take")
    numbers = as_node(indices, None, "take")
    if isinstance(indices, (list, tuple)) and not numbers.nelems:
        numbers = build.cast(numbers, dtypes.int32)  # no numbers have no dtype
    if numbers.dtype.kind not in {"int", "uint"}:
        raise DTypeError(f"take: {numbers.dtype.name} indices: must be integers")
    shape = shapes.check((*x.shape[:at], *numbers.shape, *x.shape[at + 1 :]), "take")
    flat = build.reshape(numbers, (numbers.nelems,))
    return Array(build.reshape(blocks.take(x._node, flat, at), shape))
