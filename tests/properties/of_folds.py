"""Reductions, and what runs along an axis."""

import numpy as np
from hypothesis import strategies as st
from operands import DTYPES, NUMERIC, ORDERED, REAL, axes_of, operands, several_axes, shapes
from rows import accumulating, again, cast, floating, row, sizes, wide, wrapped
from verdict import RefusedError, Same, Within, require, within

import aiogpu as gpu

SPREAD = ("bool", *REAL)


@st.composite
def reduced(draw, dtypes=DTYPES, domain="special", **options):
    """An array, and the axes over which it is folded: none named, one, or several."""
    shape = draw(shapes())
    x = draw(operands(dtypes, shape, domain))
    rank = len(shape)
    kinds = [st.none(), several_axes(rank)] + ([axes_of(rank)] if rank else [])
    how = {"axis": draw(draw(st.sampled_from(kinds)))}
    if draw(st.booleans()):
        how["keepdims"] = draw(st.booleans())
    for name, option in options.items():
        if (value := draw(option)) is not None:
            how[name] = value
    return (x,), how


def folded(shape, axis):
    """The axes of a reduction, and how many elements each result has."""
    axes = (
        tuple(range(len(shape))) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    )
    return axes, sizes(shape, axes)


def compensated(x, axis, keepdims, dtype):
    """With its errors: Ogita, Rump and Oishi, "Accurate sum and dot product" (2005)."""
    axes, count = folded(x.shape, axis)
    with np.errstate(all="ignore"):
        value = np.sum(wide(x), axes, keepdims=keepdims)
        total = np.sum(np.where(np.isfinite(x), np.abs(wide(x)), 0), axes, keepdims=keepdims)
        size = np.where(np.isfinite(value), np.abs(value), 0)
        if x.dtype.kind == "c":  # not compensated
            return Within(value, (count + 2) * 2.0**-24 * total, dtype)
        return Within(value, count**2 * 2.0**-48 * total + np.spacing(size.astype("f4")), dtype)


def summed(x, axis=None, keepdims=False, dtype=None):
    dtype = accumulating(x.dtype.name) if dtype is None else dtype
    if x.dtype.kind == "c" and np.dtype(dtype).kind != "c":
        raise RefusedError(gpu.errors.DTypeError)
    x = cast(x, dtype)
    axes, _ = folded(x.shape, axis)
    if x.dtype.kind in "iu":
        return wrapped(np.sum(x, axes, "i8", keepdims=keepdims), dtype)
    return compensated(x, axis, keepdims, np.dtype(dtype).name)


def averaged(x, axis=None, keepdims=False):
    dtype = floating(x.dtype.name)
    _, count = folded(x.shape, axis)
    x = x if x.dtype.kind in "fc" else cast(x, "f4")
    value, error, _ = compensated(x, axis, keepdims, dtype)
    with np.errstate(all="ignore"):
        mean = value / count if count else value * np.nan
        units = 2 * 2.0**-23 * np.where(np.isfinite(mean), np.abs(mean), 0)
        return Within(mean, error / max(count, 1) + units, np.dtype(dtype).name)


def multiplied(x, axis=None, keepdims=False, dtype=None):
    dtype = accumulating(x.dtype.name) if dtype is None else dtype
    if x.dtype.kind == "c" and np.dtype(dtype).kind != "c":
        raise RefusedError(gpu.errors.DTypeError)
    x = cast(x, dtype)
    axes, count = folded(x.shape, axis)
    with np.errstate(all="ignore"):
        if x.dtype.kind in "iu":
            return wrapped(np.prod(x, axes, "i8", keepdims=keepdims), dtype)
        # Only where no part of a product is out of range, in whatever order.
        binades = np.abs(np.log2(np.where(x == 0, 1, np.abs(x)).astype("f8")))
        require(np.sum(np.where(np.isfinite(binades), binades, 0), axes) < 100)
        require(np.isfinite(x) | (x.dtype.kind != "c"))
        value = np.prod(wide(x), axes, keepdims=keepdims)
    return within(value, (3 if x.dtype.kind == "c" else 1) * (count + 1), np.dtype(dtype).name)


