"""Random numbers: of the words that Philox gives at the generator's place (tests/philox.py)."""

import math

import numpy as np
from hypothesis import strategies as st
from operands import INTEGERS, axes_of, operands, shapes
from rows import call, row
from verdict import Judged, Within, mismatch

import aiogpu as gpu
import philox

KEYS = st.integers(0, 2**64 - 1)
SIZES = shapes(nelems=1100) | st.none() | st.integers(0, 300)


def shape_of(size):
    return () if size is None else (size,) if isinstance(size, int) else tuple(size)


def words(key, skipped, count):
    """The words of a draw behind one of so many elements."""
    return philox.words(key, -(-skipped // 4), -(-count // 4) * 4 + 4)[:count]


def drawing(method):
    """A draw of a generator that has drawn something before."""

    def function(key, skipped, *args, **how):
        rng = gpu.random.Generator(key)
        rng.random(skipped)
        return getattr(rng, method)(*args, **how)

    return function


def generated(name, reference, *args, **how):
    row(f"Generator.{name}", call(KEYS, st.integers(0, 9), *args, **how), reference, drawing(name))


def random(key, skipped, size, dtype):
    shape = shape_of(size)
    bits = words(key, skipped, math.prod(shape))
    made = philox.unit(bits) if dtype == "float32" else ((bits >> 21) * 2.0**-11).astype("f2")
    return made.reshape(shape)


generated("random", random, SIZES, dtype=st.sampled_from(["float32", "float16"]))


@st.composite
def ends(draw, least):
    """Two numbers or arrays, and a size to which they broadcast."""
    shape = draw(shapes(nelems=1100))
    first = draw(
        operands(("float32", "int32"), shape, (-8, 8))
        | st.integers(-3, 3)
        | st.floats(-8, 8, width=16)
    )
    second = draw(
        operands(("float32", "float16"), shape, (least, 8)) | st.floats(max(0, least), 8, width=16)
    )
    return (
        draw(KEYS),
        draw(st.integers(0, 9)),
        first,
        second,
        draw(st.sampled_from([None, shape])),
    ), {}


def sized(first, second, size):
    return np.broadcast_shapes(np.shape(first), np.shape(second)) if size is None else size


def uniform(key, skipped, low, high, size):
    shape = sized(low, high, size)
    unit = philox.unit(words(key, skipped, math.prod(shape))).reshape(shape)
    low, high = (np.asarray(each).astype("f4") for each in (low, high))
    return low + (high - low) * unit


row("Generator.uniform", ends(-8), uniform, drawing("uniform"))


def normal(key, skipped, loc, scale, size):
    shape = sized(loc, scale, size)
    count = math.prod(shape)
    made = philox.normal(words(key, skipped, count + count % 2))[:count].reshape(shape)
    loc, scale = (np.asarray(each).astype("f8") for each in (loc, scale))
    value = loc + scale * made
    return Within(value, 2.0**-23 * (8 * np.abs(scale * made) + np.abs(value)), "float32")


row("Generator.normal", ends(0), normal, drawing("normal"))


@st.composite
def ranges(draw):
    dtype = draw(st.sampled_from(INTEGERS))
    info = np.iinfo(dtype)
    low, high = sorted(draw(st.integers(int(info.min), int(info.max))) for _ in range(2))
    how = {"dtype": dtype, "endpoint": draw(st.booleans()), "size": draw(SIZES)}
    return (draw(KEYS), draw(st.integers(0, 9)), low, high + (not how["endpoint"])), how


def integers(key, skipped, low, high, size, dtype, endpoint):
    shape = shape_of(size)
    bits = words(key, skipped, math.prod(shape))
    return philox.integers(bits, low, high - low + endpoint).astype(dtype).reshape(shape)


row("Generator.integers", ranges(), integers, drawing("integers"))


@st.composite
def permuted(draw):
    x = draw(st.integers(0, 300) | operands(shape=shapes(1, 5, nelems=1100), domain="bits"))
    how = {} if isinstance(x, int) else {"axis": draw(axes_of(x.host.ndim))}
    return (draw(KEYS), draw(st.integers(0, 9)), x), how


def permutation(key, skipped, x, axis=0):
    x = np.arange(x, dtype="i4") if isinstance(x, int) else x
    order = np.argsort(words(key, skipped, x.shape[axis]), stable=True)
    return np.take(x, order, axis)


row("Generator.permutation", permuted(), permutation, drawing("permutation"))


@st.composite
def chosen(draw):
    x = draw(
        st.integers(1, 300) | operands(shape=shapes(1, 3, nelems=1100, empty=False), domain="bits")
    )
    axis = 0 if isinstance(x, int) else draw(axes_of(x.host.ndim))
    count = x if isinstance(x, int) else x.host.shape[axis]
    how = {"replace": draw(st.booleans()), "axis": axis}
    if how["replace"]:
        how["size"] = draw(shapes(0, 3, nelems=300))
        if draw(st.booleans()):
            parts = [draw(st.integers(0, 3)) for _ in range(min(count, 9))]
            parts = np.resize([*parts, 1], count) + (np.arange(count) == 0)
            how["p"] = (parts / parts.sum()).tolist()
    else:
        how["size"] = draw(st.integers(0, count))
    return (draw(KEYS), draw(st.integers(0, 9)), x), how


def choice(key, skipped, x, size, replace, axis, p=None):
    shape = shape_of(size)
    whole = isinstance(x, int)
    count = x if whole else x.shape[axis]
    wanted = math.prod(shape)
    if not replace:
        at = np.argsort(words(key, skipped, count), stable=True)[:wanted]
    elif p is None:
        at = philox.integers(words(key, skipped, wanted), 0, count)
    else:
        sums = np.cumsum(p)
        edges = np.rint(sums / sums[-1] * 2**32)
        at = np.searchsorted(
            edges[edges < 2**32], words(key, skipped, wanted).astype("f8"), "right"
        )
    at = np.asarray(at).astype("i4").reshape(shape)
    return at if whole else np.take(x, at, axis)


row("Generator.choice", chosen(), choice, drawing("choice"))


def seeded(seed):
    """The same seed gives the same words, in [0, 1)."""

    def judge(got):
        if said := mismatch(np.empty((2, 6), "f4"), got):
            return said
        return "" if (got[0] == got[1]).all() and (got >= 0).all() and (got < 1).all() else "differ"

    return Judged(judge)


row(
    "random.default_rng", call(st.integers(-(2**70), 2**70) | st.lists(st.integers(0, 99))), seeded,
    lambda seed: gpu.stack([gpu.random.default_rng(seed).random(6) for _ in range(2)]),
)  # fmt: skip
