"""The two software adapters: kernels and functions of the numerics library on them, no browser."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trial import kernel

ROOT = Path(__file__).resolve().parent.parent
TIMEOUT_S = 120


@dataclass(frozen=True)
class Driver:
    """A Vulkan driver that computes on the CPU.

    Attributes:
        name: What people call it.
        manifest: The loader's JSON file of it; an environment variable may name another.
        mark: What its adapter's description contains.
        through: The implementation of WebGPU: Chromium's, or Firefox's.
        command: What runs kernels on it with that.
    """

    name: str
    manifest: Path
    mark: str
    through: str
    command: tuple[str, ...]


def _manifest(variable: str, folder: str, pattern: str) -> Path:
    """The file of $variable, else the one that matches, else a path that does not exist."""
    if given := os.environ.get(variable):
        return Path(given)
    return next(Path(folder).glob(pattern), Path(folder, pattern))


DRIVERS: Mapping[str, Driver] = {
    "swiftshader": Driver(
        "SwiftShader",
        _manifest("SWIFTSHADER_ICD", "/usr/lib/chromium", "vk_swiftshader_icd.json"),
        "SwiftShader",
        "Dawn with Tint, as in Chromium",
        ("node", "tools/wgsl/apply.mjs"),
    ),
    "lavapipe": Driver(
        "lavapipe",
        _manifest("LAVAPIPE_ICD", "/usr/share/vulkan/icd.d", "lvp_icd.*.json"),
        "llvmpipe",
        "wgpu with naga, as in Firefox",
        (sys.executable, "tools/wgsl/apply.py"),
    ),
}


class Job(NamedTuple):
    """A kernel to be run once, an invocation an element, 64 a workgroup.

    Attributes:
        wgsl: Its text: `main`, the inputs at bindings 0 and up of group 0, the output at the next.
        inputs: The arrays, of whole words.
        nwords: How many words of 32 bits the output has.
    """

    wgsl: str
    inputs: tuple[NDArray[Any], ...]
    nwords: int


def launch(
    driver: Driver, jobs: Mapping[str, Job], folder: Path
) -> tuple[str, dict[str, NDArray[np.uint32]]]:
    """Run kernels, all in one process.

    Args:
        driver: Where.
        jobs: The kernels by their labels.
        folder: An empty one, for the arrays.

    Returns:
        The adapter's description, and the words of the outputs by label.

    Raises:
        RuntimeError: The driver is not there, the adapter is another one, or a kernel failed.
    """
    if not driver.manifest.is_file():
        raise RuntimeError(f"{driver.name}: {driver.manifest}: no such file: run `make setup`")
    lines = []
    for at, (label, job) in enumerate(jobs.items()):
        paths = [folder / f"{at}.{place}" for place in range(len(job.inputs))]
        for path, array in zip(paths, job.inputs, strict=True):
            array.tofile(path)
        line = {"label": label, "wgsl": job.wgsl, "count": job.nwords}
        lines.append(line | {"inputs": list(map(str, paths)), "output": str(folder / str(at))})
    adapter, failures = _run(driver, lines)
    if driver.mark not in adapter:
        raise RuntimeError(f"{driver.name}: {driver.manifest} opened {adapter!r}, another adapter")
    if failures:
        raise RuntimeError(f"{driver.name}: {failures}")
    words = (np.fromfile(folder / str(at), np.uint32) for at in range(len(jobs)))
    return adapter, dict(zip(jobs, words, strict=True))


def apply(
    driver: Driver, calls: Mapping[str, tuple[NDArray[Any], ...]], folder: Path
) -> tuple[str, dict[str, NDArray[Any]]]:
    """Apply functions of the library to arrays, all in one process.

    Args:
        driver: Where.
        calls: Arrays of elements of the parameters' types, one for each, by the function's name.
        folder: An empty one, for the arrays.

    Returns:
        The adapter's description, and the results by name; a bool comes as 0 or 1.

    Raises:
        RuntimeError: As `launch`.
    """
    jobs = {}
    dtypes = {}
    for name, arguments in calls.items():
        wgsl, dtypes[name] = kernel(name)
        words = np.dtype(dtypes[name]).itemsize // 4
        jobs[name] = Job(wgsl, arguments, words * len(arguments[0]))
    adapter, results = launch(driver, jobs, folder)
    return adapter, {name: result.view(dtypes[name]) for name, result in results.items()}


def _run(driver: Driver, lines: list[dict[str, Any]]) -> tuple[str, list[Any]]:
    ran = subprocess.run(
        driver.command,
        check=False,
        cwd=ROOT,
        input="".join(json.dumps(line) + "\n" for line in lines),
        capture_output=True,
        text=True,
        env={**os.environ, "VK_ICD_FILENAMES": str(driver.manifest)},
        timeout=TIMEOUT_S,
    )
    first, *others = map(json.loads, ran.stdout.splitlines() or ["{}"])
    if "adapter" not in first or (ran.returncode and not others):
        raise RuntimeError(f"{driver.name}: {ran.stderr}")
    return first["adapter"], others
