"""The starting points in docs/hosts.md, as they stand there."""

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from drivers import DRIVERS

ROOT = Path(__file__).resolve().parents[2]
TYPES = {".mjs": "text/javascript", ".wasm": "application/wasm"}


def snippet(title, language):
    """The one block of code of a section."""
    text = (ROOT / "docs" / "hosts.md").read_text("utf-8")
    section = text.partition(f"## {title}\n")[2].partition("\n## ")[0]
    (found,) = re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)
    return found


def test_node(wheel, tmp_path):
    (tmp_path / "start.mjs").write_text(snippet("Node", "js"))
    (tmp_path / "node_modules").symlink_to(ROOT / "node_modules")
    shutil.copy(wheel, tmp_path)
    manifest = str(DRIVERS["swiftshader"].manifest)
    made = subprocess.run(
        ["node", "start.mjs"],
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "VK_DRIVER_FILES": manifest, "VK_ICD_FILENAMES": manifest},
    )
    assert "[0, 2, 4, 6, 8]" in made.stdout, made.stderr[-2000:]


@pytest.mark.whole
def test_plain_pyodide(open_page, wheel):
    """With local files in the place of Pyodide's CDN and of the package index."""
    opened = open_page("/examples/hosts/hosts.css")
    page, said = opened.page, []

    def serve_pyodide(route):
        path = ROOT / "build" / "pyodide" / route.request.url.rpartition("/")[2]
        headers = {"Access-Control-Allow-Origin": "*"}
        found = TYPES.get(path.suffix, "application/octet-stream")
        route.fulfill(path=path.resolve(), content_type=found, headers=headers)

    def serve_index(route):
        entry = {
            "filename": wheel.name,
            "url": opened.url.replace("examples/hosts/hosts.css", f"dist/{wheel.name}"),
            "hashes": {"sha256": hashlib.sha256(wheel.read_bytes()).hexdigest()},
            "requires-python": ">=3.11",
        }
        document = {"meta": {"api-version": "1.1"}, "name": "aiogpu", "files": [entry]}
        route.fulfill(
            body=json.dumps(document | {"versions": ["0.1.0"]}),
            content_type="application/vnd.pypi.simple.v1+json",
            headers={"Access-Control-Allow-Origin": "*"},
        )

    page.route("https://cdn.jsdelivr.net/pyodide/v314.0.3/full/**", serve_pyodide)
    page.route("**/simple/aiogpu/", serve_index)
    page.on("console", lambda message: said.append(message.text))
    page.evaluate(f"(async () => {{ {snippet('Plain Pyodide', 'js')} }})()")
    assert "[0, 2, 4, 6, 8]" in said


def test_notebook_begins_as_the_document_says():
    notebook = json.loads((ROOT / "examples/notebooks/first-steps.ipynb").read_text("utf-8"))
    first = next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    assert first["source"].startswith("%pip install -q aiogpu\nimport aiogpu as gpu\n")
    assert snippet("JupyterLite", "python") == "%pip install -q aiogpu\nimport aiogpu as gpu\n"
