"""Random expressions against NumPy: trees are made here by Hypothesis, and computed in the worker.

Integers are compared exactly. Floats are made of operations that round once in both (add, subtract,
multiply, minimum, maximum, negative, abs, where), on small integers: they are exact as well.
"""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_pyodide import run_in_pyodide

EXPRESSIONS = 200
BATCH = 50
SHAPES = [(), (1,), (4,), (3, 1), (3, 4), (1, 4), (2, 3, 4), (2, 1, 1)]
UNARY = ["negative", "abs", "square", "sign"]
BINARY = ["add", "subtract", "multiply", "minimum", "maximum"]
CHOICE = ["less", "less_equal", "equal", "not_equal"]
VIEWS = ["flip", "transpose", "first", "every_other", "new_axis", "flat"]
REDUCTIONS = ["sum", "max", "min"]

leaves = st.tuples(
    st.sampled_from(["float32", "int32", "uint8"]), st.sampled_from(SHAPES), st.integers(0, 99)
).map(lambda t: ["leaf", *t])
numbers = st.integers(-4, 9).map(lambda v: ["number", v])


def grown(inner):
    """One operation more; NumPy and aiogpu get the same description."""
    return st.one_of(
        st.tuples(st.sampled_from(UNARY), inner).map(list),
        st.tuples(st.sampled_from(VIEWS), inner).map(list),
        st.tuples(st.sampled_from(REDUCTIONS), inner, st.integers(0, 2), st.booleans()).map(list),
        st.tuples(st.sampled_from(BINARY), inner, st.one_of(inner, numbers)).map(list),
        st.tuples(st.just("where"), st.sampled_from(CHOICE), inner, inner, inner).map(list),
        st.tuples(st.just("cast"), inner, st.sampled_from(["float32", "int32"])).map(list),
        st.tuples(st.just("assign"), inner, inner).map(list),
    )


expressions = st.recursive(leaves, grown, max_leaves=12).filter(lambda e: e[0] != "leaf")


def collected():
    """The same expressions at every run: Hypothesis derives them from the test's own text."""
    found = []

    @settings(
        max_examples=EXPRESSIONS * 2,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(expressions)
    def collect(expression):
        if expression not in found and len(found) < EXPRESSIONS:
            found.append(expression)

    collect()
    return found


@run_in_pyodide
async def compute(selenium_worker, text):
    import json

    import numpy as np

    import aiogpu as gpu

    def leaf(dtype, shape, seed):
        values = np.random.default_rng(seed).integers(0, 7, shape)
        return (values if dtype == "uint8" else values - 3).astype(dtype)

    def view(kind, x, xp):
        if kind == "flip":
            return x[::-1] if x.ndim else x
        if kind == "transpose":
            axes = tuple(reversed(range(x.ndim)))
            return x.transpose(axes) if xp is np else gpu.permute_dims(x, axes)
        if kind == "first":
            return x[0] if x.ndim and x.shape[0] else x
        if kind == "every_other":
            return x[..., ::2] if x.ndim else x
        if kind == "new_axis":
            return x[None] if x.ndim < 4 else x
        return x.reshape(-1)

    def meet(values):
        """One dtype for all, so that NumPy's wider promotions do not come in."""
        kinds = {str(getattr(v.dtype, "name", v.dtype)) for v in values}
        if len(kinds) == 1:
            return values
        wide = "float32" if "float32" in kinds else "int32"
        return [v.astype(wide) for v in values]

    def run(e, xp):
        kind = e[0]
        if kind == "leaf":
            host = leaf(e[1], tuple(e[2]), e[3])
            return host if xp is np else gpu.asarray(host)
        if kind in {"flip", "transpose", "first", "every_other", "new_axis", "flat"}:
            return view(kind, run(e[1], xp), xp)
        if kind == "cast":
            return run(e[1], xp).astype(e[2])
        if kind in {"sum", "max", "min"}:
            x = run(e[1], xp)
            axis = e[2] if e[2] < x.ndim else None
            if kind == "sum" and xp is np:
                wide = np.uint32 if x.dtype == np.uint8 else x.dtype
                return np.asarray(np.sum(x, axis, dtype=wide, keepdims=e[3])).astype(
                    "i4" if wide == np.uint32 else wide
                )
            made = getattr(xp, kind)(x, axis=axis, keepdims=e[3])
            if kind == "sum" and xp is gpu and made.dtype is gpu.uint32:
                made = made.astype("int32")
            return np.asarray(made) if xp is np else made
        if kind == "where":
            a, b = meet([run(e[2], xp), run(e[3], xp)])
            c, d = meet([b, run(e[4], xp)])
            return xp.where(getattr(xp, e[1])(a, b), c, d)
        if kind == "assign":
            x, y = run(e[1], xp), run(e[2], xp)
            x = x.copy()
            if x.ndim and x.shape[0]:
                x[0] = y.reshape(-1)[:1].astype(x.dtype).reshape(())
            return x
        if len(e) == 2:
            return getattr(xp, kind)(run(e[1], xp))
        a = run(e[1], xp)
        if e[2][0] == "number":
            number = e[2][1] if str(getattr(a.dtype, "name", a.dtype)) != "uint8" else abs(e[2][1])
            return getattr(xp, kind)(a, a.dtype.type(number) if xp is np else number)
        return getattr(xp, kind)(*meet([a, run(e[2], xp)]))

    described = json.loads(text)
    made, wanted, kept = [], [], []
    for expression in described:
        with np.errstate(all="ignore"):
            try:
                value = np.asarray(run(expression, np))
            except ValueError:  # the shapes do not broadcast: both must refuse
                value = None
        if value is None:
            try:
                run(expression, gpu)
            except gpu.errors.ShapeError:
                continue
            raise AssertionError(f"aiogpu takes what NumPy refuses: {expression}")
        wanted.append(value)
        made.append(run(expression, gpu))
        kept.append(expression)
    failed = []
    for expression, value, read in zip(kept, wanted, await gpu.read(*made), strict=True):
        if (read.dtype, read.shape) != (value.dtype, value.shape) or not np.array_equal(
            read, value
        ):
            failed.append((expression, str(value), str(read), str(value.dtype), str(read.dtype)))
    assert not failed, failed[:3]
    return len(kept)


@pytest.mark.driver_timeout(120)
def test_two_hundred_random_expressions_are_those_of_numpy(selenium_worker):
    described = collected()
    assert len(described) == EXPRESSIONS
    computed = sum(
        compute(selenium_worker, json.dumps(described[start : start + BATCH]))
        for start in range(0, EXPRESSIONS, BATCH)
    )
    # Most of them have shapes that fit, or little would be tested.
    assert computed > EXPRESSIONS * 0.6
