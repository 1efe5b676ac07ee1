import asyncio
import base64
import sys
from types import SimpleNamespace

import pytest

import aiogpu as gpu
from aiogpu import evaluate
from aiogpu import showing as shown
from aiogpu.errors import UsageError


class FakeNotebook:
    """IPython, as far as outputs go: each output's versions, in order."""

    def __init__(self):
        self.outputs = []
        self.execution_count = 1
        self.display = SimpleNamespace(display=self._display)

    def get_ipython(self):
        return self

    def _display(self, data, *, raw, display_id):
        assert raw
        assert display_id is True
        versions = [data]
        self.outputs.append(versions)
        return SimpleNamespace(update=lambda data, *, raw: versions.append(data))


@pytest.fixture
def notebook(monkeypatch):
    fake = FakeNotebook()
    monkeypatch.setitem(sys.modules, "IPython", fake)
    monkeypatch.setitem(sys.modules, "IPython.display", fake.display)
    return fake


async def settle():
    while shown._filling:
        await asyncio.wait(set(shown._filling))


async def test_array_shows_a_placeholder_that_fills_itself(host, notebook):
    gpu.ones((2, 3)).copy()._ipython_display_()
    ((placeholder,),) = notebook.outputs
    assert "shape=(2, 3) dtype=float32" in placeholder["text/html"]
    assert "computing" in placeholder["text/html"]
    await settle()
    _, filled = notebook.outputs[0]
    assert "computing" not in filled["text/html"]
    assert filled["text/plain"].endswith("[[0 0 0]\n [0 0 0]]")


async def test_only_the_ends_of_a_large_array_are_read(host, notebook, monkeypatch):
    asked, read = [], evaluate.DEFAULT.read

    def count(nodes):
        asked.extend(node.nbytes for node in nodes)
        return read(nodes)

    monkeypatch.setattr(evaluate.DEFAULT, "read", count)
    gpu.display(gpu.ones((2000, 3000)).copy())
    await settle()
    assert asked == [6 * 6 * 4]
    text = notebook.outputs[0][-1]["text/plain"]
    assert text.count("\n") == 7
    assert text.count("…") == 7


async def test_table_numbers_rows_and_columns(host, notebook):
    gpu.display(gpu.ones((40, 3)).copy(), "table")
    await settle()
    html = notebook.outputs[0][-1]["text/html"]
    assert "<th>0</th><th>1</th><th>2</th>" in html
    assert "<th>4</th>" in html
    assert "<tr><th>…</th><td>…</td>" in html
    assert "<th>39</th>" in html
    assert html.count("<td>") == 11 * 3


async def test_image_and_canvas_show_pictures(host, notebook):
    gpu.display(gpu.ones((4, 4)).copy(), "image")
    await settle()
    canvas = gpu.Canvas()
    canvas._ipython_display_()
    for _ in range(2):
        canvas.show(gpu.ones((4, 4)).copy())
        await gpu.synchronize()
    image, followed = notebook.outputs
    assert image[-1]["image/png"].startswith(base64.b64encode(b"\x89PNG\r\n\x1a\n")[:10].decode())
    assert [list(each) for each in followed[1:]] == [["image/png", "text/plain"]] * 2


async def test_array_that_fails_shows_its_error(host, notebook):
    host.adapter = None
    gpu.display(gpu.ones(3).copy())
    await settle()
    assert "NoAdapterError" in notebook.outputs[0][-1]["text/plain"]


async def test_what_cannot_be_shown_is_refused_before_it_is(host, notebook):
    for array, kind in ((gpu.ones((2, 2, 2)), "table"), (gpu.ones(3), "image"), (gpu.ones(3), "x")):
        with pytest.raises(UsageError, match="display"):
            gpu.display(array, kind)
    assert notebook.outputs == []


async def test_loop_shows_one_bar_a_run(notebook):
    for _ in range(2):
        async for _ in gpu.track(range(3), message="<b>"):
            pass
    assert len(notebook.outputs) == 2
    assert notebook.outputs[0][0]["text/html"].startswith('<progress value="0" max="3">')
    assert notebook.outputs[1][-1]["text/plain"] == "<b>: 3 / 3"
    assert "&lt;b&gt;" in notebook.outputs[1][-1]["text/html"]


def test_text_is_aligned_as_numpy_writes_it():
    text = shown._lines([[1.5, -20.25], [3.0, 4.0]], (False, False), 6, 1)
    assert text == "[[   1.5 -20.25]\n [     3      4]]"
    assert shown._lines([1, 2, 3, 4], (True,), 1, 1) == "[1 2 … 3 4]"
