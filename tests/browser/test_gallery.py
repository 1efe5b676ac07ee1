"""The kernels of examples/kernels on the GPU, against NumPy."""

from pathlib import Path

import pytest
from pytest_pyodide import run_in_pyodide

from gallery import EXAMPLES, FOLDER, cases


@pytest.mark.parametrize("name", EXAMPLES)
def test_computed(selenium_worker, name):
    texts = {
        name: (FOLDER / f"{name}.py").read_text("utf-8"),
        "gallery_cases": Path(cases.__file__).read_text("utf-8"),
    }
    install(selenium_worker, texts)
    compute(selenium_worker, name)


@run_in_pyodide
def install(selenium_worker, texts):
    import importlib
    import sys
    from pathlib import Path

    folder = Path("/tmp/gallery")
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    importlib.invalidate_caches()


@run_in_pyodide
async def compute(selenium_worker, name):
    import importlib
    import time

    import numpy as np

    import aiogpu as gpu

    times = []

    async def run(kernel, *args, **more):
        given = [gpu.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
        start = time.perf_counter()
        kernel.wgsl(*given, **more)
        times.append(time.perf_counter() - start)
        made = kernel(*given, **more)
        return await (gpu.read(*made) if isinstance(made, tuple) else made.numpy())

    module = importlib.import_module(name)
    await getattr(importlib.import_module("gallery_cases"), name)(module, run)
    print(f"{name}: {1000 * times[0]:.1f} ms from Python to WGSL")
    assert times[0] < 1, "compiling takes some milliseconds"
