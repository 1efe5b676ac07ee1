"""The numerics library as text: names, needs and order."""

import re

import pytest

from aiogpu.kernels.numerics import ACCURACY, COMPLEX_ACCURACY, FUNCTIONS, sources
from aiogpu.kernels.numerics.function import parse

HEAD = re.compile(r"^fn (\w+)\(", re.MULTILINE)


def test_every_function_is_the_one_it_is_named_for():
    for name, function in FUNCTIONS.items():
        assert function.name == name
        assert name.startswith("ag_")
        assert HEAD.findall(function.source) == [name]


def test_needs_are_what_the_text_calls():
    for function in FUNCTIONS.values():
        called = set(re.findall(r"\b(ag_\w+)\(", function.source)) - {function.name}
        assert set(function.needs) == called
        assert called <= FUNCTIONS.keys()


def test_sources_bring_what_is_needed_once_and_first():
    text = sources(["ag_tanh", "ag_gelu", "ag_tanh"])
    order = HEAD.findall(text)
    assert len(order) == len(set(order))
    assert {"ag_tanh", "ag_gelu", "ag_exp_parts"} <= set(order)
    for name in order:
        assert all(order.index(need) < order.index(name) for need in FUNCTIONS[name].needs)


def test_sources_depend_only_on_the_set_of_names():
    assert sources(["ag_sin", "ag_exp"]) == sources(iter(["ag_exp", "ag_sin", "ag_exp"]))
    assert sources([]) == ""


def test_sources_of_everything_has_every_function():
    assert sorted(HEAD.findall(sources(FUNCTIONS))) == sorted(FUNCTIONS)


def test_an_unknown_name_raises():
    with pytest.raises(KeyError, match="ag_missing"):
        sources(["ag_missing"])


def test_comments_stay_behind():
    functions = parse(
        "// What for.\nfn ag_a() -> f32 {\n  return ag_b(1.0);  // Why.\n}\n\nfn ag_b() {\n}\n"
    )
    assert functions["ag_a"].source == "fn ag_a() -> f32 {\n  return ag_b(1.0);\n}\n"
    assert functions["ag_a"].needs == ("ag_b",)
    assert "//" not in sources(FUNCTIONS)


def test_the_table_of_accuracy_names_functions_and_ranges():
    assert ACCURACY.keys() <= FUNCTIONS.keys()
    for least, greatest, units in ACCURACY.values():
        assert least < greatest
        assert 1 <= units <= 4
    assert COMPLEX_ACCURACY.keys() <= FUNCTIONS.keys()
    assert all(2 <= units <= 8 for _, units in COMPLEX_ACCURACY.values())


def test_no_function_relies_on_what_compilers_fold():
    """A test for NaN by comparison is folded away, a fused fma is promised by nobody."""
    text = sources(FUNCTIONS)
    assert re.search(r"\b(\w+) != \1\b", text) is None
    assert re.search(r"\bfma\(", text) is None
    assert (
        re.search(r"\b(sin|cos|tan|exp2?|log2?|pow|tanh|asin|acos|atan2?|sinh|cosh)\(", text)
        is None
    )
