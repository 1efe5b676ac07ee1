"""Manipulation: values are moved, so they are the same to the bit."""

import math

import numpy as np
from hypothesis import strategies as st
from operands import (
    DTYPES,
    INTEGERS,
    axes_of,
    broadcasting,
    elements,
    operands,
    several_axes,
    shapes,
)  # fmt: skip
from rows import again, call, cast, meeting, row


@st.composite
def seen(draw, least=0, most=8, **options):
    """A strategy to be followed by more draws: an array of any dtype, subnormals and all."""
    return draw(operands(shape=shapes(least, most, **options), domain="bits"))


@st.composite
def reshaped(draw):
    x = draw(seen())
    return (x, draw(shape_of(x.host.size))), {}


@st.composite
def shape_of(draw, nelems):
    """Another shape of as many elements; one size may be left open."""
    if not nelems:
        return draw(st.sampled_from([(0,), (3, 0), (0, 2, 5), (1, 0, 1, 4)]))
    shape, left = [], nelems
    for _ in range(draw(st.integers(0, 7))):
        divisors = [each for each in range(1, min(left, 1100) + 1) if left % each == 0]
        shape.append(draw(st.sampled_from(divisors)))
        left //= shape[-1]
    if left > 1 or not shape:
        shape.append(left)
    if draw(st.booleans()):
        shape[draw(st.integers(0, len(shape) - 1))] = -1
    return tuple(shape)


@st.composite
def spread(draw):
    shape = draw(shapes())
    return (draw(operands(shape=broadcasting(shape), domain="bits")), shape), {}


@st.composite
def spread_together(draw):
    shape = draw(shapes())
    count = draw(st.integers(1, 3))
    return tuple(draw(operands(shape=broadcasting(shape), domain="bits")) for _ in range(count)), {}


PROMOTING = [("float32", "float16", "int32", "uint8"), ("int8", "int16", "uint8"), ("bool",)]


@st.composite
def parts(draw, stacked):
    """Arrays that are put behind each other, their dtypes promoting, and the axis."""
    dtypes = draw(st.sampled_from([*PROMOTING, *((each,) for each in DTYPES)]))
    shape = list(draw(shapes(0 if stacked else 1, 7, nelems=1200)))
    axis = draw(axes_of(len(shape) + stacked))
    flat = not stacked and draw(st.integers(0, 4)) == 0
    made = []
    for number in range(draw(st.integers(1, 4))):
        here = list(shape)
        if not stacked and number:
            here[axis] = draw(st.integers(0, 5))
        made.append(draw(operands(dtypes, tuple(here), "bits")))
    return (made,), {"axis": None if flat else axis}


def joined(function):
    def reference(arrays, axis):
        dtype = meeting(*arrays)
        return function([cast(x, dtype) for x in arrays], axis=axis)

    return reference


@st.composite
def expanded(draw):
    x = draw(seen(most=5))
    rank = x.host.ndim
    if draw(st.booleans()):
        return (x,), {"axis": draw(axes_of(rank + 1))}
    count = draw(st.integers(0, 3))
    return (x,), {"axis": draw(several_axes(rank + count, count))[:count]}


@st.composite
def with_axes(draw, default):
    """An array, and some of its axes, one, or what stands for all."""
    x = draw(seen())
    rank = x.host.ndim
    kinds = [several_axes(rank), st.sampled_from(default)] + ([axes_of(rank)] if rank else [])
    return (x,), {"axis": draw(draw(st.sampled_from(kinds)))}


@st.composite
def moved(draw):
    x = draw(seen(1))
    rank = x.host.ndim
    if draw(st.booleans()):
        return (x, draw(axes_of(rank)), draw(axes_of(rank))), {}
    source = draw(several_axes(rank))
    return (x, source, draw(several_axes(rank, rank))[: len(source)]), {}


@st.composite
def permuted(draw):
    x = draw(seen())
    order = draw(st.permutations(range(x.host.ndim)))
    return (x, tuple(a - len(order) if draw(st.booleans()) else a for a in order)), {}


