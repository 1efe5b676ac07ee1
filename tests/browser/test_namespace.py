"""Every public function against NumPy, over arguments that Hypothesis draws: tests/properties.

A few calls of each are made here; `make fuzz-namespace` sets AIOGPU_CALLS to 300. Those of another
AIOGPU_FIRST_SEED are others; every hundred have one. What is wrong is shown as the smallest call
that Hypothesis finds.
"""

import os
from pathlib import Path

import pytest
from pytest_pyodide import run_in_pyodide
from table import TABLE

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "properties"
CALLS = int(os.environ.get("AIOGPU_CALLS", "8"))
SEED = int(os.environ.get("AIOGPU_FIRST_SEED", "0"))
PARTS = sorted({row.part for row in TABLE.values()})
SOURCES = {
    path.stem: path.read_text("utf-8")
    for path in [*FOLDER.glob("*.py"), ROOT / "tools/ulp.py", ROOT / "tests/plane.py",
                 ROOT / "tests/philox.py"]
}  # fmt: skip


@run_in_pyodide(packages=["hypothesis"])
async def check(selenium_worker, sources, names, count, seed, limits):
    """What is wrong with functions, and those of which too little was decided."""
    import sys
    from dataclasses import replace
    from pathlib import Path

    import aiogpu as gpu
    from aiogpu import evaluate

    def install(folder):
        folder.mkdir()
        for name, source in sources.items():
            (folder / f"{name}.py").write_text(source)
        sys.path.append(str(folder))

    if "drive" not in sys.modules:
        install(Path("/tmp/properties"))
    import drive

    await gpu.open_device()
    runtime = evaluate.DEFAULT.runtime
    usual = runtime.limits
    runtime.limits = replace(usual, **limits)
    said, undecided = [], []
    try:
        for name in names:
            found, decided = await drive.check(name, count, seed)
            if found:
                said.append(found)
            if decided < count / 3:
                undecided.append(name)
    finally:
        runtime.limits = usual
    return said, undecided


def checked(selenium_worker, part, count, limits):
    """`check` for the functions of one file, so many at a time that WebDriver can wait for them."""
    names = [name for name, row in TABLE.items() if row.part == part]
    calls = min(count, 100)
    batch = 400 // calls
    said, undecided = [], []
    for seed in range(SEED, SEED + -(-count // calls)):
        for first in range(0, len(names), batch):
            some = names[first : first + batch]
            found = check(selenium_worker, SOURCES, some, calls, seed, limits)
            said += found[0]
            undecided += found[1]
    return said, undecided


@pytest.mark.driver_timeout(110)
@pytest.mark.parametrize("part", PARTS)
def test_functions_give_what_numpy_gives(selenium_worker, part):
    said, undecided = checked(selenium_worker, part, CALLS, {})
    assert said == [], f"{len(said)} functions\n" + "\n\n".join(said)
    assert undecided == []


HARDWARE = {"is_fallback": False, "immediate_nbytes": 0, "max_storage_buffers": 8}


@pytest.mark.driver_timeout(110)
@pytest.mark.parametrize("part", PARTS)
def test_functions_by_the_kernels_of_hardware(selenium_worker, part):
    said, _ = checked(selenium_worker, part, max(2, CALLS // 5), HARDWARE)
    assert said == [], f"{len(said)} functions\n" + "\n\n".join(said)
