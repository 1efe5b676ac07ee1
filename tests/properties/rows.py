"""The table: for each public function its arguments as Hypothesis draws them, and the reference."""

import math
import operator
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from operands import Operand
from verdict import RefusedError

import aiogpu as gpu

TABLE = {}


@dataclass
class Row:
    """One function.

    Attributes:
        name: As it is called: ``sum``, ``linalg.svd``, ``Array.reshape``.
        calls: A strategy for its arguments: a tuple, and a dict of those by name.
        reference: Takes the same with NumPy's arrays; gives what must come out, see `verdict`.
        function: Takes the same with aiogpu's arrays; gives one result or several.
        also: Other names that the row covers.
        part: The module that made the row.
    """

    name: str
    calls: Any
    reference: Any
    function: Any
    also: tuple
    part: str


def row(name, calls, reference, function=None, also=()):
    """Put a row into the table."""
    assert name not in TABLE
    frame = sys._getframe(1)
    while frame.f_globals["__name__"] == __name__ or frame.f_code.co_name != "<module>":
        frame = frame.f_back
    part = frame.f_globals["__name__"]
    TABLE[name] = Row(name, calls, reference, function or named(name), tuple(also), part)


def again(name, other, function, also=()):
    """A row with the arguments and the reference of another."""
    row(name, TABLE[other].calls, TABLE[other].reference, function, also)


def named(name):
    """The function of a name, looked up when it is called."""
    return lambda *args, **kwargs: operator.attrgetter(name)(gpu)(*args, **kwargs)


def call(*args, **kwargs):
    """A strategy for arguments that do not depend on each other."""
    return st.tuples(st.tuples(*args), st.fixed_dictionaries(kwargs))


def each(given, function):
    """Arguments with every operand in them, also in lists and dicts, turned into something else."""
    if isinstance(given, Operand):
        return function(given)
    if isinstance(given, list):
        return [each(part, function) for part in given]
    if type(given) is tuple:
        return tuple(each(part, function) for part in given)
    if isinstance(given, Mapping):
        return {name: each(part, function) for name, part in given.items()}
    return given


def names():
    """All that the table covers."""
    return {name for each in TABLE.values() for name in (each.name, *each.also)}


# What aiogpu makes of dtypes, for references


def cast(host, dtype):
    """`astype`: floats truncate and saturate to integers, NaN gives 0; integers wrap."""
    host = np.asarray(host)
    dtype = np.dtype(dtype)
    with np.errstate(all="ignore"):
        if dtype.kind in "iu" and host.dtype.kind == "f":
            info = np.iinfo(dtype)
            whole = np.trunc(np.nan_to_num(host.astype("f8"), nan=0, posinf=2e38, neginf=-2e38))
            return np.clip(whole, float(info.min), float(info.max)).astype("i8").astype(dtype)
        if dtype.kind in "iu" and host.dtype.kind in "iu":
            return host.astype("i8").astype(dtype)
        return host.astype(dtype)


def meeting(*given):
    """The dtype in which operands and Python numbers meet, as NumPy calls it."""
    try:
        return gpu.result_type(
            *(each.dtype.name if hasattr(each, "dtype") else each for each in given)
        ).name
    except gpu.errors.IntegerOverflowError as error:
        raise RefusedError(type(error)) from None


def met(*given):
    """Operands and Python numbers in the dtype in which they meet."""
    dtype = meeting(*given)
    return [
        cast(each, dtype) if hasattr(each, "dtype") else np.array(each, dtype) for each in given
    ]


def floating(dtype):
    """float32 for bools and integers."""
    return dtype if np.dtype(dtype).kind in "fc" else "float32"


def accumulating(dtype):
    """In which a sum of elements is made."""
    return {"b": "int32", "i": "int32", "u": "uint32"}.get(np.dtype(dtype).kind, dtype)


def wide(host):
    """In 64 bits a part."""
    return host.astype({"b": "i8", "i": "i8", "u": "i8", "f": "f8", "c": "c16"}[host.dtype.kind])


def wrapped(value, dtype):
    """An integer result of any width, modulo that of the dtype."""
    return np.asarray(value).astype("i8").astype(dtype)


def sizes(shape, axes):
    """How many elements along some axes."""
    return math.prod(shape[axis] for axis in axes)
