"""Pages on which nothing can run: the message of Python itself names the remedy."""

from pathlib import Path

import pytest

IS_SETTLED = "#state:not([data-state=running])"
PAGE = "/examples/hosts/pyodide.html?thread=page"
NO_WEBGPU = "delete Navigator.prototype.gpu"
NO_ADAPTER = "GPU.prototype.requestAdapter = async () => null"


@pytest.mark.whole
@pytest.mark.parametrize(
    ("init", "remedy"),
    [(NO_WEBGPU, "take Chrome or Edge 113, Firefox 141"), (NO_ADAPTER, "chrome://gpu")],
    ids=["webgpu", "adapter"],
)
def test_what_is_missing_is_named_with_a_remedy(open_page, init, remedy):
    opened = open_page(PAGE, init=init)
    opened.page.wait_for_selector(IS_SETTLED)
    assert remedy in opened.page.inner_text("#state")


@pytest.mark.whole
def test_insecure_page_says_https(browser):
    root = Path(__file__).resolve().parents[2]
    types = {".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm"}

    def serve(route):
        path = root / route.request.url.split("?")[0].split("/", 3)[3]
        found = types.get(path.suffix)
        route.fulfill(path=path.resolve(), **({"content_type": found} if found else {}))

    with browser.new_context() as context:
        context.route("http://insecure.test/**", serve)
        page = context.new_page()
        page.goto(f"http://insecure.test{PAGE}")
        page.wait_for_selector(IS_SETTLED, timeout=60_000)
        assert not page.evaluate("isSecureContext")
        assert "serve it over https" in page.inner_text("#state")
