"""What runs WGSL outside a browser: Tint's validator, and the two software adapters."""

import json
import subprocess
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np
import pytest

from drivers import DRIVERS, Driver, Job, apply
from drivers import launch as launch_on

ROOT = Path(__file__).resolve().parents[2]


def node(script: str, lines: Iterable[dict]) -> list[dict]:
    """Feeds JSON Lines to a script of ``tools/wgsl`` and gives the JSON Lines it prints."""
    result = subprocess.run(
        ["node", f"tools/wgsl/{script}"],
        check=False,
        cwd=ROOT,
        input="".join(json.dumps(line) + "\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0 or result.stdout, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture(scope="session")
def validate() -> Callable[[Mapping[str, str]], dict[str, list[str]]]:
    """The messages about the shaders that Tint refuses, by label."""

    def run(shaders: Mapping[str, str]) -> dict[str, list[str]]:
        lines = ({"label": label, "wgsl": wgsl} for label, wgsl in shaders.items())
        return {line["label"]: line["messages"] for line in node("validate.mjs", lines)}

    return run


@pytest.fixture(scope="session", params=DRIVERS)
def driver(request) -> Driver:
    """Each of the two software adapters in turn."""
    return DRIVERS[request.param]


@pytest.fixture(scope="session")
def launch(driver, tmp_path_factory) -> Callable[..., dict[str, np.ndarray]]:
    """Runs kernels on a software adapter.

    Called with ``{label: (wgsl, inputs, nwords)}``, gives ``{label: words}``.
    """

    def run(jobs: Mapping[str, tuple[str, tuple[np.ndarray, ...], int]]) -> dict[str, np.ndarray]:
        folder = tmp_path_factory.mktemp("launch")
        return launch_on(driver, {label: Job(*job) for label, job in jobs.items()}, folder)[1]

    return run


@pytest.fixture(scope="session")
def evaluate(driver, tmp_path_factory) -> Callable[..., dict[str, np.ndarray]]:
    """Applies functions of the library to arrays on a software adapter.

    Called with ``{function: arguments}``, gives ``{function: result}``; a bool comes as 0 or 1.
    """

    def run(calls: Mapping[str, tuple[np.ndarray, ...]]) -> dict[str, np.ndarray]:
        return apply(driver, calls, tmp_path_factory.mktemp("evaluate"))[1]

    return run
