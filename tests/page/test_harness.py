"""The harness itself: pages come from a plain server, and have WebGPU."""

import json


def test_page_has_an_adapter_and_no_special_header(page, base_url):
    page.goto(f"{base_url}/web/")
    assert page.evaluate("navigator.gpu.requestAdapter().then((adapter) => adapter !== null)")
    assert not page.evaluate("crossOriginIsolated")


def test_isolated_page_has_shared_memory(page, isolated_url):
    page.goto(f"{isolated_url}/web/")
    assert page.evaluate("crossOriginIsolated")


def test_page_posts_its_result(page, base_url, server):
    page.goto(f"{base_url}/web/")
    page.evaluate("fetch('/result', { method: 'POST', body: JSON.stringify({ passed: 3 }) })")
    assert json.loads(server.results.get(timeout=10)) == {"passed": 3}


def test_files_have_the_types_that_browsers_demand(page, base_url):
    page.goto(f"{base_url}/web/")
    types = page.evaluate(
        """(paths) => Promise.all(paths.map(async (path) => {
            const answer = await fetch(path, { method: 'HEAD' });
            return answer.headers.get('content-type');
        }))""",
        ["/build/pyodide/pyodide.mjs", "/build/pyodide/pyodide.asm.wasm"],
    )
    assert types == ["text/javascript", "application/wasm"]
