"""Every example of docs/numpy.md, run as it stands there."""

import ast
import re
from pathlib import Path

import pytest
from pytest_pyodide import run_in_pyodide

PAGE = (Path(__file__).resolve().parents[2] / "docs/numpy.md").read_text("utf-8")
TITLES = re.findall(r"^## (?:\d\. )?(.*)$", PAGE, re.MULTILINE)
EXAMPLES = dict(zip(TITLES, re.split(r"^## .*$", PAGE, flags=re.MULTILINE)[1:], strict=True))


def blocks(text):
    return re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def strict(source):
    """The example, with an error where one that it expects does not come."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Try):
            node.orelse = ast.parse(f"raise AssertionError({ast.unparse(node.body)!r})").body
    return ast.unparse(tree)


def test_every_difference_has_an_example():
    assert len(re.findall(r"^## [1-8]\. ", PAGE, re.MULTILINE)) == 8
    assert all(blocks(text) for text in EXAMPLES.values())
    assert len(re.findall("^```", PAGE, re.MULTILINE)) == 2 * sum(
        len(blocks(text)) for text in EXAMPLES.values()
    )


@pytest.mark.parametrize("title", EXAMPLES)
def test_the_example_runs(selenium_worker, title):
    for source in blocks(EXAMPLES[title]):
        ran(selenium_worker, strict(source))


@run_in_pyodide
async def ran(selenium_worker, source):
    from pyodide.code import eval_code_async

    await eval_code_async("import numpy as np\nimport aiogpu as gpu\n" + source, {})
