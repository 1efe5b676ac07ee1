"""Open the pages of `bench/` in headless Chromium and print what they measure: ``make bench``.

Writes ``build/bench.json``. The figures of a machine without a GPU say what Python costs; they say
nothing of a GPU.
"""

import json
import sys
from typing import Any

from playwright.sync_api import sync_playwright

import chromium
import serve

PAGES = ("graph", "bridge")
TIMEOUT_S = 240
OUT = serve.ROOT / "build" / "bench.json"


def main() -> None:
    """Measure, print, write.

    Raises:
        SystemExit: A page failed.
    """
    reports: dict[str, Any] = {}
    # Isolated pages have finer clocks, and see JavaScript's memory.
    with serve.serving(isolated=True) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium.find_chromium(),
            args=[*chromium.FLAGS, chromium.MEMORY_FLAG],
        )
        try:
            for name in PAGES:
                page = browser.new_page()
                page.goto(f"{server.url}/bench/{name}.html")
                reports[name] = json.loads(server.results.get(timeout=TIMEOUT_S))
                if "error" in reports[name]:
                    sys.exit(f"{name}: {reports[name]['error']}")
                print(f"\n{name}: {reports[name]['adapter']}")
                for row in page.locator("#rows tr").all_inner_texts():
                    print("  " + "".join(f"{cell:52}" for cell in row.split("\t")).rstrip())
                page.close()
        finally:
            browser.close()
    OUT.write_text(json.dumps(reports, indent=1) + "\n", encoding="utf-8")
    print(f"\n{OUT.relative_to(serve.ROOT)}")


if __name__ == "__main__":
    main()