@st.composite
def padded(draw):
    x = draw(operands(shape=shapes(1, 5, nelems=400), domain="bits"))
    rank, dtype = x.host.ndim, x.host.dtype.name
    width = st.integers(0, 4)
    pair = st.tuples(width, width)
    widths = draw(width | pair | st.tuples(*[pair] * rank))
    value = elements(dtype, "finite" if dtype != "float16" else "mild")
    pairs = st.tuples(value, value)
    values = draw(value | pairs | st.tuples(*[pairs] * rank))
    return (x, widths), {"constant_values": values}


@st.composite
def squeezed(draw):
    x = draw(seen())
    ones = [axis for axis, size in enumerate(x.host.shape) if size == 1]
    taken = draw(st.permutations(ones))[: draw(st.integers(0, len(ones)))]
    if len(taken) == 1 and draw(st.booleans()):
        return (x, taken[0]), {}
    return (x, tuple(a - x.host.ndim if draw(st.booleans()) else a for a in taken)), {}


@st.composite
def indices(draw, size, shape, dtypes=INTEGERS):
    """Indices within an axis, counted from either end where the dtype has a sign."""
    dtype = draw(st.sampled_from(dtypes))
    low = -size if np.dtype(dtype).kind == "i" else 0
    return draw(operands(dtype, shape, (max(low, -128), min(size - 1, 127))))


@st.composite
def picked(draw):
    x = draw(seen(1, empty=False))
    rank = x.host.ndim
    how = {"axis": draw(axes_of(rank))} if rank > 1 or draw(st.booleans()) else {}
    size = x.host.shape[how.get("axis", 0)]
    at = draw(indices(size, draw(shapes(0, min(3, 9 - rank), nelems=300))))
    return (x, at.host.tolist() if draw(st.integers(0, 4)) == 0 else at), how


def take(x, at, axis=0):
    at = np.asarray(at, dtype=None if np.size(at) else int)
    return np.take(x, at, axis=axis)


@st.composite
def picked_along(draw):
    """Indices for every element; those outside are clamped."""
    x = draw(seen(1, empty=False))
    shape, axis = list(x.host.shape), draw(axes_of(x.host.ndim))
    size = shape[axis]
    shape[axis] = draw(st.integers(0, 9))
    for other in range(len(shape)):
        if other != axis % len(shape) and draw(st.integers(0, 3)) == 0:
            shape[other] = 1
    dtype = draw(st.sampled_from(INTEGERS))
    domain = draw(st.sampled_from([(-size if dtype[0] == "i" else 0, size - 1), "any"]))
    return (x, draw(operands(dtype, tuple(shape), domain))), {"axis": axis}


def take_along(x, at, axis):
    size = x.shape[axis]
    at = at.astype("i8")
    return np.take_along_axis(x, np.clip(np.where(at < 0, at + size, at), 0, size - 1), axis)


@st.composite
def repeated(draw):
    x = draw(operands(shape=shapes(nelems=300), domain="bits"))
    rank = x.host.ndim
    axis = draw(axes_of(rank)) if rank and draw(st.booleans()) else None
    size = x.host.size if axis is None else x.host.shape[axis]
    counts = st.integers(0, 4)
    if size <= 20:
        counts |= st.lists(st.integers(0, 3), min_size=size, max_size=size)
    return (x, draw(counts)), {"axis": axis}


@st.composite
def rolled(draw):
    x = draw(seen())
    rank = x.host.ndim
    shift = st.integers(-9, 9) | st.sampled_from([64, -1000])
    kind = draw(st.integers(0, 2)) if rank else 0
    if kind == 0:
        return (x, draw(shift)), {}
    if kind == 1:
        return (x, draw(shift)), {"axis": draw(axes_of(rank))}
    axes = draw(several_axes(rank, 1))
    return (x, draw(st.tuples(*[shift] * len(axes)) | shift)), {"axis": axes}


@st.composite
def tiled(draw):
    x = draw(operands(shape=shapes(nelems=300), domain="bits"))
    times = st.lists(st.sampled_from([1, 2, 1, 3, 0]), max_size=8)
    times = draw(times.filter(lambda each: x.host.size * math.prod(each) < 20_000))
    return (x, tuple(times)), {}


