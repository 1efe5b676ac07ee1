"""The page of what the bridge costs: what it measures, against its controls."""

import json

import pytest
from playwright.sync_api import sync_playwright

import chromium

TIMEOUT_S = 240
SCALE = 4

# What a heap of JavaScript's may differ by from one time to another; 2500 calls that each kept a
# hundred bytes would be beyond.
MOST_JS_BYTES = 200_000


@pytest.fixture(scope="module")
def report(isolated):
    """What the page posts, with its table as text; isolated, so that it sees JavaScript's heaps."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium.find_chromium(),
            args=[*chromium.FLAGS, chromium.MEMORY_FLAG],
        )
        page = browser.new_page()
        page.goto(f"{isolated.url}/bench/bridge.html?scale={SCALE}")
        posted = json.loads(isolated.results.get(timeout=TIMEOUT_S))
        posted["rows"] = page.locator("#rows tr").all_inner_texts()
        browser.close()
    assert "error" not in posted, posted
    print(json.dumps(posted, indent=1))
    return posted


def test_every_measurement_is_shown(report):
    assert [row.partition("\t")[0] for row in report["rows"]] == [
        "an empty call",
        "3 times 2500 calls",
        "16 MB there and back, transferred",
        "64 MB through, in calls of 1 MB",
        "64 MB through, in one buffer",
    ]
    assert 0 < report["results"]["emptyCall"]["ms"] < report["results"]["emptyCall"]["p99_ms"]


def test_many_calls_leave_memory_as_it_was(report):
    measured = report["results"]["manyCalls"]
    growth = measured["growth"]
    assert measured["before"]["wasm_bytes"] > 10_000_000
    for name in ("page_js_bytes", "worker_js_bytes"):
        assert measured["before"][name] > 100_000
        assert growth.pop(name) < MOST_JS_BYTES
    # Objects of a call that is under way while they are counted are not always the same.
    assert abs(growth.pop("python_objects")) < 50
    assert set(growth.values()) == {0}, growth


def test_what_is_given_away_is_not_copied_on_the_page(report):
    measured = report["results"]["thereAndBack"]
    assert measured["page_ms"] < measured["copied_page_ms"] / 2


@pytest.mark.parametrize("name", ["inPieces", "atOnce"])
def test_page_stays_responsive_while_data_go_through(report, name):
    # The best of several tries, against the page at rest: other processes stop any page at times.
    measured = report["results"][name]
    assert min(measured["longest_ms"]) < max(50, min(measured["idle_ms"]) + 20)
