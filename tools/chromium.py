"""Where Chromium is, and the flags under which it has WebGPU without a GPU and without a screen."""

import os
import shutil
import sys

# On a machine without a GPU, WebGPU runs on SwiftShader, a software adapter. The ANGLE and Vulkan
# flags are for canvases: without them an OffscreenCanvas in a worker loses the WebGPU instance. The
# last ones keep the browser from calling home: a closed network refuses that, at length.
FLAGS = (
    "--no-sandbox",
    "--enable-unsafe-webgpu",
    "--use-angle=swiftshader",
    "--enable-features=Vulkan",
    "--use-vulkan=swiftshader",
    "--use-webgpu-adapter=swiftshader",
    "--ignore-gpu-blocklist",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

# Chromium blocks WebGPU for a page after the second crash of its GPU process; a test that loses the
# device many times needs these two as well.
LOSS_FLAGS = ("--disable-domain-blocking-for-3d-apis", "--disable-gpu-process-crash-limit")

# Pages are told of JavaScript's memory at once, and not after a collection some 20 s later.
MEMORY_FLAG = "--enable-blink-features=ForceEagerMeasureMemory"


def find_chromium() -> str:
    """Path of Chromium: $CHROMIUM, else the first one in PATH.

    Raises:
        SystemExit: There is none.
    """
    return _find("CHROMIUM", "chromium", "chromium-browser", "google-chrome")


def find_driver() -> str:
    """Path of ChromeDriver: $CHROMEDRIVER, else the one in PATH.

    Raises:
        SystemExit: There is none.
    """
    return _find("CHROMEDRIVER", "chromedriver")


def _find(variable: str, *names: str) -> str:
    given = os.environ.get(variable)
    for name in [given] if given else names:
        if path := shutil.which(name):
            return path
    sys.exit(
        f"{names[0]}: not found: run `make setup` (apt-get install chromium chromium-driver), "
        f"or set {variable} to the path of one"
    )
