"""The pages of ``examples/hosts`` in PyScript: a worker, isolated or not, and the page."""

import json
from pathlib import Path

import pytest

SCREENSHOTS = Path(__file__).resolve().parents[2] / "build" / "hosts"
IS_SETTLED = "#state:not([data-state=running])"
COLOURS = """() => {
    const canvas = document.getElementById("picture");
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    return new Set(new Uint32Array(pixels.buffer)).size;
}"""


def check(accepted):
    assert accepted["computed"] == [[6, 15], [15, 51]]
    assert "broadcast" in accepted["said"]["shape"]
    assert "nothing" in accepted["said"]["kernel"]
    assert "await x.item()" in accepted["said"]["await"]
    assert accepted["picture_nbytes"] > 1000
    assert accepted["report"]["environment"]["host"] == "browser"
    assert "adapter" in accepted["report"]


@pytest.mark.parametrize(
    "isolated", [False, pytest.param(True, marks=pytest.mark.whole)], ids=["plain", "isolated"]
)
def test_worker_exports_functions(open_page, record, isolated):
    opened = open_page("/examples/hosts/pyscript.html", isolated=isolated)
    page = opened.page
    page.wait_for_selector("#zoom:enabled")
    first_s = opened.seconds
    page.wait_for_selector(IS_SETTLED)
    assert page.inner_text("#state") == "ready: move the slider"
    assert opened.outside == []
    accepted, inline = page.evaluate("() => [accepted, inline]")
    check(accepted)
    environment = accepted["report"]["environment"]
    assert environment["worker"]
    assert environment["cross_origin_isolated"] is isolated
    said, doubled = inline
    assert "source='...'" in said or said.startswith("it runs")
    assert doubled == [2, 2]
    before = page.evaluate(COLOURS)
    assert before > 10
    page.screenshot(path=SCREENSHOTS / "pyscript.png")
    record(
        "pyscript-worker-isolated" if isolated else "pyscript-worker",
        megabytes=round(opened.megabytes, 1),
        seconds=round(first_s, 1),
        environment=environment,
        read_ms=round(accepted["read_ms"], 1),
        inline_source="source=" not in said,
    )


@pytest.mark.whole
def test_script_on_the_pages_thread_draws_on_its_canvas(open_page, record):
    opened = open_page("/examples/hosts/pyscript-main.html")
    page = opened.page
    page.wait_for_selector(IS_SETTLED)
    assert page.inner_text("#state") == "ready: [[6.0, 15.0], [15.0, 51.0]]"
    accepted = json.loads(page.evaluate("accepted"))
    check(accepted)
    environment = accepted["report"]["environment"]
    assert not environment["worker"]
    page.screenshot(path=SCREENSHOTS / "pyscript-main.png")
    record(
        "pyscript-main",
        megabytes=round(opened.megabytes, 1),
        seconds=round(opened.seconds, 1),
        environment=environment,
        read_ms=round(accepted["read_ms"], 1),
    )
