"""Measures how exact the elementary functions are on both software adapters, and records it.

Writes bench/results/accuracy.json and, from it, docs/accuracy.md. With `--add`, the figures are
those that `bench/accuracy.html` posted from a browser on another adapter::

    python tools/accuracy.py
    python tools/accuracy.py --add h200 report.json --adapter "NVIDIA H200"
"""

import argparse
import datetime
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import accuracy_docs
from accuracy_docs import Measurement
from aiogpu.kernels.numerics import ACCURACY
from drivers import DRIVERS, Driver, apply
from trial import MEASURED, arguments
from ulp import measured


def measure(driver: Driver, points: int = MEASURED) -> Measurement:
    """The figures of every function on a software adapter.

    Raises:
        RuntimeError: The driver is not there, or a kernel failed.
    """
    given = {name: arguments(name, points) for name in ACCURACY}
    with tempfile.TemporaryDirectory() as folder:
        adapter, results = apply(driver, given, Path(folder))
    return {
        "adapter": adapter,
        "through": driver.through,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "points": points,
        "functions": {name: measured(name, given[name], results[name]) for name in ACCURACY},
    }


def posted(text: str, adapter: str | None) -> Measurement:
    """The figures of a page's report.

    Args:
        text: JSON, as the page posted it.
        adapter: The adapter's description where the browser's is too short.

    Raises:
        SystemExit: The page reports that it failed.
    """
    report = json.loads(text)
    if "error" in report:
        sys.exit(f"accuracy: the page failed: {report['error']}")
    figures: Measurement = {key: report[key] for key in Measurement.__annotations__}  # type: ignore[assignment]
    return {**figures, "adapter": adapter or figures["adapter"]}


def record(found: Mapping[str, Measurement]) -> None:
    """Put the figures of some adapters in the place of those recorded, and write the page.

    Raises:
        SystemExit: A figure is missing, or is worse than the table allows; nothing is written.
    """
    old = accuracy_docs.recorded() if accuracy_docs.FIGURES.exists() else {}
    merged = old | dict(found)
    text = accuracy_docs.page(merged)
    accuracy_docs.FIGURES.write_text(json.dumps(merged, indent=1) + "\n", encoding="utf-8")
    accuracy_docs.TARGET.write_text(text, encoding="utf-8")


def main() -> None:
    """Measure, or take a page's report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--add", nargs=2, metavar=("KEY", "FILE"), help="a report of the page")
    parser.add_argument("--adapter", help="with --add: the adapter's description")
    asked = parser.parse_args()
    if asked.add:
        key, file = asked.add
        found = {key: posted(Path(file).read_text(encoding="utf-8"), asked.adapter)}
    else:
        found = {key: measure(driver) for key, driver in DRIVERS.items()}
    record(found)
    for key, figures in found.items():
        least, name = max((each["ulp"], name) for name, each in figures["functions"].items())
        print(f"{key}: {figures['adapter']}: {name} is the worst: {least} units")


if __name__ == "__main__":
    main()
