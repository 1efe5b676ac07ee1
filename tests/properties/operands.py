"""Arrays that Hypothesis draws: their dtype, shape, values, and the views that lead to them.

An `Operand` holds what is drawn as plain data: an array of the host, and steps (slices, transposes,
broadcasts and so on) that NumPy and aiogpu both walk. So one draw gives both sides of a comparison.
"""

import math
from functools import cache, cached_property

import numpy as np
from hypothesis import strategies as st

import aiogpu as gpu

inf, nan = math.inf, math.nan
DTYPES = (
    "float32", "int32", "bool", "float16", "uint8", "complex64", "int8", "uint16", "int16",
    "uint32",
)  # fmt: skip
INTEGERS = ("int32", "uint8", "int8", "uint16", "int16", "uint32")
FLOATS = ("float32", "float16")
REAL = (*FLOATS, *INTEGERS)
NUMERIC = (*REAL, "complex64")
ORDERED = (*REAL, "bool")
# Around words of packed elements, workgroups, tiles, and what one invocation walks.
EDGES = (
    7,
    8,
    9,
    15,
    16,
    17,
    31,
    32,
    33,
    63,
    64,
    65,
    127,
    128,
    129,
    255,
    256,
    257,
    1023,
    1024,
    1025,
)
MAX_NELEMS = 2500
KIND_OF = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}


class Operand:
    """An array, as what is on the host and the steps of the views that lead from it.

    Attributes:
        base: What is uploaded.
        steps: Names and arguments of the steps, in order.
    """

    def __init__(self, base, steps=()):
        self.base = base
        self.steps = tuple(steps)

    @cached_property
    def host(self):
        """The value by NumPy."""
        return np.array(self._walked(np, self.base), order="C")

    def array(self):
        """The value by aiogpu."""
        return self._walked(gpu, gpu.asarray(self.base))

    def _walked(self, xp, x):
        for name, argument in self.steps:
            x = STEPS[name](xp, x, argument)
        return x

    def __repr__(self):
        data = self.base
        if data.size > 12 and len(period := _period(data.ravel())) <= 12:
            shown = f"np.resize({period.tolist()}, {data.shape})"
        else:
            shown = np.array2string(data, threshold=20, separator=", ").replace("\n", "")
        return f"{data.dtype.name} {shown}" + "".join(f" .{name}{arg}" for name, arg in self.steps)


def _period(flat):
    for length in range(1, min(13, len(flat))):
        if np.array_equal(np.resize(flat[:length], len(flat)).view("u1"), flat.view("u1")):
            return flat[:length]
    return flat


def _join(xp, x, where):
    """The same, of two parts: computed into memory by a kernel."""
    axis, at = where
    before = (slice(None),) * axis
    return xp.concat([x[(*before, slice(None, at))], x[(*before, slice(at, None))]], axis=axis)


STEPS = {
    "cut": lambda _, x, key: x[key],
    "permute": lambda xp, x, axes: xp.permute_dims(x, axes),
    "reshape": lambda xp, x, shape: xp.reshape(x, shape),
    "broadcast": lambda xp, x, shape: xp.broadcast_to(x, shape),
    "negate": lambda _, x, __: ~x if x.dtype in {np.dtype("bool"), gpu.bool} else -x,
    "join": _join,
}


# Values


@cache
def elements(dtype, domain):
    """One element of a dtype, as a Python number.

    ``any``: all that the dtype holds, but for float32's subnormals, which adapters may flush;
    ``bits``: these too. ``signs``: the same, but no view negates, as that leaves a NaN's sign open.
    ``finite``; ``mild``: small numbers; ``special``: these, infinities and
    NaN. A pair is the least and the greatest.
    """
    kind = np.dtype(dtype).kind
    if kind == "b":
        return st.booleans()
    if kind in "iu":
        return _integers(dtype, domain)
    if kind == "c":
        part = elements("float32", domain)
        return st.builds(complex, part, part)
    return _floats(dtype, domain)


def _integers(dtype, domain):
    info = np.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    if isinstance(domain, tuple):
        return st.integers(max(low, math.ceil(domain[0])), min(high, math.floor(domain[1])))
    if domain in {"mild", "special"}:
        return st.integers(max(low, -9), min(high, 9))
    edges = {0, 1, 2, low, low + 1, high, high - 1, high // 2, max(low, -1), max(low, -2)}
    return st.sampled_from(sorted(edges, key=abs)) | st.integers(low, high)


def _floats(dtype, domain):
    width = 8 * np.dtype(dtype).itemsize
    eighths = st.integers(-64, 64).map(lambda n: n / 8)
    if isinstance(domain, tuple):
        low, high = domain
        return eighths.filter(lambda x: low <= x <= high) | st.floats(
            low, high, width=width, allow_subnormal=False
        )
    special = st.sampled_from([0.0, -0.0, inf, -inf, nan])
    if domain == "mild":
        return eighths | st.floats(-8, 8, width=16, allow_subnormal=False)
    if domain == "special":
        return eighths | special | eighths
    info = np.finfo(dtype)
    most, tiny = float(info.max), float(info.smallest_normal)
    ends = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, most, -most, tiny, -tiny, 1e4, 65504.0]
    whole = st.floats(
        -most, most, width=width, allow_subnormal=domain in {"bits", "signs"} or dtype == "float16"
    )
    each = st.sampled_from(ends) | eighths | whole
    return each if domain == "finite" else each | special


