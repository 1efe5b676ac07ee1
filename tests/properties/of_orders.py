"""Sorting, searching and sets."""

import numpy as np
from hypothesis import strategies as st
from of_elements import PAIRS
from operands import DTYPES, ORDERED, Operand, axes_of, elements, operands, shapes
from rows import met, row
from verdict import Same


def values(draw):
    """Many equals, or any values."""
    return draw(st.sampled_from(["any", "mild", "special"]))


@st.composite
def sorted_along(draw):
    shape = draw(shapes(1))
    how = {"axis": draw(axes_of(len(shape)))}
    for option in ("descending", "stable"):
        if draw(st.booleans()):
            how[option] = draw(st.booleans())
    return (draw(operands(ORDERED, shape, values(draw))),), how


def order(x, axis=-1, descending=False, stable=True):
    """Equals keep their order; NaN is greater than all."""
    if not descending:
        return np.argsort(x, axis, stable=True).astype("i4")
    backwards = np.argsort(np.flip(x, axis), axis, stable=True)
    return np.flip(x.shape[axis] - 1 - backwards, axis).astype("i4")


def in_order(x, axis=-1, **how):
    return np.take_along_axis(x, order(x, axis, **how), axis)


@st.composite
def first_ones(draw):
    shape = draw(shapes(1))
    axis = draw(axes_of(len(shape)))
    x = draw(operands(ORDERED, shape, values(draw)))
    k = draw(st.integers(0, min(shape[axis], 5)) | st.just(shape[axis]))
    return (x, k), {"axis": axis, "mode": draw(st.sampled_from(["largest", "smallest"]))}


def first(x, k, axis, mode):
    places = np.take(order(x, axis, mode == "largest"), range(k), axis)
    return [np.take_along_axis(x, places, axis), places]


row("sort", sorted_along(), in_order)
row("argsort", sorted_along(), order)
row("top_k", first_ones(), first)


@st.composite
def searched(draw):
    pairs = [pair for pair in PAIRS if "complex64" not in pair]
    one, two = draw(st.sampled_from(pairs))
    x = draw(operands(one, shapes(1, 1), values(draw)))
    y = (
        draw(operands(two, domain=values(draw)))
        if draw(st.integers(0, 4))
        else draw(elements(one, "finite"))
    )
    how = {"side": draw(st.sampled_from(["left", "right"]))}
    in_turn = np.argsort(x.host, stable=True)
    if draw(st.booleans()):
        how["sorter"] = Operand(in_turn.astype(draw(st.sampled_from(["int32", "uint16"]))))
    else:
        x = Operand(x.host[in_turn])
    return (x, y), how


def places(x, y, side, sorter=None):
    a, b = met(x if sorter is None else x[sorter], y)
    # Numbers that fall together as floats stay in order; so does nothing else.
    return np.asarray(np.searchsorted(a, b, side)).astype("i4")


row("searchsorted", searched(), places)


@st.composite
def nonzeros(draw):
    x = draw(operands(DTYPES, shapes(1), values(draw)))
    how = {}
    if draw(st.booleans()):
        how = {"size": draw(st.integers(0, 9)), "fill_value": draw(st.integers(-3, 3))}
    return (x,), how


def cut(found, size, fill_value):
    """As many as are asked for."""
    if size is None:
        return found
    found = found[:size]
    return np.append(found, np.full(size - len(found), fill_value)).astype(found.dtype)


def nonzero(x, size=None, fill_value=0):
    return [cut(each.astype("i4"), size, fill_value) for each in np.nonzero(x)]


row("nonzero", nonzeros(), nonzero)


@st.composite
def sets(draw):
    x = draw(operands(ORDERED, shapes(), values(draw)))
    how = {}
    if draw(st.integers(0, 2)) == 0:
        how = {
            "size": draw(st.integers(0, 9)),
            "fill_value": draw(elements(x.host.dtype.name, "finite")),
        }
    return (x,), how


def distinct(*names):
    """Some of what NumPy finds out about distinct elements."""

    def reference(x, size=None, fill_value=0):
        found = np.unique(x, True, True, True, equal_nan=False)
        values, indices, inverse, counts = found
        made = {
            "values": Same(cut(values, size, fill_value)),
            "indices": cut(indices.astype("i4"), size, 0),
            "inverse": inverse.reshape(x.shape).astype("i4"),
            "counts": cut(counts.astype("i4"), size, 0),
        }
        return [made[name] for name in names] if len(names) > 1 else made[names[0]]

    return reference


row("unique_all", sets(), distinct("values", "indices", "inverse", "counts"))
row("unique_counts", sets(), distinct("values", "counts"))
row("unique_inverse", sets(), distinct("values", "inverse"))
row("unique_values", sets(), distinct("values"))


@st.composite
def members(draw):
    one, two = draw(st.sampled_from([pair for pair in PAIRS if "complex64" not in pair]))
    x, y = (draw(operands(dtype, shapes(), values(draw))) for dtype in (one, two))
    kind = draw(st.integers(0, 5))
    number = draw(elements(one, "mild"))
    given = (x, number) if kind == 0 else (number, x) if kind == 1 else (x, y)
    return given, {"invert": draw(st.booleans())}


def is_in(x, y, invert):
    a, b = met(x, y)
    return np.asarray(np.isin(a, b, invert=invert))


row("isin", members(), is_in)
