"""The conformance page in Firefox, on lavapipe: another compiler, other limits, no immediates."""

import json

import firefox

TIMEOUT_S = 180


def test_every_case_passes_in_firefox(base_url, server):
    while not server.results.empty():
        server.results.get_nowait()
    with firefox.opened(f"{base_url}/tests/conformance.html"):
        report = json.loads(server.results.get(timeout=TIMEOUT_S))
    assert "error" not in report
    assert "Firefox" in report["facts"]["environment"]["user_agent"]
    assert report["facts"]["environment"]["worker"]
    found = {each["identifier"] for each in report["cases"]}
    assert found >= {"N01", "K_saxpy", "K_matmul", "K_histogram", "K_random", "K_subgroups"}
    assert len(found) >= 50
    failed = {e["identifier"]: e["message"] for e in report["cases"] if not e["passed"]}
    assert failed == {}
