"""Indexing and assignment, by numbers, slices, arrays of integers and masks."""

import numpy as np
from hypothesis import strategies as st
from of_places import indices, seen
from operands import Operand, broadcasting, elements, operands, shapes
from rows import row


@st.composite
def slices(draw, size):
    place = st.none() | st.integers(-size - 2, size + 2)
    return slice(draw(place), draw(place), draw(st.sampled_from([None, 1, 2, -1, -2, 3, -7])))


@st.composite
def keys(draw, shape, arrays=True):
    """What stands between the brackets: numbers, slices, new axes, arrays of integers."""
    rank = len(shape)
    named = draw(st.integers(0, rank))
    at_front = draw(st.integers(0, named))
    axes = [*range(at_front), *range(rank - named + at_front, rank)]
    lead = draw(shapes(0, 2, nelems=40)) if arrays and draw(st.integers(0, 2)) == 0 else None
    key, places = [], []
    for axis in axes:
        size = shape[axis]
        kinds = (
            ["slice", "slice"]
            + ["number"] * (size > 0)
            + ["array"] * (lead is not None and size > 0)
        )
        kind = draw(st.sampled_from(kinds))
        if kind == "slice":
            key.append(draw(slices(size)))
        elif kind == "number":
            key.append(draw(st.integers(-size, size - 1)))
        else:
            key.append(draw(indices(size, broadcasting(lead), ("int32", "int16", "uint8"))))
            places.append(len(key))
    if named < rank or draw(st.integers(0, 3)) == 0:
        key.insert(at_front, Ellipsis)
    if rank + len(lead or ()) < 7 and draw(st.integers(0, 2)) == 0:
        key.insert(draw(st.integers(0, len(key))), None)
    return tuple(key)


def indexable(draw):
    return draw(seen(most=5, nelems=1200))


@st.composite
def cut(draw):
    x = indexable(draw)
    key = draw(keys(x.host.shape))
    return (x, key[0] if len(key) == 1 and draw(st.booleans()) else key), {}


row("Array.__getitem__", cut(), lambda x, key: np.asarray(x[key]), lambda x, key: x[key])


@st.composite
def assigned(draw):
    """A key, and what is put there: an array of its shape, or a number."""
    x = indexable(draw)
    key = draw(keys(x.host.shape, arrays=False))
    target = x.host[key].shape
    dtype = x.host.dtype.name
    value = draw(
        elements(dtype, "any")
        if draw(st.booleans())
        else operands(dtype, broadcasting(target), "bits")
    )
    return (x, key, value), {}


def assign(x, key, value):
    x = x.copy()
    x[key] = value
    return x


row("Array.__setitem__", assigned(), assign, assign)


@st.composite
def assigned_at(draw):
    """Places along an axis, each once, and what is put there."""
    x = indexable(draw)
    at = draw(st.integers(0, max(0, x.host.ndim - 1)))
    size = x.host.shape[at] if x.host.ndim else 0
    if not size:
        return (x, ..., draw(elements(x.host.dtype.name, "any"))), {}
    few = draw(st.permutations(range(-min(size, 9), 0)))[: draw(st.integers(1, min(size, 9)))]
    key = (*(slice(None),) * at, Operand(np.array(few, "i2")))
    dtype, target = x.host.dtype.name, (*x.host.shape[:at], len(few), *x.host.shape[at + 1 :])
    value = elements(dtype, "any") | operands(dtype, broadcasting(target), "bits")
    return (x, key, draw(value)), {}


row("Array[indices] =", assigned_at(), assign, assign)


@st.composite
def masked(draw):
    x = draw(seen(nelems=1200))
    kept = draw(st.integers(0, x.host.ndim))
    mask, key = draw(operands("bool", x.host.shape[:kept])), []
    for size in x.host.shape[kept : draw(st.integers(kept, x.host.ndim))] if kept else ():
        number = st.integers(-size, size - 1) if size and not key else st.nothing()
        key.append(draw(slices(size) | number))
    return (x, (mask, *key) if key else mask), {}


row("Array[mask]", masked(), lambda x, mask: x[mask], lambda x, mask: x[mask])


@st.composite
def assigned_masked(draw):
    x = draw(seen(nelems=1200))
    mask = draw(operands("bool", x.host.shape[: draw(st.integers(0, x.host.ndim))]))
    dtype, rest = x.host.dtype.name, x.host.shape[mask.host.ndim :]
    count = int(mask.host.sum())
    value = elements(dtype, "any") | operands(dtype, broadcasting(rest), "bits")
    if mask.host.ndim:  # one for each that is chosen
        value |= operands(dtype, (count, *rest), "bits")
    return (x, mask, draw(value)), {}


row("Array[mask] =", assigned_masked(), assign, assign)