def spread(x, axis=None, keepdims=False, correction=0.0):
    """The variance: in two passes, so the mean's rounding counts by its square."""
    dtype = floating(x.dtype.name)
    axes, count = folded(x.shape, axis)
    data = x.astype("f4").astype("f8")
    if count - correction <= 0:
        return Within(np.full(np.sum(data, axes, keepdims=keepdims).shape, np.nan), 0, dtype)
    with np.errstate(all="ignore"):
        mean = np.mean(data, axes, keepdims=True)
        rest = data - mean
        # Each distance is off by a unit of itself, and all by the mean's rounding.
        off = 2.0**-23 * (np.abs(rest) + np.abs(mean))
        total = np.sum(rest * rest, axes, keepdims=keepdims)
        error = np.sum(
            off * off + 2 * np.abs(rest) * 2.0**-23 * np.abs(rest), axes, keepdims=keepdims
        )
        value, error = total / (count - correction), error / (count - correction)
    return Within(
        value,
        np.nan_to_num(error, nan=0, posinf=0) + 4 * 2.0**-23 * np.nan_to_num(value, posinf=0),
        dtype,
    )


def deviation(x, **how):
    value, error, dtype = spread(x, **how)
    with np.errstate(all="ignore"):
        root = np.sqrt(value)
        # The root of what is off by as much as it is large is off by the root of that.
        off = np.maximum(
            np.sqrt(value + error) - root, root - np.sqrt(np.maximum(value - error, 0))
        )
    return Within(root, np.nan_to_num(off) + 2.0**-23 * np.nan_to_num(root, posinf=0), dtype)


def extreme(name):
    def reference(x, axis=None, keepdims=False):
        axes, count = folded(x.shape, axis)
        shape = np.sum(x, axes, keepdims=keepdims).shape
        if not count and 0 not in shape:
            raise RefusedError(gpu.errors.UsageError)
        if not count or 0 in shape:
            # NumPy has no result for no elements even where there are no results.
            return np.zeros(shape, x.dtype)
        return Same(np.asarray(getattr(np, name)(x, axes, keepdims=keepdims)))

    return reference


@st.composite
def searched(draw, dtypes=ORDERED):
    shape = draw(shapes())
    x = draw(operands(dtypes, shape, draw(st.sampled_from(["any", "mild"]))))
    axis = draw(st.none() | axes_of(len(shape)) if shape else st.none())
    return (x,), {"axis": axis, "keepdims": draw(st.booleans())}


def place(name):
    def reference(x, axis=None, keepdims=False):
        along = x.size if axis is None else x.shape[axis]
        rest = [1] if axis is None else [n for at, n in enumerate(x.shape) if at != axis % x.ndim]
        if not along and 0 not in rest:
            raise RefusedError(gpu.errors.UsageError)
        if 0 in x.shape:
            return np.sum(x, axis, "i4", keepdims=keepdims)
        return np.asarray(getattr(np, name)(x, axis, keepdims=keepdims)).astype("i4")

    return reference


def truth(name):
    return lambda x, axis=None, keepdims=False: np.asarray(
        getattr(np, name)(cast(x, bool), folded(x.shape, axis)[0], keepdims=keepdims)
    )


def counted(x, axis=None, keepdims=False):
    return np.sum(cast(x, bool), folded(x.shape, axis)[0], "i4", keepdims=keepdims)


ACCUMULATORS = st.none() | st.sampled_from([each for each in DTYPES if each != "bool"])
row("sum", reduced(dtype=ACCUMULATORS), summed)
row("prod", reduced(domain="mild", dtype=ACCUMULATORS), multiplied)
row("mean", reduced(), averaged)
row("var", reduced(SPREAD, "mild", correction=st.sampled_from([None, 0, 1, 2.5])), spread)
row("std", reduced(SPREAD, "mild", correction=st.sampled_from([None, 0, 1, 2.5])), deviation)
row("all", reduced(domain="any"), truth("all"))
row("any", reduced(domain="any"), truth("any"))
row("max", reduced(ORDERED, "any"), extreme("max"))
row("min", reduced(ORDERED, "any"), extreme("min"))
row("count_nonzero", reduced(domain="any"), counted)
row("argmax", searched(), place("argmax"))
row("argmin", searched(), place("argmin"))
for _name in ("sum", "prod", "mean", "var", "std", "all", "any", "max", "min", "argmax", "argmin"):
    again(f"Array.{_name}", _name, lambda x, _name=_name, **how: getattr(x, _name)(**how))


