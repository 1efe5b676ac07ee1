"""Sums of products, diagonals, and norms of vectors."""

import string

import numpy as np
from hypothesis import strategies as st
from of_elements import PAIRS
from operands import (
    DTYPES,
    NUMERIC,
    axes_of,
    broadcasting,
    operands,
    several_axes,
    shapes,
)
from rows import accumulating, again, cast, met, row, sizes, wide, wrapped
from verdict import RefusedError, Within, within

import aiogpu as gpu

MEETING = [pair for pair in PAIRS if "bool" not in pair]


def product(function, *given, terms):
    """A sum of products, of as many terms as are named, each of which may round."""
    given = met(*given)
    dtype = given[0].dtype
    value = np.asarray(function(*(wide(x) for x in given)))
    if dtype.kind in "iu":
        return wrapped(value, dtype)
    size = function(*(np.abs(wide(x)) for x in given))
    return within(value, 2 * (terms + 1) * (2 if dtype.kind == "c" else 1), dtype.name, size)


def numbers(dtype, shape):
    return operands(dtype, shape, "mild")


SIZES = st.sampled_from([3, 2, 1, 4, 5, 8, 16, 17, 31, 33, 65, 0])


@st.composite
def factors(draw):
    """Matrices whose batches broadcast, or vectors."""
    one, two = draw(st.sampled_from(MEETING))
    m, k, n = draw(SIZES), draw(SIZES), draw(SIZES)
    if m * k * n > 10_000:
        k = 2
    batch = draw(shapes(0, 3, nelems=12))
    left, right = (m, k), (k, n)
    kind = draw(st.integers(0, 9))
    first = (k,) if kind == 1 else (*draw(broadcasting(batch)), *left)
    second = (k,) if kind == 2 else (*draw(broadcasting(batch)), *right)
    return (draw(numbers(one, first)), draw(numbers(two, second))), {}


row(
    "matmul",
    factors(),
    lambda x, y: product(np.matmul, x, y, terms=x.shape[-1]),
    also=["linalg.matmul"],
)
again("Array.__matmul__", "matmul", lambda x, y: x @ y)
again("Array.dot", "matmul", lambda x, y: x.dot(y))


@st.composite
def vectors(draw):
    one, two = draw(st.sampled_from(MEETING))
    shape = draw(shapes(0, 4, nelems=300))
    size = draw(st.sampled_from([3, 1, 0, 64, 65, 300]))
    axis = draw(st.integers(-len(shape) - 1, -1))
    at = len(shape) + 1 + axis
    wide = (*shape[:at], size, *shape[at:])
    # The axis is seen from the back, so leading ones may be missing.
    short = wide[draw(st.integers(0, at)) :]
    return (draw(numbers(one, wide)), draw(numbers(two, short))), {"axis": axis}


def vecdot(x, y, axis):
    y = np.broadcast_to(y, x.shape)
    return product(lambda a, b: np.vecdot(a, b, axis=axis), x, y, terms=x.shape[axis])


row("vecdot", vectors(), vecdot, also=["linalg.vecdot"])


@st.composite
def tensors(draw):
    one, two = draw(st.sampled_from(MEETING))
    common = draw(shapes(0, 3, nelems=200))
    rest = [draw(shapes(0, 2, nelems=20)) for _ in range(2)]
    x, y = (*rest[0], *common), (*common, *rest[1])
    if draw(st.booleans()):
        return (draw(numbers(one, x)), draw(numbers(two, y))), {"axes": len(common)}
    orders = [draw(st.permutations(range(len(shape)))) for shape in (x, y)]
    axes = (
        [orders[0].index(len(rest[0]) + at) for at in range(len(common))],
        [orders[1].index(at) - len(y) for at in range(len(common))],
    )
    given = [
        draw(numbers(dtype, tuple(shape[at] for at in order)))
        for dtype, shape, order in zip((one, two), (x, y), orders, strict=True)
    ]
    return tuple(given), {"axes": axes}


def tensordot(x, y, axes):
    left = range(x.ndim - axes, x.ndim) if isinstance(axes, int) else axes[0]
    return product(lambda a, b: np.tensordot(a, b, axes), x, y, terms=sizes(x.shape, left))


row("tensordot", tensors(), tensordot, also=["linalg.tensordot"])


