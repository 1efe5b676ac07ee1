"""What runs WGSL outside a browser: Tint's validator, and kernels on SwiftShader, both in Node."""

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np
import pytest

from aiogpu.kernels.numerics import FUNCTIONS, sources

ROOT = Path(__file__).resolve().parents[2]
# Where Debian's chromium keeps its software adapter; another one is named by the environment.
SWIFTSHADER = "/usr/lib/chromium/vk_swiftshader_icd.json"
SIGNATURE = re.compile(r"fn \w+\((?P<parameters>[^)]*)\) -> (?P<result>\w+) \{")
DTYPES = {
    "f32": np.float32,
    "i32": np.int32,
    "u32": np.uint32,
    "bool": np.uint32,
    "vec2f": np.complex64,
}


def node(script: str, lines: Iterable[dict], **environment: str) -> list[dict]:
    """Feeds JSON Lines to a script of ``tools/wgsl`` and gives the JSON Lines it prints."""
    result = subprocess.run(
        ["node", f"tools/wgsl/{script}"],
        check=False,
        cwd=ROOT,
        input="".join(json.dumps(line) + "\n" for line in lines),
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
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


def kernel(name: str) -> tuple[str, type]:
    """A kernel that applies a function of the library to arrays, and the dtype of its result."""
    signature = SIGNATURE.match(FUNCTIONS[name].source)
    assert signature, name
    types = re.findall(r": (\w+)", signature["parameters"])
    bindings = "".join(
        f"@group(0) @binding({place}) var<storage, read> x{place}: array<{wgsl}>;\n"
        for place, wgsl in enumerate(types)
    )
    call = f"{name}({', '.join(f'x{place}[i]' for place in range(len(types)))})"
    words = "vec2u" if signature["result"] == "vec2f" else "u32"
    word = (
        f"select(0u, 1u, {call})" if signature["result"] == "bool" else f"bitcast<{words}>({call})"
    )
    main = f"""
@group(0) @binding({len(types)}) var<storage, read_write> out: array<{words}>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
  let i = id.x;
  if (i < arrayLength(&out)) {{
    out[i] = {word};
  }}
}}
"""
    return sources([name]) + bindings + main, DTYPES[signature["result"]]


@pytest.fixture(scope="session")
def launch(tmp_path_factory) -> Callable[..., dict[str, np.ndarray]]:
    """Runs kernels on SwiftShader, all in one process.

    Called with ``{label: (wgsl, inputs, count)}``, gives ``{label: count words}``.
    """

    def run(jobs: Mapping[str, tuple[str, tuple[np.ndarray, ...], int]]) -> dict[str, np.ndarray]:
        folder = tmp_path_factory.mktemp("launch")
        lines = []
        for at, (label, (wgsl, arguments, count)) in enumerate(jobs.items()):
            paths = [str(folder / f"{at}.{place}") for place in range(len(arguments))]
            for path, argument in zip(paths, arguments, strict=True):
                argument.tofile(path)
            line = {"label": label, "wgsl": wgsl, "inputs": paths}
            lines.append({**line, "output": str(folder / str(at)), "count": count})
        driver = os.environ.get("VK_ICD_FILENAMES", SWIFTSHADER)
        failures = node("apply.mjs", lines, VK_ICD_FILENAMES=driver)
        assert not failures, failures
        return {label: np.fromfile(folder / str(at), np.uint32) for at, label in enumerate(jobs)}

    return run


@pytest.fixture(scope="session")
def evaluate(launch) -> Callable[..., dict[str, np.ndarray]]:
    """Applies functions of the library to arrays on SwiftShader, all in one process.

    Called with ``{function: arguments}``, gives ``{function: result}``; a bool comes as 0 or 1.
    """

    def run(calls: Mapping[str, tuple[np.ndarray, ...]]) -> dict[str, np.ndarray]:
        folder = tmp_path_factory.mktemp("evaluate")
        lines = []
        dtypes = {}
        for name, arguments in calls.items():
            wgsl, dtypes[name] = kernel(name)
            paths = [folder / f"{name}.{place}" for place in range(len(arguments))]
            for path, argument in zip(paths, arguments, strict=True):
                argument.tofile(path)
            lines.append(
                {
                    "label": name,
                    "wgsl": wgsl,
                    "inputs": [str(path) for path in paths],
                    "output": str(folder / name),
                    "count": len(arguments[0]) * np.dtype(dtypes[name]).itemsize // 4,
                }
            )
        driver = os.environ.get("VK_ICD_FILENAMES", SWIFTSHADER)
        failures = node("apply.mjs", lines, VK_ICD_FILENAMES=driver)
        assert not failures, failures
        return {name: np.fromfile(folder / name, dtypes[name]) for name in calls}

    return run
