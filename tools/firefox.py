"""Where Firefox is, and how a page is opened in it: headless, with WebGPU on a software adapter.

Debian's Firefox has no WebDriver in its packages: a page under test posts its results by itself.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

# WebGPU is off by default in release builds of Firefox for Linux. The rest keeps it quiet.
PREFERENCES = {
    "dom.webgpu.enabled": "true",
    "dom.webgpu.workers.enabled": "true",
    "gfx.webgpu.ignore-blocklist": "true",
    "browser.shell.checkDefaultBrowser": "false",
    "browser.aboutwelcome.enabled": "false",
    "datareporting.policy.dataSubmissionEnabled": "false",
    "toolkit.telemetry.enabled": "false",
    "app.update.enabled": "false",
    "network.captive-portal-service.enabled": "false",
    "network.connectivity-service.enabled": "false",
}


def find_firefox() -> str:
    """Path of Firefox: $FIREFOX, else the first one in PATH.

    Raises:
        SystemExit: There is none.
    """
    for name in (os.environ.get("FIREFOX") or "firefox-esr", "firefox"):
        if path := shutil.which(name):
            return path
    sys.exit(
        "firefox: not found: run `make setup` (apt-get install firefox-esr mesa-vulkan-drivers), "
        "or set FIREFOX to the path of one"
    )


@contextlib.contextmanager
def opened(url: str) -> Iterator[None]:
    """A headless Firefox on a page, with a profile of its own; closed at the end of the block."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        lines = (f'user_pref("{name}", {value});\n' for name, value in PREFERENCES.items())
        (Path(profile) / "user.js").write_text("".join(lines), encoding="utf-8")
        browser = subprocess.Popen(
            [find_firefox(), "--headless", "--no-remote", "--profile", profile, url],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # its content processes end with it
        )
        try:
            yield
        finally:
            os.killpg(browser.pid, signal.SIGTERM)
            try:
                browser.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(browser.pid, signal.SIGKILL)
                browser.wait()
