"""The conformance page: every numerics case passes in this browser, and the table shows it."""

import json

import pytest

TIMEOUT_S = 120
LEAST = {
    "N01",
    "N03",
    "N04",
    "N08",
    "N09",
    "N11",
    "S01",
    "S05",
    "L01",
    "L04",
    "R01",
    "R02",
    "K_saxpy",
    "K_random",
}


@pytest.fixture
def report(page, base_url, server):
    """The report that the page posts, with the page as it stands then."""
    while not server.results.empty():
        server.results.get_nowait()
    page.goto(f"{base_url}/tests/conformance.html")
    return json.loads(server.results.get(timeout=TIMEOUT_S))


def test_every_case_passes_and_is_shown(report, page):
    assert "error" not in report
    found = {each["identifier"] for each in report["cases"]}
    assert found >= LEAST
    failed = {e["identifier"]: e["message"] for e in report["cases"] if not e["passed"]}
    assert failed == {}
    rows = page.locator("#cases tr")
    assert rows.count() == len(report["cases"])
    assert set(page.locator("#cases td:nth-child(3)").all_inner_texts()) == {"passed"}
    assert page.locator("#state").inner_text() == f"all {len(found)} passed"
    assert report["facts"]["adapter"]["kind"] in page.locator("#adapter").inner_text()


def test_a_start_that_fails_is_shown_and_reported(page, base_url, server):
    while not server.results.empty():
        server.results.get_nowait()
    page.goto(f"{base_url}/tests/conformance.html?pyodide=/no-such-folder/")
    report = json.loads(server.results.get(timeout=TIMEOUT_S))
    assert report["cases"] == []
    assert "no-such-folder" in report["error"]
    assert page.locator("#state").get_attribute("data-state") == "failed"
