"""The figures of the documentation: those recorded, none missing, none worse than its bound."""

import copy
import json

import pytest

import accuracy
import accuracy_docs
from aiogpu.kernels.numerics import ACCURACY
from drivers import DRIVERS
from trial import MEASURED, arguments, inside


@pytest.fixture
def recorded():
    return accuracy_docs.recorded()


def test_the_page_shows_what_is_recorded(recorded):
    page = accuracy_docs.page(recorded)
    assert accuracy_docs.TARGET.read_text("utf-8") == page
    assert recorded.keys() >= DRIVERS.keys()
    cells = f"{recorded['swiftshader']['functions']['ag_tan']['ulp']:.2f} | "
    cells += f"{recorded['lavapipe']['functions']['ag_tan']['ulp']:.2f} |"
    assert f"| `tan` | -largest to largest | 4 | {cells}" in page


def test_every_figure_is_of_a_hundred_thousand_arguments_or_more(recorded):
    for figures in recorded.values():
        assert figures["points"] >= 100_000
    for name in ACCURACY:
        assert inside(name, arguments(name, MEASURED)).sum() >= MEASURED


@pytest.mark.parametrize("ulp", [4.1, -1])
def test_a_figure_worse_than_its_bound_is_refused(recorded, ulp):
    worse = copy.deepcopy(recorded)
    worse["lavapipe"]["functions"]["ag_tan"]["ulp"] = ulp
    with pytest.raises(SystemExit, match=r"lavapipe: worse than the table allows:\n.*4\.0 allowed"):
        accuracy_docs.page(worse)


def test_a_figure_that_is_missing_is_refused(recorded):
    less = copy.deepcopy(recorded)
    del less["swiftshader"]["functions"]["ag_exp"]
    with pytest.raises(SystemExit, match="swiftshader: ag_exp: missing"):
        accuracy_docs.page(less)
    del less["swiftshader"]
    with pytest.raises(SystemExit, match="swiftshader: ag_acos, ag_acosh, "):
        accuracy_docs.page(less)


def test_a_report_of_the_page_becomes_a_column(recorded):
    report = {**recorded["lavapipe"], "elapsed_s": 9, "failed": []}
    added = accuracy.posted(json.dumps(report), "a large GPU")
    page = accuracy_docs.page({**recorded, "h200": added})
    assert "| SwiftShader | lavapipe | NVIDIA H200 |" in page
    assert "- NVIDIA H200: a large GPU; " in page
    del added["functions"]["ag_gelu"]
    page = accuracy_docs.page({**recorded, "h200": added})
    gelu = f"{recorded['lavapipe']['functions']['ag_gelu']['ulp']:.2f}"
    assert f"{gelu} |  |\n" in page
    with pytest.raises(SystemExit, match="the page failed: no adapter"):
        accuracy.posted('{"error": "no adapter", "functions": {}}', None)