@st.composite
def einsums(draw):
    """Operands over some letters, each of one size; a letter may be repeated."""
    letters = string.ascii_letters[: draw(st.integers(1, 4))]
    lengths = {each: draw(st.sampled_from([2, 3, 1, 5, 4, 0, 9])) for each in letters}
    dtype = draw(st.sampled_from(NUMERIC))
    count = draw(st.integers(1, 3))
    terms = ["".join(draw(st.lists(st.sampled_from(letters), max_size=4))) for _ in range(count)]
    used = sorted(set("".join(terms)))
    text = ",".join(terms)
    if draw(st.integers(0, 3)):
        text += "->" + "".join(draw(st.permutations(used))[: draw(st.integers(0, len(used)))])
    arrays = [draw(numbers(dtype, tuple(lengths[each] for each in term))) for term in terms]
    return (text, *arrays), {}


def einsum(text, *given):
    shapes = [x.shape for x in given]
    terms = int(np.prod([max(1, n) for shape in shapes for n in shape]))
    return product(lambda *xs: np.einsum(text, *xs), *given, terms=min(terms, 100) + 2 * len(given))


row("einsum", einsums(), einsum)


@st.composite
def lines(draw):
    one, two = draw(st.sampled_from(MEETING))
    return tuple(
        draw(operands(dtype, shapes(1, 1, nelems=257), "mild")) for dtype in (one, two)
    ), {}


row("linalg.outer", lines(), lambda x, y: product(np.outer, x, y, terms=1))


@st.composite
def crossed(draw):
    one, two = draw(st.sampled_from(MEETING))
    shape = draw(shapes(0, 4, nelems=300))
    axis = draw(st.integers(-len(shape) - 1, -1))
    at = len(shape) + 1 + axis
    wide = (*shape[:at], 3, *shape[at:])
    return (draw(numbers(one, wide)), draw(numbers(two, wide[draw(st.integers(0, at)) :]))), {
        "axis": axis
    }


def cross(x, y, axis):
    made = product(lambda a, b: np.cross(a, b, axis=axis), x, y, terms=2)
    if isinstance(made, np.ndarray):
        return made
    # Products, which are up to 81, are rounded to the dtype before they are subtracted.
    return Within(
        made.value, 2 * 81 * (2.0**-10 if made.dtype == "float16" else 2.0**-22), made.dtype
    )


row("linalg.cross", crossed(), cross)


@st.composite
def diagonals(draw, dtypes):
    x = draw(operands(dtypes, shapes(2, 5), "mild"))
    return (x,), {"offset": draw(st.integers(-6, 6) | st.sampled_from([300, -300]))}


def trace(x, offset):
    dtype = accumulating(x.dtype.name)
    x = cast(np.diagonal(x, offset, -2, -1), dtype)
    value = np.sum(wide(x), -1)
    if x.dtype.kind in "iu":
        return wrapped(value, dtype)
    return within(value, x.shape[-1] + 2, dtype, np.sum(np.abs(wide(x)), -1))


row("linalg.diagonal", diagonals(DTYPES), lambda x, offset: np.diagonal(x, offset, -2, -1))
row("linalg.trace", diagonals(NUMERIC), trace)


# Norms

ORDERS = (2, 1, np.inf, -np.inf, 0, 3, -1, 0.5)


@st.composite
def sized(draw):
    shape = draw(shapes())
    kinds = [st.none(), several_axes(len(shape), 1) if shape else st.none()]
    how = {"axis": draw(draw(st.sampled_from(kinds + ([axes_of(len(shape))] if shape else []))))}
    how |= {"keepdims": draw(st.booleans()), "ord": draw(st.sampled_from(ORDERS))}
    return (draw(numbers(draw(st.sampled_from(NUMERIC)), shape)),), how


def vector_norm(x, axis, keepdims, ord):
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    count = sizes(x.shape, axes)
    size = np.abs(wide(x)).astype("f8")
    if ord in {np.inf, -np.inf}:
        if not count:
            raise RefusedError(gpu.errors.UsageError)
        return within(
            getattr(np, "max" if ord > 0 else "min")(size, axes, keepdims=keepdims), 4, "float32"
        )
    with np.errstate(all="ignore"):
        if ord == 0:
            return Within(np.sum(size != 0, axes, "f8", keepdims=keepdims), 0, "float32")
        total = np.sum(size**ord, axes, keepdims=keepdims)
        value = total ** (1 / ord)
    # Powers are right within units of themselves, and the root divides what the sum is off by.
    return within(
        value,
        (8 + count**0.5) / min(1, abs(ord)) + abs(np.log(np.maximum(total, 1e-30))).max(initial=0),
        "float32",
    )


row("linalg.vector_norm", sized(), vector_norm)
