"""The kernels of examples/kernels in the simulator, against NumPy."""

import inspect

import pytest

from gallery import EXAMPLES, cases, example


def test_every_example_has_a_case():
    written = {name for name, _ in inspect.getmembers(cases, inspect.iscoroutinefunction)}
    assert set(EXAMPLES) == written
    assert len(EXAMPLES) >= 10


@pytest.mark.parametrize("name", EXAMPLES)
async def test_simulated(name):
    calls = 0

    async def run(kernel, *args, **more):
        nonlocal calls
        calls += 1
        return kernel.simulate(*args, **more)

    await getattr(cases, name)(example(name), run)
    assert calls
