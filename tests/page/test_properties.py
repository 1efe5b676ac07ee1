"""A sample of every function in Firefox, on lavapipe, against NumPy: see tests/properties."""

import json

from table import TABLE

import firefox

TIMEOUT_S = 180


def test_every_function_gives_what_numpy_gives_in_firefox(base_url, server):
    while not server.results.empty():
        server.results.get_nowait()
    with firefox.opened(f"{base_url}/tests/properties.html"):
        report = json.loads(server.results.get(timeout=TIMEOUT_S))
    assert "error" not in report
    assert "Firefox" in report["facts"]["environment"]["user_agent"]
    assert report["failed"] == {}
    assert report["functions"] == len(TABLE) > 240
