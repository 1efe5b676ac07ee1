"""Random expressions against NumPy: trees are made here by Hypothesis, and computed in the worker.

Integers are compared exactly. Floats are made of operations that round once in both (add, subtract,
multiply, minimum, maximum, negative, abs, where), on small integers: they are exact as well.
"""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_pyodide import run_in_pyodide

SOURCE = Path(__file__).resolve().parents[1] / "conformance" / "expressions.py"
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
async def check(selenium_worker, source, text):
    import json
    import types

    module = types.ModuleType("expressions")
    exec(source, vars(module))
    return await module.check(json.loads(text))


@pytest.mark.driver_timeout(120)
def test_two_hundred_random_expressions_are_those_of_numpy(selenium_worker):
    described = collected()
    assert len(described) == EXPRESSIONS
    source = SOURCE.read_text("utf-8")
    computed = 0
    for start in range(0, EXPRESSIONS, BATCH):
        part = json.dumps(described[start : start + BATCH])
        count, failed = check(selenium_worker, source, part)
        assert failed == []
        computed += count
    # Most of them have shapes that fit, or little would be tested.
    assert computed > EXPRESSIONS * 0.6
