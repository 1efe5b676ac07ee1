"""Fixtures of the tests that look at whole pages, through Playwright's synchronous interface.

``page`` is a fresh page of a Chromium with software WebGPU; ``base_url`` is a plain static server
on the project's root, without any special header::

    def test_demo_shows_its_title(page, base_url):
        page.goto(f"{base_url}/web/demo/index.html")
        assert page.title() == "aiogpu"

The wheel and the bundle of the present sources are in ``dist/`` before the first page opens. What
the page wrote to its console, and its uncaught errors, are printed when the test fails.
``server.results`` has what pages posted to ``/result``. ``isolated_url`` serves the same with the
COOP and COEP headers.
"""

import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

import chromium
import serve

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_MS = 60_000
VIEWPORT = {"width": 1280, "height": 900}


@pytest.fixture(scope="session")
def built(wheel):
    """The wheel, with all that a page may load built: the bundle for script tags, too."""
    command = ["make", "--silent", "bundle"]
    made = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    assert (ROOT / "build/pyodide/pyodide-lock.json").is_file(), "run `make setup`"
    return wheel


@pytest.fixture(scope="session")
def server(built):
    """The static server; ``server.results`` is a queue of what pages posted to /result."""
    with serve.serving() as running:
        yield running


@pytest.fixture(scope="session")
def base_url(server):
    """The URL of the project's root, without a slash at its end."""
    return server.url


@pytest.fixture(scope="session")
def isolated(built):
    """As ``server``, with COOP and COEP: pages there have SharedArrayBuffer."""
    with serve.serving(isolated=True) as running:
        yield running


@pytest.fixture(scope="session")
def isolated_url(isolated):
    """As ``base_url``, of an isolated page."""
    return isolated.url


# One for each module, not for the session: while Playwright's synchronous interface is open its
# event loop counts as running in this thread, and asynchronous tests could not start theirs.
@pytest.fixture(scope="module")
def browser():
    """Chromium, with the flags of the tests in tests/browser."""
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=chromium.find_chromium(), args=list(chromium.FLAGS)
        )
        yield opened
        opened.close()


@pytest.fixture
def page(browser):
    """A fresh page in a context of its own."""
    with browser.new_context(viewport=VIEWPORT) as context:
        opened = context.new_page()
        opened.set_default_timeout(TIMEOUT_MS)
        opened.on("console", lambda message: print(f"console.{message.type}: {message.text}"))
        opened.on("pageerror", lambda error: print(f"uncaught: {error}"))
        yield opened
