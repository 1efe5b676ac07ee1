"""Creation of arrays."""

import math

import numpy as np
from hypothesis import strategies as st
from of_places import seen
from operands import DTYPES, elements, operands, shapes
from rows import call, cast, named, row
from verdict import RefusedError, Within

import aiogpu as gpu


@st.composite
def given_numbers(draw):
    """Nested lists, NumPy's arrays of any layout, and wide dtypes that are narrowed."""
    host = draw(operands(shape=shapes(nelems=300), domain="any")).host
    kind = draw(st.sampled_from(["array", "list", "fortran", "reversed", "cast"]))
    dtype = host.dtype.name
    if kind == "list":
        dtype = {"b": "bool", "i": "int32", "u": "int32", "f": "float32", "c": "complex64"}[
            host.dtype.kind
        ]
        if host.dtype == "uint32":
            dtype = "uint32"
        dtype = dtype if host.size else "float32"
        given = (
            {"dtype": dtype}
            if host.dtype == "uint32" or not host.size or draw(st.booleans())
            else {}
        )
        listed = host.tolist()  # an empty list says nothing of the axes behind
        return (listed,), {**given, "wanted": cast(host, dtype).reshape(np.shape(listed))}
    if kind == "fortran":
        return (np.array(host, order="F"),), {"wanted": host}
    if kind == "reversed":
        return (host[::-1] if host.ndim else host,), {"wanted": host[::-1] if host.ndim else host}
    if kind == "cast":
        to = draw(st.sampled_from(DTYPES))
        if host.dtype.kind == "c" and np.dtype(to).kind not in "bc":
            to = "complex64"
        if np.dtype(to).kind in "iu" and host.dtype.kind != "b":
            to = dtype  # numbers that do not fit are refused
        return (host,), {"dtype": to, "wanted": cast(host, to)}
    return (host,), {"wanted": host}


for _name in ("array", "asarray"):
    row(
        _name, given_numbers(), lambda _, wanted, **how: np.asarray(wanted),
        lambda x, wanted, _name=_name, **how: named(_name)(x, **how),
    )  # fmt: skip


def optional_dtype(dtypes=DTYPES):
    return st.none() | st.sampled_from(dtypes)


def filled(value):
    return lambda shape, dtype=None: np.full(shape, value, dtype or "float32")


def like(value):
    return lambda x, dtype=None: np.full(x.shape, value, dtype or x.dtype)


for _name, _value in (("zeros", 0), ("ones", 1), ("empty", 0)):
    row(_name, call(shapes() | st.integers(0, 70), dtype=optional_dtype()), filled(_value))
    row(f"{_name}_like", call(seen(), dtype=optional_dtype()), like(_value))


@st.composite
def fills(draw, start):
    dtype = draw(st.sampled_from(DTYPES))
    return (draw(start), draw(elements(dtype, "any"))), {"dtype": dtype}


row("full", fills(shapes()), lambda shape, value, dtype: np.full(shape, value, dtype))
row("full_like", fills(seen()), lambda x, value, dtype: np.full(x.shape, value, dtype))


@st.composite
def counts(draw):
    dtype = draw(optional_dtype([each for each in DTYPES if each not in {"bool", "complex64"}]))
    number = st.integers(-300, 300)
    if dtype is None or np.dtype(dtype).kind == "f":
        number |= st.integers(-640, 640).map(lambda n: n / 8) | st.floats(-99, 99, width=16)
    elif dtype in {"uint8", "int8"} or dtype[0] == "u":
        number = st.integers(0, 100)
    step = draw(number.filter(lambda x: abs(x) > 0.05))
    first, last = draw(number), draw(number)
    return ((last,) if draw(st.integers(0, 3)) == 0 and dtype is None else (first, last, step)), {
        "dtype": dtype
    }


def count(*given, dtype=None):
    whole = all(isinstance(x, int) for x in given)
    dtype = dtype or ("int32" if whole else "float32")
    start, stop, step = (0, given[0], 1) if len(given) == 1 else given
    length = max(0, math.ceil((stop - start) / step))
    if np.dtype(dtype).kind in "iu":
        last = start + (length - 1) * step
        info = np.iinfo(dtype)
        if length and not (info.min <= min(start, last) and max(start, last) <= info.max):
            raise RefusedError(gpu.errors.IntegerOverflowError)
        return (start + np.arange(length) * step).astype(dtype)
    places = np.arange(length) * float(np.float32(step))
    value = float(np.float32(start)) + places
    error = 2.0**-23 * (np.abs(value) + 2 * np.abs(places)) if not whole else np.zeros(length)
    if dtype == "float16":
        error = error + 2.0**-11 * (abs(start) + np.abs(places))
    return Within(value, error, dtype)


row("arange", counts(), count)


@st.composite
def spaced(draw):
    number = st.integers(-99, 99) | st.floats(-99, 99, width=32, allow_subnormal=False)
    if draw(st.integers(0, 3)) == 0:
        number |= elements("complex64", "mild")
    how = {"num": draw(st.sampled_from([5, 1, 2, 0, 64, 257])), "endpoint": draw(st.booleans())}
    return (draw(number), draw(number)), how


def space(start, stop, num, endpoint):
    dtype = "complex64" if complex in {type(start), type(stop)} else "float32"
    wide = np.dtype("c16" if dtype == "complex64" else "f8")
    value = np.linspace(start, stop, num, endpoint=endpoint, dtype=wide)
    return Within(value, 2.0**-24 * (abs(start) + abs(stop)), dtype)


row("linspace", spaced(), space)
row(
    "eye",
    call(
        st.integers(0, 40),
        st.none() | st.integers(0, 40),
        k=st.integers(-45, 45),
        dtype=optional_dtype(),
    ),
    lambda n, m, k, dtype: np.eye(n, m, k, dtype or "float32"),
)


def refused(*_):
    raise RefusedError(gpu.errors.UsageError)


row("from_dlpack", call(st.integers()), refused)
