"""The notebook of ``examples/`` in JupyterLite, from ``%pip install`` to the last cell."""

import ast
import base64
import io
import re
from pathlib import Path

from PIL import Image

SCREENSHOT = Path(__file__).resolve().parents[2] / "build" / "hosts" / "notebook.png"
ARE_DONE = """() => {
    const prompts = [...document.querySelectorAll(".jp-CodeCell .jp-InputPrompt")];
    return prompts.length > 10 && prompts.every((each) => /\\d+/.test(each.textContent));
}"""
CELLS = """() => [...document.querySelectorAll(".jp-CodeCell")].map((cell) => ({
    source: cell.querySelector(".cm-content").innerText,
    text: cell.querySelector(".jp-OutputArea")?.innerText ?? "",
    html: cell.querySelector(".jp-OutputArea")?.innerHTML ?? "",
}))"""
# The output of the last cell that the placeholder of an array can still be waiting for.
ARE_FILLED = """() => !document.body.innerText.includes("computing …")"""


def run_all(opened):
    page = opened.page
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    page.click("text=Run >> nth=0")
    page.click("text=/Run All Cells/ >> nth=0")
    page.wait_for_function("() => document.body.innerText.includes('dtype=float32')")
    first_s = opened.seconds
    page.wait_for_function(ARE_DONE)
    page.wait_for_function(ARE_FILLED)
    page.wait_for_timeout(1000)  # for the pictures to be drawn
    return first_s, page.evaluate(CELLS)


def cell(cells, start):
    """The outputs of the cell that begins so."""
    (found,) = (each for each in cells if each["source"].lstrip().startswith(start))
    return found


def picture(html):
    content = re.search(r'src="data:image/png;base64,([^"]+)"', html)[1]
    return Image.open(io.BytesIO(base64.b64decode(content)))


def test_notebook_runs_from_install_to_report(open_page, jupyterlite, record):
    path = "/notebooks/index.html?path=first-steps.ipynb"
    opened = open_page(path, root=jupyterlite, height=6000)
    first_s, cells = run_all(opened)
    opened.page.screenshot(path=SCREENSHOT)
    assert opened.outside == []

    environment = ast.literal_eval(re.search(r"\{.*\}", cell(cells, "%pip")["text"], re.DOTALL)[0])
    assert environment["host"] == "browser"
    assert environment["worker"]
    shown = cell(cells, "x = gpu.linspace")
    assert "shape=(20, 20) dtype=float32" in shown["text"]
    assert shown["text"].count("…") == 7  # the long axes are cut, the placeholder is gone
    assert "the largest value is 0.937" in cell(cells, "peak")["text"]
    assert cell(cells, "gpu.display(gpu.arange(60)")["html"].count("<td>") == 60
    assert "vega" in cell(cells, "from IPython")["html"]
    assert picture(cell(cells, "import math")["html"]).size == (320, 240)
    shown = picture(cell(cells, "canvas = gpu.Canvas()")["html"])
    last = picture(cell(cells, "await canvas.png()")["html"])
    assert shown.tobytes() == last.tobytes()
    assert len(set(last.tobytes())) > 10
    assert "zooming: 30 / 30" in cell(cells, "async for")["text"]
    assert "await x.numpy()" in cell(cells, "y.numpy()")["text"]
    assert "do not broadcast" in cell(cells, "gpu.ones((2, 3))")["text"]
    assert "KernelError" in cell(cells, "broken")["text"]
    assert "'kind': 'software" in cell(cells, "await gpu.report()")["text"]
    # Said once, in the cell that opened the device.
    assert sum("in software" in each["text"] for each in cells) == 1
    record(
        "jupyterlite",
        megabytes=round(opened.megabytes, 1),
        seconds=round(first_s, 1),
        environment=environment,
    )
