"""Writes the table of docs/hosts.md from what `make hosts` saw; ``--check`` compares.

The facts come from ``build/hosts/results/``, where the tests left them, and are kept in
``bench/results/hosts.json``; where there are no new ones, those are taken.
"""

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SEEN = ROOT / "build" / "hosts" / "results"
KEPT = ROOT / "bench" / "results" / "hosts.json"
TARGET = ROOT / "docs" / "hosts.md"
START, END = "<!-- the table: tools/hosts_docs.py writes it -->\n", "<!-- end of the table -->\n"

# the file of its facts, what people call it, where Python runs
HOSTS = (
    ("jupyterlite", "JupyterLite 0.8 (Pyodide kernel)", "worker"),
    ("pyscript-worker", "PyScript 0.7, worker", "worker"),
    ("pyscript-worker-isolated", "PyScript 0.7, worker, isolated page", "worker"),
    ("pyscript-main", "PyScript 0.7, page", "page"),
    ("pyodide-314.0.3-worker", "Pyodide 314.0.3", "worker"),
    ("pyodide-314.0.3-page", "Pyodide 314.0.3", "page"),
    ("pyodide-314.0.7-worker", "Pyodide 314.0.7", "worker"),
    ("pyodide-314.0.7-page", "Pyodide 314.0.7", "page"),
    ("pyodide-0.29.5-worker", "Pyodide 0.29.5", "worker"),
    ("pyodide-0.29.5-page", "Pyodide 0.29.5", "page"),
    ("no-jspi", "Pyodide 314.0.3, a browser without JSPI", "worker"),
    ("firefox-worker", "Pyodide 314.0.3 in Firefox", "worker"),
    ("firefox-page", "Pyodide 314.0.3 in Firefox", "page"),
    ("node", "Pyodide 314.0.3 in Node, Dawn", "main"),
)
HEAD = (
    "| host | Python runs in | isolated | waits without `await` | MB | s to the first results "
    "| small read, ms |\n| --- | --- | --- | --- | --- | --- | --- |\n"
)


def main() -> None:
    """Write the table, or compare it."""
    facts: dict[str, Any] = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    text = TARGET.read_text("utf-8")
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    if sys.argv[1:] == ["--check"]:
        if before + START + table(facts) + END + after != text:
            sys.exit("docs/hosts.md is not up to date: run tools/hosts_docs.py")
        return
    for path in sorted(SEEN.glob("*.json")):
        facts[path.stem] = json.loads(path.read_text("utf-8"))
    KEPT.write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n", "utf-8")
    TARGET.write_text(before + START + table(facts) + END + after, "utf-8")


def table(facts: dict[str, Any]) -> str:
    """A row for each host that was seen."""
    return HEAD + "".join(
        row(name, place, facts[key]) for key, name, place in HOSTS if key in facts
    )


def row(name: str, place: str, seen: dict[str, Any]) -> str:
    """One host."""
    environment = seen["environment"]
    cells = (
        name,
        place,
        "yes" if environment["cross_origin_isolated"] else "no",
        "yes" if environment["run_sync"] else "no",
        *(f"{seen[key]:g}" if key in seen else "" for key in ("megabytes", "seconds", "read_ms")),
    )
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    main()
