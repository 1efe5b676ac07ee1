"""The acceptance script in Firefox, on lavapipe, in both threads."""

import json

import pytest

import firefox
import serve

TIMEOUT_S = 120


@pytest.mark.whole
@pytest.mark.parametrize("thread", ["worker", "page"])
def test_acceptance_and_small_reads(wheel, record, thread):
    with (
        serve.serving() as server,
        firefox.opened(f"{server.url}/tests/hosts/firefox.html?thread={thread}"),
    ):
        text, elapsed_ms = json.loads(server.results.get(timeout=TIMEOUT_S))
    accepted = json.loads(text)
    assert accepted["computed"] == [[6, 15], [15, 51]], accepted
    assert accepted["picture_nbytes"] > 1000
    assert "nothing" in accepted["said"]["kernel"]
    environment = accepted["report"]["environment"]
    assert "Firefox" in environment["user_agent"]
    assert environment["worker"] is (thread == "worker")
    # Left alone it looks for finished work every 100 ms: without the pokes no read is below that.
    assert accepted["read_ms"] < 60
    record(
        f"firefox-{thread}",
        seconds=round(elapsed_ms / 1000, 1),
        environment=environment,
        read_ms=round(accepted["read_ms"], 1),
    )
