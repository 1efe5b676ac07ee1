"""Random kernels on the GPU and in the simulator: the same, to the bit.

A sample runs here; `make fuzz-kernels` sets AIOGPU_PROGRAMS to 2000.
"""

import os
from pathlib import Path

import pytest
from pytest_pyodide import run_in_pyodide

from fuzz import programs

COUNT = int(os.environ.get("AIOGPU_PROGRAMS", "60"))
BATCH = 20


@pytest.mark.driver_timeout(300)
@pytest.mark.parametrize("first", range(0, COUNT, BATCH))
def test_the_gpu_does_what_the_simulator_does(selenium_worker, first):
    text = Path(programs.__file__).read_text("utf-8")
    seeds = list(range(first, min(first + BATCH, COUNT)))
    failures = compare(selenium_worker, text, seeds)
    assert not failures, "\n\n".join(failures)


@run_in_pyodide
async def compare(selenium_worker, text, seeds):
    import math

    import numpy as np

    import aiogpu as gpu
    import aiogpu.lang as gl

    names = {}
    exec(text, names)
    failures = []
    for seed in seeds:
        source = names["program"](seed)
        kernel = gpu.kernel(
            source=source,
            workgroup=names["WORKGROUP"],
            namespace={"gl": gl, "gpu": gpu, "math": math},
        )
        given = names["inputs"](np, seed)
        # More elements lie behind each array: what is read there without a check is seen.
        arrays = [
            gpu.asarray(np.concatenate([a, np.full(9, 77).astype(a.dtype)]))[: len(a)]
            if isinstance(a, np.ndarray)
            else a
            for a in given
        ]
        try:
            made = await gpu.read(*kernel(*arrays, threads=names["ITEMS"]))
            wanted = kernel.simulate(*given, threads=names["ITEMS"])
            for name, one, two in zip(("oi", "ou", "of", "ob", "oc"), made, wanted, strict=True):
                np.testing.assert_array_equal(one, two, err_msg=f"{name} of program {seed}")
        except (AssertionError, gpu.errors.AioGpuError) as error:
            failures.append(f"{error}\n{source}")
    return failures
