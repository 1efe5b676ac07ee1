"""The accuracy page: every function is measured on this adapter, shown, and posted."""

import json

import accuracy
import accuracy_docs
from aiogpu.kernels.numerics import ACCURACY

TIMEOUT_S = 120
POINTS = 1 << 14


def opened(page, server, url):
    """The report that the page posts."""
    while not server.results.empty():
        server.results.get_nowait()
    page.goto(url)
    return json.loads(server.results.get(timeout=TIMEOUT_S))


def test_every_function_is_measured_and_shown(page, base_url, server):
    report = opened(page, server, f"{base_url}/bench/accuracy.html?points={POINTS}")
    assert "error" not in report
    assert report["functions"].keys() == ACCURACY.keys()
    assert report["failed"] == []
    assert report["points"] == POINTS
    assert page.locator("#state").get_attribute("data-state") == "passed"
    rows = page.locator("#rows tr")
    assert rows.count() == len(ACCURACY)
    tan = report["functions"]["ag_tan"]
    assert rows.filter(has_text="ag_tan(").locator("td").all_inner_texts() == [
        "ag_tan",
        "4",
        f"{tan['ulp']:.2f}",
        tan["at"],
    ]


def test_the_report_is_what_the_figures_take(page, base_url, server):
    report = opened(page, server, f"{base_url}/bench/accuracy.html?points=4096")
    figures = accuracy.posted(json.dumps(report), None)
    assert "swiftshader" in figures["adapter"]
    assert "NVIDIA H200" in accuracy_docs.page({**accuracy_docs.recorded(), "h200": figures})


def test_a_start_that_fails_is_shown_and_reported(page, base_url, server):
    report = opened(page, server, f"{base_url}/bench/accuracy.html?pyodide=/no-such-folder/")
    assert "no-such-folder" in report["error"]
    assert page.locator("#state").get_attribute("data-state") == "failed"
