"""Fixtures of the tests that run inside Pyodide, in a real Chromium, on real WebGPU.

A test is a function that is shipped to Pyodide and runs there; what it raises comes back::

    from pytest_pyodide import run_in_pyodide

    @run_in_pyodide
    async def test_sum_of_ones(selenium_worker):
        import aiogpu as gpu

        assert await gpu.ones((3, 4)).sum().item() == 12

Only the function's own text is shipped: it imports what it needs inside, and it cannot see the
names of its module. Parameters and return values are pickled, so ``pytest.mark.parametrize`` works.
With ``@run_in_pyodide(packages=["hypothesis"])`` a package of ``build/pyodide`` is loaded first.

Which fixture is the first parameter decides where it runs:

* ``selenium_worker``: in a Pyodide web worker, the usual place. Booting takes seconds, so one
  worker serves the whole session: leave no array, proxy or setting behind. If a test hangs it or
  kills it, the next test gets another one.
* ``selenium``: on the page's main thread; one for each test module.
* ``selenium_worker_fresh``: in a worker of a browser of its own, for one test: for those that lose
  the device, or that ask what importing or opening does. Some 6 seconds: have few of these.

The wheel of the present sources, NumPy, micropip and pytest are installed in all three. A test may
take 60 seconds; ``@pytest.mark.driver_timeout(120)`` gives more. A machine without a WebGPU adapter
fails these tests; nothing skips them.
"""

import base64
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytest_pyodide.runner import BrowserWorkerChromeRunner, SeleniumChromeRunner
from pytest_pyodide.server import spawn_web_server
from selenium.common.exceptions import WebDriverException
from selenium.webdriver import Chrome
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

import chromium

TIMEOUT_S = 60
PING_TIMEOUT_S = 5
PACKAGES = ["micropip", "numpy", "pytest", "tblib"]


def open_chromium(*flags: str) -> Chrome:
    """Start Chromium through ChromeDriver."""
    options = Options()
    options.binary_location = chromium.find_chromium()
    for flag in ("--headless", "--js-flags=--expose-gc", *chromium.FLAGS, *flags):
        options.add_argument(flag)
    # With the driver's path given, Selenium does not look for downloads.
    return Chrome(options=options, service=Service(chromium.find_driver()))


class MainThread(SeleniumChromeRunner):
    """Runs tests on the page's main thread."""

    script_timeout = TIMEOUT_S

    def get_driver(self, jspi: bool = False) -> Chrome:
        return open_chromium()


class Worker(BrowserWorkerChromeRunner):
    """Runs tests in a web worker."""

    script_timeout = TIMEOUT_S

    def get_driver(self, jspi: bool = False) -> Chrome:
        return open_chromium()


class WorkerThatMayCrash(BrowserWorkerChromeRunner):
    """Runs tests in a web worker of a browser that forgives crashes of its GPU process."""

    script_timeout = TIMEOUT_S

    def get_driver(self, jspi: bool = False) -> Chrome:
        return open_chromium(*chromium.LOSS_FLAGS)


def boot(kind: type[SeleniumChromeRunner], server: tuple[str, int, Path], wheel: Path):
    """Start a browser with Pyodide in it, and install aiogpu there."""
    host, port, log = server
    runner = kind(server_port=port, server_hostname=host, server_log=log)
    try:
        runner.load_package(PACKAGES)
        content = base64.b64encode(wheel.read_bytes()).decode()
        path = f"/tmp/{wheel.name}"
        runner.run_js(
            f"const bytes = Uint8Array.from(atob('{content}'), (each) => each.charCodeAt(0));"
            f"pyodide.FS.writeFile('{path}', bytes);"
        )
        runner.run_async(f"import micropip; await micropip.install('emfs:{path}')")
    except BaseException:
        runner.quit()
        raise
    return runner


class SharedRunner:
    """One booted runner for many tests, booted again when a test has hung or killed it."""

    def __init__(self, boot: Callable[[], SeleniumChromeRunner]) -> None:
        self._boot = boot
        self._runner: SeleniumChromeRunner | None = None

    def take(self) -> SeleniumChromeRunner:
        """The runner, alive."""
        if self._runner is not None and not self._answers():
            self.close()
        if self._runner is None:
            self._runner = self._boot()
        return self._runner

    def close(self) -> None:
        """Close the browser, if one is open."""
        if self._runner is not None:
            self._runner.quit()
        self._runner = None

    def _answers(self) -> bool:
        try:
            self._runner.driver.set_script_timeout(PING_TIMEOUT_S)
            return self._runner.run_js("return 1", pyodide_checks=False) == 1
        except (WebDriverException, self._runner.JavascriptException):
            return False


def lend(runner, request) -> Iterator[SeleniumChromeRunner]:
    """Hand a runner to one test; its console is shown when the test fails."""
    marker = request.node.get_closest_marker("driver_timeout")
    runner.driver.set_script_timeout(marker.args[0] if marker else TIMEOUT_S)
    runner.clean_logs()
    yield runner
    try:
        runner.driver.set_script_timeout(PING_TIMEOUT_S)
        print(runner.logs)
    except (WebDriverException, runner.JavascriptException) as error:
        print(f"the browser no longer answers: {error}")


@pytest.fixture(scope="session")
def pyodide_server(request):
    """Serves ``build/pyodide`` and pytest-pyodide's own pages: host, port, log."""
    folder = request.config.option.dist_dir
    assert (folder / "pyodide-lock.json").is_file(), f"{folder} is missing: run `make setup`"
    with spawn_web_server(folder) as server:
        yield server


@pytest.fixture(scope="session")
def shared_worker(pyodide_server, wheel):
    shared = SharedRunner(lambda: boot(Worker, pyodide_server, wheel))
    yield shared
    shared.close()


@pytest.fixture(scope="module")
def shared_page(pyodide_server, wheel):
    shared = SharedRunner(lambda: boot(MainThread, pyodide_server, wheel))
    yield shared
    shared.close()


@pytest.fixture
def selenium_worker(request, shared_worker):
    """A Pyodide web worker with aiogpu, NumPy and pytest; one for the whole session."""
    yield from lend(shared_worker.take(), request)


@pytest.fixture
def selenium(request, shared_page):
    """Pyodide on a page's main thread with aiogpu, NumPy and pytest; one for each module."""
    yield from lend(shared_page.take(), request)


@pytest.fixture
def selenium_worker_fresh(request, pyodide_server, wheel):
    """As ``selenium_worker``, in a browser of its own that this test may crash."""
    runner = boot(WorkerThatMayCrash, pyodide_server, wheel)
    try:
        yield from lend(runner, request)
    finally:
        runner.quit()
