"""Pages of other kinds: a strict policy, and handles that the page drops."""

import json

from bridge import connect, prepare, run

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self' 'wasm-unsafe-eval'",
        "worker-src 'self'",
        "connect-src 'self'",
    ]
)

SCRIPT = """
import { connect } from "/web/index.js";
const tell = (body) => fetch("/result", { method: "POST", body: JSON.stringify(body) });
let blocked = false;
try {
  new Function("return 1")();
} catch {
  blocked = true;
}
try {
  const gpu = await connect({ indexURL: "/build/pyodide/" });
  await tell({ blocked, total: await gpu.array([1, 2]).add(1).sum().item() });
} catch (error) {
  await tell({ blocked, error: String(error) });
}
"""


def test_policy_without_unsafe_eval_is_enough(page, base_url, server):
    headers = {"Content-Security-Policy": POLICY}

    def serve(body, kind):
        return lambda route: route.fulfill(body=body, content_type=kind, headers=headers)

    page.context.route(
        "**/strict.html", serve('<script type=module src="/strict.js"></script>', "text/html")
    )
    page.context.route("**/strict.js", serve(SCRIPT, "text/javascript"))

    def with_policy(route):
        response = route.fetch()
        route.fulfill(response=response, headers={**response.headers, **headers})

    page.context.route("**/worker.js", with_policy)
    page.goto(f"{base_url}/strict.html")
    # Playwright's own waiting keeps its event loop, and so the routes, alive.
    for _ in range(120):
        if not server.results.empty():
            break
        page.context.cookies()
        page.wait_for_timeout(500)
    assert json.loads(server.results.get(timeout=1)) == {"blocked": True, "total": 5}


def test_arrays_and_streams_that_the_page_drops_are_freed(browser, base_url):
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(60_000)
        prepare(page, base_url)
        assert connect(page).get("value") == "connected"
        source = """
        import gc, json
        from aiogpu.server.port import _sessions
        gc.collect()
        [len(_sessions[0]._handles), len(_sessions[0]._streams)]
        """.replace("\n        ", "\n")
        page.evaluate(
            """async () => {
                window.kept = gpu.array([1, 2, 3]);
                for (let k = 0; k < 500; k++) kept.add(k).multiply(2);
                for (let k = 0; k < 20; k++) await gpu.run("(k for k in 'ab')");
            }"""
        )
        devtools = context.new_cdp_session(page)
        counts = None
        for _ in range(20):
            devtools.send("HeapProfiler.collectGarbage")
            page.wait_for_timeout(100)
            counts = run(page, source)["value"]
            if counts == [1, 0]:
                break
        assert counts == [1, 0]
        assert page.evaluate("kept.sum().item()") == 6
