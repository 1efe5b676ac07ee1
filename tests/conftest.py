"""Fixtures of all tests."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def wheel() -> Path:
    """The wheel of the present sources, in ``dist/``, where the page looks for it."""
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", "dist"],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    version = json.loads((ROOT / "package.json").read_text("utf-8"))["version"]
    return ROOT / "dist" / f"aiogpu-{version}-py3-none-any.whl"
