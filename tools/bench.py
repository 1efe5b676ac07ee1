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

PAGES = ("graph",)
TIMEOUT_S = 120
OUT = serve.ROOT / "build" / "bench.json"


def main() -> None:
    """Measure, print, write.

    Raises:
        SystemExit: A page failed.
    """
    reports: dict[str, Any] = {}
    with serve.serving() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium.find_chromium(), args=list(chromium.FLAGS)
        )
        try:
            for name in PAGES:
                page = browser.new_page()
                page.goto(f"{server.url}/bench/{name}.html")
                reports[name] = json.loads(server.results.get(timeout=TIMEOUT_S))
                page.close()
        finally:
            browser.close()
    for name, report in reports.items():
        if "error" in report:
            sys.exit(f"{name}: {report['error']}")
        print(f"\n{name}: {report['adapter']}")
        for title, cost_us in report["costs_us"].items():
            print(f"  {title:56}{cost_us:8.2f} us an operation")
    OUT.write_text(json.dumps(reports, indent=1) + "\n", encoding="utf-8")
    print(f"\n{OUT.relative_to(serve.ROOT)}")


if __name__ == "__main__":
    main()
