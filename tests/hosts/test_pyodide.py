"""Plain Pyodide, by ``examples/hosts/pyodide.html``: versions and threads; and without JSPI."""

import json

import pytest

IS_SETTLED = "#state:not([data-state=running])"
VERSIONS = {
    "314.0.3": "/build/pyodide/",
    "314.0.7": "/build/hosts/pyodide-newest/",
    "0.29.5": "/node_modules/pyodide-0.29/",
}


@pytest.mark.whole
@pytest.mark.parametrize("thread", ["worker", "page"])
@pytest.mark.parametrize("version", VERSIONS)
def test_versions_and_threads(open_page, record, version, thread):
    path = f"/examples/hosts/pyodide.html?thread={thread}&pyodide={VERSIONS[version]}"
    opened = open_page(path)
    page = opened.page
    page.wait_for_selector(IS_SETTLED)
    assert page.inner_text("#state") == "ready: [[6,15],[15,51]]"
    assert opened.outside == []
    accepted = page.evaluate("accepted")
    report = accepted["report"]
    assert report["environment"]["worker"] is (thread == "worker")
    assert report["aiogpu"] == "0.1.0"
    record(
        f"pyodide-{version}-{thread}",
        megabytes=round(opened.megabytes, 1),
        seconds=round(opened.seconds, 1),
        environment=report["environment"],
        read_ms=round(accepted["read_ms"], 1),
    )


def test_without_stack_switching(open_page, record):
    opened = open_page("/examples/hosts/pyodide.html?pyodide=/build/hosts/no-jspi/")
    opened.page.wait_for_selector(IS_SETTLED)
    assert opened.page.inner_text("#state") == "ready: [[6,15],[15,51]]"
    accepted = opened.page.evaluate("accepted")
    environment = accepted["report"]["environment"]
    assert environment["run_sync"] is False
    record(
        "no-jspi",
        megabytes=round(opened.megabytes, 1),
        seconds=round(opened.seconds, 1),
        environment=environment,
        read_ms=round(accepted["read_ms"], 1),
    )


@pytest.mark.whole
@pytest.mark.parametrize("folder", ["pyodide-newest", "no-jspi"])
def test_conformance(open_page, record, folder):
    opened = open_page(f"/tests/conformance.html?pyodide=/build/hosts/{folder}/")
    page = opened.page
    page.wait_for_selector("#state:not([data-state=running])", timeout=300_000)
    assert page.inner_text("#state").startswith("all ")
    record(f"conformance-{folder}", cases=page.locator("#cases tr").count())


@pytest.mark.whole
def test_environment_tells_host_thread_and_isolation(open_page):
    found = {}
    for isolated in (False, True):
        opened = open_page("/examples/hosts/pyodide.html", isolated=isolated)
        opened.page.wait_for_selector(IS_SETTLED)
        found[isolated] = opened.page.evaluate("accepted")["report"]["environment"]
    assert found[True] == {**found[False], "cross_origin_isolated": True}, json.dumps(found)
