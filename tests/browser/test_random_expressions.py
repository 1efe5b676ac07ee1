"""Random graphs, fused and one operation a launch, against NumPy: see tests/conformance/growth.py.

A failure names the seed and lists the part of the graph that gave the wrong value; to play it again
put the seed into ``SEEDS``, or run ``graphs.check(growth.grown(seed))`` wherever the modules are.
"""

from pathlib import Path

import pytest
from pytest_pyodide import run_in_pyodide

FOLDER = Path(__file__).resolve().parents[1] / "conformance"
MODULES = ("bounded", "graphs", "growth")  # each needs those before it
SOURCES = {name: (FOLDER / f"{name}.py").read_text("utf-8") for name in MODULES}
SEEDS = range(80)
BATCH = 10


@run_in_pyodide
async def check(selenium_worker, sources, seeds, limits, nnodes=50):
    import sys
    import types
    from dataclasses import replace

    import aiogpu as gpu
    from aiogpu import evaluate

    for name, source in sources.items():
        if name not in sys.modules:
            module = types.ModuleType(name)
            exec(source, vars(module))
            sys.modules[name] = module
    await gpu.open_device()
    runtime = evaluate.DEFAULT.runtime
    usual = runtime.limits
    runtime.limits = replace(usual, **limits)
    try:
        return await sys.modules["growth"].check_seeds(seeds, nnodes)
    finally:
        runtime.limits = usual


@pytest.mark.driver_timeout(120)
@pytest.mark.parametrize("batch", range(0, len(SEEDS), BATCH))
def test_random_graphs_give_the_values_of_numpy_fused_or_not(selenium_worker, batch):
    seeds = list(SEEDS[batch : batch + BATCH])
    nchecked, failures = check(selenium_worker, SOURCES, seeds, {})
    assert failures == [], f"{len(failures)} wrong outputs\n" + "\n\n".join(failures[:5])
    # Ten or so outputs of a graph, twice; the reference must know most, or little is tested.
    assert nchecked > 15 * len(seeds)


@pytest.mark.driver_timeout(120)
def test_random_graphs_by_the_kernels_of_hardware_within_the_least_limits(selenium_worker):
    limits = {"is_fallback": False, "immediate_nbytes": 0, "max_storage_buffers": 8}
    _, failures = check(selenium_worker, SOURCES, list(range(200, 210)), limits)
    assert failures == [], f"{len(failures)} wrong outputs\n" + "\n\n".join(failures[:5])


@pytest.mark.driver_timeout(120)
def test_a_random_graph_of_several_portions(selenium_worker):
    """Nodes are planned 256 at a time."""
    _, failures = check(selenium_worker, SOURCES, [5000], {}, 700)
    assert failures == [], f"{len(failures)} wrong outputs\n" + "\n\n".join(failures[:5])
