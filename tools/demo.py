"""Run the main job in headless Chromium: ``make demo``.

Opens the demo page, has the edges of both photographs found, prints what the page measured, and
writes ``build/demo/edges.png`` (the typed array that the page got) and ``build/demo/page.png`` (the
page as it looks).
"""

import base64
import sys
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError

import chromium
import serve

OUT = serve.ROOT / "build" / "demo"
VIEWPORT = {"width": 1280, "height": 900}
TIMEOUT_MS = 50_000

# The last result, without the edges: Playwright takes seconds to hand over 12 million numbers.
NUMBERS = """() => {
    const { detected: { edges, ...detected }, ...rest } = demo.results.at(-1);
    return { ...rest, detected };
}"""
EDGES = """async () => {
    const reader = new FileReader();
    reader.readAsDataURL(new Blob([demo.results.at(-1).detected.edges]));
    await new Promise((resolve) => (reader.onload = resolve));
    return reader.result;
}"""


def finish(page: Page) -> dict[str, Any]:
    """Wait for the page to be done, and give the numbers of its last photograph.

    Raises:
        SystemExit: The page shows an error.
    """
    page.wait_for_selector("html[data-state=ready], html[data-state=failed]")
    if page.is_visible("#error"):
        sys.exit(f"The page shows an error:\n{page.inner_text('#error')}")
    numbers: dict[str, Any] = page.evaluate(NUMBERS)
    return numbers


def row(title: str, cells: list[str]) -> None:
    """Print a line of the table."""
    print(f"  {title:34}" + "".join(f"{cell:>18}" for cell in cells))


def show(results: list[dict[str, Any]], adapter: str) -> None:
    """Print what was measured, a column for each photograph."""
    print(f"\nAdapter: {adapter}\n")
    row("", [f"{result['width']} x {result['height']}" for result in results])
    row("largest difference to NumPy", [str(result["compared"]["largest"]) for result in results])
    row("GPU", [f"{result['detected']['ms']:.0f} ms" for result in results])
    row("NumPy", [f"{result['compared']['ms']:.0f} ms" for result in results])
    print("\n  at most, in ms: idle / while the GPU worked / while NumPy worked")
    for title, kind in (
        ("lag of the page's 5 ms timer", "page"),
        ("lag of Python's 5 ms timer", "python"),
        ("between two animation frames", "gap"),
    ):
        cells = [
            " / ".join(f"{result['lags'][when][kind]:.0f}" for when in ("idle", "gpu", "numpy"))
            for result in results
        ]
        row(title, cells)
    print()
    for name in ("dispatches", "submits", "crossings", "reads"):
        row(name, [str(result["detected"]["counters"][name]) for result in results])


def main() -> None:
    """Do both photographs."""
    with serve.serving() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium.find_chromium(), args=list(chromium.FLAGS)
        )
        page = browser.new_page(viewport=VIEWPORT, device_scale_factor=2)  # type: ignore[arg-type]
        page.set_default_timeout(TIMEOUT_MS)
        try:
            page.goto(f"{server.url}/web/demo/index.html")
            small = finish(page)
            data = base64.b64decode(page.evaluate(EDGES).partition(",")[2])
            size = small["width"], small["height"]
            Image.frombytes("L", size, data).save(OUT / "edges.png")
            page.screenshot(path=OUT / "page.png")
            page.click("[data-photo=large]")
            results = [small, finish(page)]
            adapter = page.inner_text("#adapter")
        except PlaywrightTimeoutError:
            sys.exit(f"No answer in {TIMEOUT_MS / 1000:.0f} s: {page.inner_text('#status')}")
        finally:
            browser.close()
    show(results, adapter)
    print(f"\nPictures: {OUT.relative_to(serve.ROOT)}/edges.png, page.png")
    print("To see it in a browser: make serve")


if __name__ == "__main__":
    main()
