"""Kernels written in Python, as WGSL through Tint."""

import math

import numpy as np
import pytest

import aiogpu as gpu
import aiogpu.lang as gl
from aiogpu.graph import build
from aiogpu.kernels.render import render
from aiogpu.kernels.writer import TextCache
from aiogpu.limits import Limits
from aiogpu.schedule.fuse import schedule
from fuzz import features
from fuzz.programs import ITEMS, WORKGROUP, inputs, program
from gallery import EXAMPLES, cases, example

LIMITS = (
    Limits(immediate_nbytes=64),
    Limits(immediate_nbytes=0, has_f16=True),
    Limits(immediate_nbytes=64, has_subgroups=True),
)


class Texts:
    """The shaders that arrays would take."""

    def __init__(self, validate):
        self._validate = validate
        self.shaders = {}

    def add(self, label, *arrays):
        for limits in LIMITS:
            nodes = [build.copy(array._node) for array in arrays]
            for step in schedule(nodes, limits):
                for launch in render(step, limits, TextCache()).launches:
                    self.shaders[f"{label} {len(self.shaders)}"] = launch.wgsl

    def validate(self):
        assert self._validate(self.shaders) == {}


@pytest.fixture
def texts(validate):
    return Texts(validate)


async def test_the_gallery(texts):
    for name in EXAMPLES:

        async def run(kernel, *args, name=name, **more):
            given = [gpu.asarray(a) if hasattr(a, "dtype") else a for a in args]
            made = kernel(*given, **more)
            texts.add(name, *(made if isinstance(made, tuple) else (made,)))
            kernel.wgsl(*given, **more)
            return kernel.simulate(*args, **more)

        await getattr(cases, name)(example(name), run)
    assert len(texts.shaders) > 3 * len(EXAMPLES)
    texts.validate()


def test_random_programs(texts):
    for seed in range(200):
        text = program(seed)
        names = {"gl": gl, "gpu": gpu, "math": math}
        kernel = gpu.kernel(source=text, workgroup=WORKGROUP, namespace=names)
        arrays = [gpu.asarray(a) if hasattr(a, "dtype") else a for a in inputs(np, seed)]
        texts.add(f"program {seed}", *kernel(*arrays, threads=ITEMS))
    texts.validate()


def test_every_feature_in_every_mode(texts):
    for mode in features.MODES:
        kernel = gpu.kernel(
            source=features.EVERYTHING, namespace={"gl": gl, "math": math}, workgroup=64, **mode
        )
        arrays = [gpu.asarray(a) if hasattr(a, "dtype") else a for a in features.arguments(np)]
        texts.add(mode, *kernel(*arrays))
    texts.validate()


@pytest.mark.parametrize("workgroup", [1, 2, 8, 24, 32, 48, 64, (4, 4, 16)])
def test_subgroups_of_the_device_and_by_memory(texts, workgroup):
    kernel = gpu.kernel(source=features.SUBGROUPS, namespace={"gl": gl}, workgroup=workgroup)
    x = gpu.ones(99)
    texts.add(workgroup, *kernel(x, gpu.arange(99), workgroups=2, out_shape=200))
    native = [text for text in texts.shaders.values() if "enable subgroups;" in text]
    assert len(native) == (workgroup not in (24, 48))
    assert all("subgroupShuffle(" in text for text in native)
    texts.validate()