# Along an axis


@st.composite
def cumulated(draw, domain):
    dtype = draw(st.sampled_from(REAL))
    shape = draw(shapes(1))
    how = {"axis": draw(axes_of(len(shape)))}
    if len(shape) == 1 and draw(st.booleans()):
        how = {}
    if draw(st.booleans()):
        how["include_initial"] = draw(st.booleans())
    if draw(st.integers(0, 3)) == 0:
        how["dtype"] = draw(st.sampled_from(REAL))
    return (draw(operands(dtype, shape, domain)),), how


def with_initial(value, error, axis, first):
    """One more before all others."""
    shape = [1 if at == axis % value.ndim else n for at, n in enumerate(value.shape)]
    start = np.full(shape, first, value.dtype)
    return np.concatenate([start, value], axis), np.concatenate([np.zeros(shape), error], axis)


def running_sum(x, axis=0, include_initial=False, dtype=None):
    dtype = np.dtype(accumulating(x.dtype.name) if dtype is None else dtype).name
    x = cast(x, dtype)
    with np.errstate(all="ignore"):
        value = np.cumsum(wide(x), axis)
        total = np.cumsum(np.nan_to_num(np.abs(wide(x)), posinf=0), axis)
        size = np.nan_to_num(np.abs(value), posinf=0).astype("f4")
        error = x.shape[axis] ** 2 * 2.0**-48 * total + np.spacing(size)
    if include_initial:
        value, error = with_initial(value, error, axis, 0)
    return wrapped(value, dtype) if x.dtype.kind in "iu" else Within(value, error, dtype)


def running_product(x, axis=0, include_initial=False, dtype=None):
    dtype = np.dtype(accumulating(x.dtype.name) if dtype is None else dtype).name
    x = cast(x, dtype)
    with np.errstate(all="ignore"):
        value = np.cumprod(wide(x), axis)
        if x.dtype.kind == "f":
            binades = np.abs(np.log2(np.where(x == 0, 1, np.abs(x)).astype("f8")))
            require(np.sum(binades, axis) < 100)
        error = (
            np.abs(value) * 2.0**-23 * (x.shape[axis] + 1) if x.dtype.kind == "f" else value * 0.0
        )
    if include_initial:
        value, error = with_initial(value, error, axis, 1)
    return wrapped(value, dtype) if x.dtype.kind in "iu" else Within(value, error, dtype)


row("cumulative_sum", cumulated("special"), running_sum)
row("cumulative_prod", cumulated("mild"), running_product)


@st.composite
def flattened(draw):
    (x,), how = draw(cumulated("special"))
    return (x,), {"axis": draw(st.sampled_from([None, how.get("axis", 0)]))}


row(
    "Array.cumsum", flattened(),
    lambda x, axis: running_sum(x.ravel() if axis is None else x, axis=axis or 0),
    lambda x, axis: x.cumsum(axis),
)  # fmt: skip


@st.composite
def differences(draw):
    dtype = draw(st.sampled_from(("bool", *NUMERIC)))
    shape = draw(shapes(1))
    axis = draw(axes_of(len(shape)))
    how = {"axis": axis, "n": draw(st.integers(0, 3))}
    for name in ("prepend", "append"):
        if draw(st.integers(0, 3)) == 0:
            part = list(shape)
            part[axis] = draw(st.integers(0, 3))
            how[name] = draw(operands(dtype, tuple(part), "mild"))
    return (draw(operands(dtype, shape, "mild")),), how


def difference(x, axis, n, prepend=None, append=None):
    parts = [part for part in (prepend, x, append) if part is not None]
    value = np.concatenate(parts, axis)
    # Once there is nothing left, NumPy goes on as we do.
    for _ in range(n):
        value = np.diff(value, axis=axis)
    if x.dtype.kind in "fc":
        # Fused, the differences of differences are not rounded each.
        return within(value, 1 if n > 1 else 0, x.dtype.name, 2.0**n * 9)
    return value


row("diff", differences(), difference)
