"""Mistakes of somebody's first ten minutes: each message names the remedy."""

import os
import subprocess
import sys

import numpy as np
import pytest

import aiogpu as gpu
from aiogpu.errors import DTypeError, SyncAccessError


@pytest.mark.parametrize(
    ("wide", "ours"),
    [("float64", "float32"), ("int64", "int32"), ("uint64", "uint32"), ("complex128", "complex64")],
)
def test_wide_dtype_says_why_and_what_to_use(wide, ours):
    with pytest.raises(AttributeError, match=f"name here is {ours}, since .* 32 bits"):
        getattr(gpu, wide)
    for dtype in (wide, np.dtype(wide), getattr(np, wide)):
        with pytest.raises(DTypeError, match=f"32 bits at most: use {ours}"):
            gpu.zeros(3, dtype=dtype)


def test_numpy_function_stays_on_the_gpu():
    assert isinstance(np.sin(gpu.ones(3)), gpu.Array)


@pytest.mark.parametrize("name", ["get", "cpu", "asnumpy", "to_numpy"])
def test_other_libraries_names_of_reading_are_answered(name):
    with pytest.raises(AttributeError, match=r"await x\.numpy\(\)"):
        getattr(gpu.ones(3), name)


def test_number_in_a_text_names_await():
    total = gpu.ones(3).sum()
    with pytest.raises(SyncAccessError, match=r"write `\{await x\.item\(\):\.2f\}`"):
        f"{total:.2f}"
    assert f"{total}" == repr(total)


def test_cpython_says_where_to_run():
    # In an interpreter of its own: here the default device is a fake in other tests.
    source = (
        "import asyncio, aiogpu as gpu\n"
        "x = gpu.ones(3) + 1\n"
        "try:\n    asyncio.run(x.evaluate())\n"
        "except gpu.errors.NoWebGPUError as error:\n    print(error)\n"
    )
    made = subprocess.run(
        [sys.executable, "-c", source],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert "run this in Pyodide: in a web page, JupyterLite or PyScript" in made.stdout
