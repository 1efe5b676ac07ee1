"""Build ``build/hosts/jupyterlite/``: a JupyterLite that needs no network, with our notebook in it.

It is what ``jupyter lite build`` makes of a folder with three things in it:

* ``static/pyodide``: ours (see `setup_pyodide`), and beside it what JupyterLite's kernel loads,
  IPython above all; the lock lists those too;
* our wheel, in piplite's index, where ``%pip install aiogpu`` finds it;
* a configuration that asks neither PyPI nor a CDN.

The notebook is put in afterwards, and listed by hand: to list it, ``jupyter lite`` would want
jupyter_server and the forty packages that come with that.

    python tools/jupyterlite.py dist/aiogpu-0.1.0-py3-none-any.whl
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import setup_pyodide

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "hosts"
SOURCE = BUILD / "lite"
SITE = BUILD / "jupyterlite"
NOTEBOOKS = ROOT / "examples" / "notebooks"
KERNEL = "@jupyterlite/pyodide-kernel-extension:kernel"


def main() -> None:
    """Build the site."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("wheel", type=Path)
    given = arguments.parse_args()
    for folder in (SOURCE, SITE):
        shutil.rmtree(folder, ignore_errors=True)
    lay_pyodide(SOURCE / "static" / "pyodide")
    (SOURCE / "pypi").mkdir()
    shutil.copy(given.wheel, SOURCE / "pypi")
    configuration = {
        "jupyter-lite-schema-version": 0,
        "jupyter-config-data": {
            "appName": "aiogpu",
            "contentsAllJsonFile": "all.json",  # which add_notebooks writes
            "exposeAppInBrowser": True,
            "litePluginSettings": {KERNEL: {"disablePyPIFallback": True}},
        },
    }
    (SOURCE / "jupyter-lite.json").write_text(json.dumps(configuration), "utf-8")
    build()
    add_notebooks()


def lay_pyodide(out: Path) -> None:
    """Copy our Pyodide, and add what the kernel loads to it and to its lock."""
    shutil.copytree(ROOT / "build" / "pyodide", out)
    lock = json.loads((out / "pyodide-lock.json").read_text("utf-8"))
    version = json.loads((out / "package.json").read_text("utf-8"))["version"]
    wheels = setup_pyodide.fetch_wheels(lock["info"], "jupyterlite-wheels.txt")
    setup_pyodide.write_lock(out, version, lock, wheels)


def build() -> None:
    """Run ``jupyter lite build``."""
    folder = BUILD / "venv" / "bin"
    made = subprocess.run(
        [
            *(folder / "python", "-m", "jupyterlite_core", "build", "--no-sourcemaps"),
            *("--apps=lab", "--apps=notebooks", f"--output-dir={SITE}"),
        ],
        check=False,
        cwd=SOURCE,
        env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    if made.returncode:
        sys.exit(f"jupyterlite: jupyter lite build: {made.stdout}{made.stderr}")


def add_notebooks() -> None:
    """Put the notebooks where JupyterLite looks for files, and list them as its contents API."""
    files, listing = SITE / "files", SITE / "api" / "contents"
    files.mkdir(exist_ok=True)
    listing.mkdir(parents=True, exist_ok=True)
    entries = []
    for notebook in sorted(NOTEBOOKS.glob("*.ipynb")):
        shutil.copy(notebook, files)
        entries.append(described(notebook.name, "notebook", notebook.stat().st_size, None))
    document = described("", "directory", None, entries)
    (listing / "all.json").write_text(json.dumps(document), "utf-8")


def described(
    name: str, kind: str, size: int | None, content: list[dict[str, object]] | None
) -> dict[str, object]:
    """An entry of Jupyter's contents API."""
    made: dict[str, object] = dict.fromkeys(("mimetype", "hash", "hash_algorithm"))
    made |= {"name": name, "path": name, "type": kind, "size": size, "content": content}
    made |= {"format": "json", "writable": True}
    return made | {"created": "2026-01-01T00:00:00Z", "last_modified": "2026-01-01T00:00:00Z"}


if __name__ == "__main__":
    main()
