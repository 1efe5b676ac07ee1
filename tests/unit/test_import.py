"""On CPython the package imports, and says what is missing when it is first needed."""

import subprocess
import sys
from pathlib import Path

import pytest

import aiogpu as gpu

ROOT = Path(__file__).resolve().parents[2]


def test_import_needs_neither_numpy_nor_javascript():
    program = (
        "import sys, aiogpu; "
        "heavy = {'numpy', 'js', 'pyodide', 'asyncio.selector_events'} & set(sys.modules); "
        "x = aiogpu.tanh(aiogpu.ones((3, 4)) @ aiogpu.ones((4, 2))); "
        "print(sorted(heavy & {'numpy', 'js', 'pyodide'}), x.shape)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT / "py")},
    )
    assert run.stdout.strip() == "[] (3, 2)"


async def test_first_use_says_that_there_is_no_browser():
    x = gpu.ones(3) + 1
    for awaited in (x.tolist, x.evaluate, gpu.open_device, gpu.request_adapter):
        with pytest.raises(gpu.errors.NoWebGPUError, match=r"CPython.*Pyodide"):
            await awaited()
    assert await gpu.is_available() is False
    assert gpu.environment()["host"] == "cpython"
    assert (await gpu.report())["error"]["code"] == "no-webgpu"


def test_every_public_name_is_there_and_listed():
    assert sorted(gpu.__all__) == sorted(set(gpu.__all__))
    for name in gpu.__all__:
        assert getattr(gpu, name, gpu) is not gpu
    public = {name for name in vars(gpu) if not name.startswith("_")}
    modules = {name for name in public if type(getattr(gpu, name)).__name__ == "module"}
    assert public - modules <= set(gpu.__all__) | {"version", "annotations"}
