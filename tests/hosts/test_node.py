"""Pyodide in Node, on Dawn by npm's ``webgpu``: the acceptance script and the conformance cases."""

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from drivers import DRIVERS

ROOT = Path(__file__).resolve().parents[2]
# Cases that take a second or less each.
SAMPLE = ("N01h", "N03h", "N09b", "N11h", "R02", "R03", "G02", "S05", "L04", "X01", "X02", "D02")
RUNNER = """
import cases

async def main():
    return [[name, await cases.run(name)] for name, _ in cases.names() if name in {sample}]
"""


def node(wheel, *arguments, timeout_s=240):
    """What a Python function returned in Node."""
    manifest = str(DRIVERS["swiftshader"].manifest)
    made = subprocess.run(
        ["node", "tools/node_host.mjs", str(wheel), *map(str, arguments)],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        # Both names: the loader knows the first since 1.3.207.
        env={**os.environ, "VK_DRIVER_FILES": manifest, "VK_ICD_FILENAMES": manifest},
    )
    assert made.returncode == 0, made.stderr[-3000:]
    return json.loads(made.stdout.splitlines()[-1])


def conformance(wheel, folder, names):
    runner = folder / "runner.py"
    runner.write_text(RUNNER.format(sample=f"{names!r}" if names else "dict(cases.names())"))
    modules = [
        *ROOT.glob("tests/conformance/*.py"),
        *ROOT.glob("examples/kernels/*.py"),
        *(ROOT / f"tests/fuzz/{name}.py" for name in ("features", "programs")),
        f"gallery_cases={ROOT / 'tests/gallery/cases.py'}",
    ]
    outcomes = node(wheel, *modules, runner, "runner:main")
    failed = {name: each["message"] for name, each in outcomes if not each["passed"]}
    assert failed == {}
    return len(outcomes)


def test_acceptance_on_an_adopted_device(wheel, record):
    start = time.perf_counter()
    accepted = node(wheel, "examples/hosts/acceptance.py", "acceptance:main")
    assert accepted["computed"] == [[6, 15], [15, 51]]
    assert accepted["picture_nbytes"] > 1000
    assert "nothing" in accepted["said"]["kernel"]
    report = accepted["report"]
    assert report["environment"]["host"] == "node"
    assert report["adapter"]["architecture"] == "swiftshader"
    record(
        "node",
        seconds=round(time.perf_counter() - start, 1),
        environment=report["environment"],
        read_ms=round(accepted["read_ms"], 1),
    )


def test_some_conformance_cases(wheel, tmp_path):
    assert conformance(wheel, tmp_path, SAMPLE) == len(SAMPLE)


@pytest.mark.whole
def test_every_conformance_case(wheel, tmp_path, record):
    record("conformance-node", cases=conformance(wheel, tmp_path, None))
