"""Kernels written in Python, as WGSL through naga: Firefox would refuse what this refuses."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import aiogpu as gpu
import aiogpu.lang as gl
from aiogpu.graph import build
from aiogpu.kernels.render import render
from aiogpu.kernels.writer import TextCache
from aiogpu.limits import Limits
from aiogpu.schedule.fuse import schedule
from drivers import DRIVERS
from fuzz import features
from fuzz.programs import ITEMS, WORKGROUP, inputs, program
from gallery import EXAMPLES, cases, example

ROOT = Path(__file__).resolve().parents[2]


def texts_of(arrays):
    """The shaders that arrays would take where there are no immediates, as in Firefox."""
    nodes = [build.copy(array._node) for array in arrays]
    for step in schedule(nodes, Limits()):
        for launch in render(step, Limits(), TextCache()).launches:
            yield launch.wgsl


def refused(shaders):
    """What naga says about the shaders that it refuses."""
    lines = (json.dumps({"label": label, "wgsl": text}) for label, text in shaders.items())
    run = subprocess.run(
        [sys.executable, "tools/wgsl/validate.py"],
        check=False,
        cwd=ROOT,
        input="\n".join(lines),
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "VK_ICD_FILENAMES": str(DRIVERS["lavapipe"].manifest)},
    )
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_naga_refuses_what_is_wrong():
    wrong = "@compute @workgroup_size(1) fn main() { let x: f32 = 1u; }"
    assert [line["label"] for line in refused({"wrong": wrong})] == ["wrong"]


async def test_the_gallery():
    shaders = {}
    for name in EXAMPLES:

        async def run(kernel, *args, name=name, **more):
            given = [gpu.asarray(a) if hasattr(a, "dtype") else a for a in args]
            made = kernel(*given, **more)
            for text in texts_of(made if isinstance(made, tuple) else (made,)):
                shaders[f"{name} {len(shaders)}"] = text
            return kernel.simulate(*args, **more)

        await getattr(cases, name)(example(name), run)
    assert len(shaders) > len(EXAMPLES)
    assert refused(shaders) == []


def test_random_programs():
    shaders = {}
    for seed in range(60):
        kernel = gpu.kernel(
            source=program(seed),
            workgroup=WORKGROUP,
            namespace={"gl": gl, "gpu": gpu, "math": math},
        )
        arrays = [gpu.asarray(a) if hasattr(a, "dtype") else a for a in inputs(np, seed)]
        for text in texts_of(kernel(*arrays, threads=ITEMS)):
            shaders[f"program {seed} {len(shaders)}"] = text
    assert refused(shaders) == []


def test_every_feature_in_every_mode():
    shaders = {}
    for mode in features.MODES:
        kernel = gpu.kernel(
            source=features.EVERYTHING, namespace={"gl": gl, "math": math}, workgroup=64, **mode
        )
        arrays = [gpu.asarray(a) if hasattr(a, "dtype") else a for a in features.arguments(np)]
        for text in texts_of(kernel(*arrays)):
            shaders[f"{mode} {len(shaders)}"] = text
    assert refused(shaders) == []
