"""The page of what the graph costs: it measures, shows and posts."""

import json

TIMEOUT_S = 120


def test_the_costs_of_the_graph_are_measured_and_shown(page, base_url, server):
    while not server.results.empty():
        server.results.get_nowait()
    page.goto(f"{base_url}/bench/graph.html")
    report = json.loads(server.results.get(timeout=TIMEOUT_S))
    assert "error" not in report
    bare, build, warm, cold, both = report["costs_us"].values()
    assert 0 < bare < build
    assert both == build + warm
    # A shape that was met before costs less to schedule than to build; plans are really kept.
    assert warm < build < cold
    assert page.locator("#state").get_attribute("data-state") == "passed"
    assert page.locator("#costs tr").count() == 5
    assert "swiftshader" in page.locator("#adapter").inner_text()
