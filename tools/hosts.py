"""Lay other Pyodides into ``build/hosts/``, for the tests of hosts.

* ``pyodide-newest``: the newest that is known to work, with the wheels of ``build/pyodide``;
* ``no-jspi``: ours, for a browser without stack switching. Chromium 156 has no switch for it any
  more, so what Pyodide looks for is deleted before it looks.

    python tools/hosts.py
"""

import json
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYODIDE = ROOT / "build" / "pyodide"
BUILD = ROOT / "build" / "hosts"
WITHOUT = "delete WebAssembly.Suspending; delete WebAssembly.promising;\n"


def main() -> None:
    """Lay both folders."""
    newest = lay(BUILD / "pyodide-newest")
    ours = json.loads((PYODIDE / "pyodide-lock.json").read_text("utf-8"))
    for path in (ROOT / "node_modules" / "pyodide-newest").iterdir():
        if path.is_file():
            shutil.copy(path, newest)
    lock = json.loads((newest / "pyodide-lock.json").read_text("utf-8"))
    if lock["info"]["abi_version"] != ours["info"]["abi_version"]:
        sys.exit("hosts: pyodide-newest: another ABI than that of the wheels of build/pyodide")
    lock["packages"] = ours["packages"]
    (newest / "pyodide-lock.json").write_text(json.dumps(lock), "utf-8")
    without = lay(BUILD / "no-jspi")
    for name in ("pyodide.mjs", "pyodide.js"):
        text = (without / name).read_text("utf-8")
        (without / name).write_text(WITHOUT + text, "utf-8")


def lay(out: Path) -> Path:
    """A copy of our Pyodide."""
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(PYODIDE, out)
    return out


if __name__ == "__main__":
    main()
