"""Functions of dtypes and shapes, which the host answers: against NumPy's answers."""

import numpy as np
from hypothesis import strategies as st
from operands import DTYPES, KIND_OF, broadcasting, operands, shapes
from rows import call, row
from verdict import RefusedError

import aiogpu as gpu

KINDS = {
    "bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu",
    "real floating": "f", "complex floating": "c", "numeric": "iufc",
}  # fmt: skip
dtypes = st.sampled_from(DTYPES)


def answer(value):
    """What the host answers, as an array that is compared."""
    return np.asarray(value)


def meeting(*given):
    """NumPy's own, within 32 bits; bools with numbers, and int32 with uint32, are refused."""
    kinds = {KIND_OF[np.dtype(each).kind] for each in given}
    if "bool" in kinds and len(kinds) > 1:
        raise RefusedError(gpu.errors.DTypeError)
    found = np.result_type(*given)
    narrow = {"float64": "float32", "complex128": "complex64"}
    if found.name == "int64":
        raise RefusedError(gpu.errors.DTypeError)
    return narrow.get(found.name, found.name)


def type_of(array_or_dtype):
    return array_or_dtype.dtype.name if isinstance(array_or_dtype, np.ndarray) else array_or_dtype


def can_cast(given, wanted):
    try:
        return answer(meeting(type_of(given), wanted) == wanted)
    except RefusedError:
        return answer(False)


row(
    "result_type", call(dtypes | operands(), dtypes),
    lambda x, y: answer(meeting(type_of(x), y)), lambda x, y: answer(gpu.result_type(x, y).name),
)  # fmt: skip
row(
    "can_cast", call(dtypes | operands(), dtypes), can_cast,
    lambda x, y: answer(gpu.can_cast(x, y)),
)  # fmt: skip
row(
    "isdtype", call(dtypes, st.sampled_from([*KINDS, *DTYPES, ("bool", "integral")])),
    lambda dtype, kind: answer(
        any(
            np.dtype(dtype).kind in KINDS[each] if each in KINDS else dtype == each
            for each in (kind if isinstance(kind, tuple) else (kind,))
        )
    ),
    lambda dtype, kind: answer(gpu.isdtype(dtype, kind)),
)  # fmt: skip


def limits(inspect, kinds, fields):
    def reference(given):
        if np.dtype(type_of(given)).kind not in kinds:
            raise RefusedError(gpu.errors.DTypeError)
        info = inspect(type_of(given))
        return answer([float(getattr(info, name)) for name in fields])

    return reference


FINFO = ("bits", "eps", "max", "min", "smallest_normal")
row(
    "finfo", call(dtypes | operands()), limits(np.finfo, "fc", FINFO),
    lambda x: answer([float(getattr(gpu.finfo(x), name)) for name in FINFO]),
)  # fmt: skip
row(
    "iinfo", call(dtypes | operands()), limits(np.iinfo, "iu", ("bits", "max", "min")),
    lambda x: answer([float(getattr(gpu.iinfo(x), name)) for name in ("bits", "max", "min")]),
)  # fmt: skip


@st.composite
def meeting_shapes(draw):
    shape = draw(shapes())
    return tuple(draw(broadcasting(shape)) for _ in range(draw(st.integers(1, 3)))), {}


row(
    "broadcast_shapes", meeting_shapes(), lambda *given: answer(np.broadcast_shapes(*given)),
    lambda *given: answer(gpu.broadcast_shapes(*given)),
)  # fmt: skip


def facts(x):
    """What an array says of itself."""
    nbytes = x.nbytes
    return answer([*x.shape, x.ndim, x.size, nbytes, len(x) if x.ndim else 0])


row(
    "Array.shape", call(operands()), facts, facts,
    ["Array.ndim", "Array.size", "Array.nbytes", "Array.__len__", "Array.dtype"],
)  # fmt: skip
