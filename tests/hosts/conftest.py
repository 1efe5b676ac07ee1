"""Fixtures of the tests in other people's hosts: JupyterLite, PyScript, Node, other Pyodides.

Each installs the wheel of the present sources as a user of that host would, and runs what is in
``examples/``. ``make test-hosts`` runs a sample, ``make hosts`` all: the rest is marked ``whole``.
What was seen is kept in ``build/hosts/results/``, out of which ``tools/hosts_docs.py`` makes the
table of ``docs/hosts.md``.
"""

import contextlib
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

import chromium
import serve

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "build" / "hosts" / "results"
TIMEOUT_MS = 90_000


class Opened:
    """A page with what it loaded: megabytes, seconds, and whatever went wrong."""

    def __init__(self, page, url):
        self.page = page
        self.url = url
        self.start = time.perf_counter()
        self.responses = []
        self.outside = []
        page.on("response", lambda response: self.responses.append(response))
        page.on("request", self._look)
        page.on("console", lambda message: print(f"console.{message.type}: {message.text}"))
        page.on("pageerror", lambda error: print(f"uncaught: {error}"))
        page.set_default_timeout(TIMEOUT_MS)
        page.goto(url)

    def _look(self, request):
        origin = "/".join(self.url.split("/")[:3])
        if not request.url.startswith((origin, "blob:", "data:")):
            self.outside.append(request.url)

    @property
    def seconds(self):
        """Since the page was asked for."""
        return time.perf_counter() - self.start

    @property
    def megabytes(self):
        """That the server sent."""
        sizes = [each.headers.get("content-length") for each in self.responses]
        return sum(int(each) for each in sizes if each) / 1e6


@pytest.fixture(scope="session")
def record():
    """Keep what was seen of a host: ``record("jupyterlite", seconds=12.3)``."""
    RESULTS.mkdir(parents=True, exist_ok=True)

    def keep(host, **facts):
        path = RESULTS / f"{host}.json"
        known = json.loads(path.read_text("utf-8")) if path.exists() else {}
        path.write_text(json.dumps({**known, **facts}, indent=1, sort_keys=True), "utf-8")

    return keep


@pytest.fixture(scope="session")
def jupyterlite(wheel):
    """The folder of a JupyterLite with this wheel in its index."""
    command = [sys.executable, "tools/jupyterlite.py", str(wheel)]
    made = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    return ROOT / "build" / "hosts" / "jupyterlite"


@pytest.fixture(scope="module")
def browser():
    """Chromium, with the flags of the other tests."""
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=chromium.find_chromium(), args=list(chromium.FLAGS)
        )
        yield opened
        opened.close()


@pytest.fixture
def open_page(browser, wheel):
    """Open a page of a folder: ``open_page("/examples/hosts/pyscript.html", isolated=True)``."""
    with contextlib.ExitStack() as stack:

        def opener(path, *, root=ROOT, isolated=False, height=900, init=None):
            server = stack.enter_context(serve.serving(root, isolated=isolated))
            context = browser.new_context(viewport={"width": 1000, "height": height})
            stack.enter_context(contextlib.closing(context))
            page = context.new_page()
            if init:
                page.add_init_script(init)
            return Opened(page, f"{server.url}{path}")

        yield opener
