"""The pages of bench/: they measure, show and post."""

import json

from gallery import EXAMPLES

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
    # Plans are really kept: a shape that was met before costs far less.
    assert warm < cold / 3
    assert page.locator("#state").get_attribute("data-state") == "passed"
    assert page.locator("#rows tr").count() == 5
    assert "swiftshader" in page.locator("#adapter").inner_text()


def test_kernels_in_python_are_measured_beside_wgsl(page, base_url, server):
    while not server.results.empty():
        server.results.get_nowait()
    page.goto(f"{base_url}/bench/kernels.html")
    report = json.loads(server.results.get(timeout=TIMEOUT_S))
    assert "error" not in report
    assert [name.split()[0] for name in report["results"]] == ["matmul", "histogram", "stencil"]
    for result in report["results"].values():
        assert result["right"]
        low, high = result["quartiles"]
        assert 0 < low <= result["ratio"] <= high
    # Every kernel of the gallery was compiled once from its text.
    assert {name.split(".")[0] for name in report["compile_ms"]} == set(EXAMPLES)
    assert {"prefix_sum.add_totals", "activation.polar"} < set(report["compile_ms"])
    assert min(report["compile_ms"].values()) > 0
    assert page.locator("#rows tr").count() == 3
    assert page.locator("#times tr").count() == len(report["compile_ms"])
    print(json.dumps(report, indent=1))