@st.composite
def data(draw, dtype, shape, domain="any"):
    """An array of a few drawn values, in turn or at random places."""
    nelems = math.prod(shape)
    if not nelems:
        return np.zeros(shape, dtype)
    few = draw(st.lists(elements(dtype, domain), min_size=1, max_size=min(nelems, 10)))
    palette = np.array(few, dtype)
    seed = draw(st.integers(0, 9)) if nelems > len(few) > 1 else 0
    if seed == 0:
        return np.resize(palette, shape)
    return np.random.default_rng(seed).choice(palette, shape)


# Shapes


@st.composite
def shapes(draw, least=0, most=8, nelems=MAX_NELEMS, empty=True):
    """A shape of up to ``nelems`` elements: small sizes, sometimes one around an edge, or 0."""
    ranks = [rank for rank in (1, 2, 0, 3, 1, 2, 4, 5, 6, 8, 7) if least <= rank <= most]
    rank = draw(st.sampled_from(ranks))
    sizes = (2, 3, 1, 4, 5, 6) if rank < 5 else (2, 1, 3)
    shape = [draw(st.sampled_from(sizes)) for _ in range(rank)]
    if rank:
        axis = draw(st.integers(0, rank - 1))
        kind = draw(st.integers(0, 9))
        if kind > 4:
            shape[axis] = draw(st.sampled_from(EDGES))
        elif kind == 4 and empty:
            shape[axis] = 0
    while math.prod(shape) > nelems:
        # The smaller ones make room for the one at an edge.
        small = [at for at in range(rank) if shape[at] > 1 and shape[at] != max(shape)]
        shape[small[-1] if small else shape.index(max(shape))] = 1
    return tuple(shape)


@st.composite
def broadcasting(draw, shape):
    """A shape that broadcasts to another one."""
    if not shape or draw(st.integers(0, 2)) == 0:
        return shape
    kept = [1 if draw(st.booleans()) else size for size in shape]
    return tuple(kept[draw(st.integers(0, len(shape))) :])


def axes_of(rank):
    """An axis, counted from either end."""
    return st.integers(-rank, rank - 1)


@st.composite
def several_axes(draw, rank, least=0):
    """Some axes, each once, counted from either end."""
    order = draw(st.permutations(range(rank)))
    taken = order[: draw(st.integers(least, rank))]
    return tuple(axis - rank if draw(st.booleans()) else axis for axis in taken)


# Views


@st.composite
def _stepped(draw, shape):
    """A slice of a larger array: with a step, from behind, or a part of it."""
    axis = draw(st.integers(0, len(shape) - 1))
    step = draw(st.sampled_from([-1, 2, 1, -2, 3]))
    before, behind = draw(st.integers(0, 3)), draw(st.integers(0, 2))
    size, reach = shape[axis], max(0, (shape[axis] - 1) * abs(step) + 1)
    inner = before + reach + behind
    if not size:
        key = slice(before, before, step)
    elif step > 0:
        key = slice(before, before + reach, step)
    else:
        key = slice(before + reach - 1, before - 1 if before else None, step)
    wide = (*shape[:axis], inner, *shape[axis + 1 :])
    return wide, ("cut", (*(slice(None),) * axis, key))


@st.composite
def _permuted(draw, shape):
    order = tuple(draw(st.permutations(range(len(shape)))))
    inner = [0] * len(shape)
    for at, axis in enumerate(order):
        inner[axis] = shape[at]
    return tuple(inner), ("permute", order)


@st.composite
def _spread(draw, shape):
    return draw(broadcasting(shape)), ("broadcast", shape)


@st.composite
def _joined(draw, shape):
    axis = draw(st.integers(0, len(shape) - 1))
    return shape, ("join", (axis, draw(st.integers(0, shape[axis]))))


def _flat(shape):
    return st.just(((math.prod(shape),), ("reshape", shape)))


def _negated(shape):
    return st.just((shape, ("negate", "")))


VIEWS = (_stepped, _permuted, _spread, _flat, _negated, _joined)


@st.composite
def operands(draw, dtypes=DTYPES, shape=None, domain="any"):
    """An array of one of some dtypes, as it lies in memory or through one or two views."""
    dtype = draw(st.sampled_from(dtypes)) if not isinstance(dtypes, str) else dtypes
    at = draw(shapes()) if shape is None else draw(shape) if not isinstance(shape, tuple) else shape
    # Negation would turn the ends of a range round, and small numbers without a sign into large.
    is_small = dtype[0] == "u" and domain in {"mild", "special"}
    is_closed = isinstance(domain, tuple) or is_small or domain == "signs"
    views = [view for view in VIEWS if view is not _negated or not is_closed]
    steps = []
    for _ in range(draw(st.sampled_from([0, 1, 0, 1, 2]))):
        if not at:
            break
        at, step = draw(draw(st.sampled_from(views))(at))
        steps.append(step)
    return Operand(draw(data(dtype, at, domain)), reversed(steps))