@st.composite
def unstacked(draw):
    x = draw(seen(1, nelems=400))
    axis = min(range(x.host.ndim), key=lambda at: x.host.shape[at])
    return (x,), {"axis": axis - x.host.ndim if draw(st.booleans()) else axis}


@st.composite
def triangles(draw):
    return (draw(seen(2)),), {"k": draw(st.integers(-9, 9) | st.sampled_from([100, -2000]))}


@st.composite
def coordinates(draw):
    dtype = draw(st.sampled_from(DTYPES))
    count = draw(st.integers(1, 4))
    line = st.tuples(st.sampled_from([3, 2, 1, 5, 9, 0]))
    lines = tuple(draw(operands(dtype, line, "bits")) for _ in range(count))
    return lines, {"indexing": draw(st.sampled_from(["xy", "ij"]))}


row("broadcast_to", spread(), np.broadcast_to)
row("broadcast_arrays", spread_together(), lambda *xs: list(np.broadcast_arrays(*xs)))
row("concat", parts(stacked=False), joined(np.concatenate))
row("stack", parts(stacked=True), joined(np.stack))
row("expand_dims", expanded(), np.expand_dims)
row("flip", with_axes([None]), np.flip)
row("moveaxis", moved(), np.moveaxis)
row("pad", padded(), lambda x, widths, **how: np.pad(x, widths, **how))
row("permute_dims", permuted(), np.transpose)
row("reshape", reshaped(), np.reshape)
row("squeeze", squeezed(), lambda x, axis: np.squeeze(x, axis))
row("take", picked(), take)
row("take_along_axis", picked_along(), take_along)
row("repeat", repeated(), np.repeat)
row("roll", rolled(), np.roll)
row("tile", tiled(), np.tile)
row("unstack", unstacked(), lambda x, axis: list(np.moveaxis(x, axis, 0)))
row("matrix_transpose", call(seen(2)), np.matrix_transpose, also=["linalg.matrix_transpose"])
row("tril", triangles(), np.tril)
row("triu", triangles(), np.triu)
row("meshgrid", coordinates(), lambda *xs, indexing: list(np.meshgrid(*xs, indexing=indexing)))

again("Array.reshape", "reshape", lambda x, shape: x.reshape(*shape) if shape else x.reshape(()))
again(
    "Array.transpose", "permute_dims", lambda x, axes: x.transpose(axes) if axes else x.transpose()
)
again("Array.mT", "matrix_transpose", lambda x: x.mT)
again("Array.repeat", "repeat", lambda x, repeats, axis: x.repeat(repeats, axis))
row("Array.ravel", call(seen()), np.ravel, lambda x: x.ravel())
row("Array.flatten", call(seen()), np.ravel, lambda x: x.flatten())
row("Array.copy", call(seen()), np.copy, lambda x: x.copy())
row("Array.T", call(seen(2, 2)), np.transpose, lambda x: x.T)
row("Array.to_device", call(seen()), np.copy, lambda x: x.to_device(x.device), ["Array.device"])
row("Array.squeeze", call(seen()), np.squeeze, lambda x: x.squeeze())
row("Array.__iter__", call(seen(1, nelems=40)), lambda x: list(x), lambda x: list(x))


@st.composite
def swapped(draw):
    x = draw(seen(1))
    return (x, draw(axes_of(x.host.ndim)), draw(axes_of(x.host.ndim))), {}


row("Array.swapaxes", swapped(), np.swapaxes, lambda x, a, b: x.swapaxes(a, b))


@st.composite
def picked_flat(draw):
    x = draw(seen(1, empty=False))
    axis = draw(st.none() | axes_of(x.host.ndim))
    size = x.host.size if axis is None else x.host.shape[axis]
    return (x, draw(indices(size, draw(shapes(0, min(2, 9 - x.host.ndim), nelems=300))))), {
        "axis": axis
    }


row(
    "Array.take",
    picked_flat(),
    lambda x, at, axis: np.take(x, at, axis),
    lambda x, at, axis: x.take(at, axis),
)
