"""How many launches expressions take, by the counters, and that they give NumPy's values."""

import ast
from pathlib import Path

import pytest
from pytest_pyodide import run_in_pyodide

SOURCE = (Path(__file__).parent / "launches.py").read_text("utf-8")
NAMES = [
    function.name
    for function in ast.parse(SOURCE).body
    if isinstance(function, ast.FunctionDef) and function.decorator_list
]


@run_in_pyodide
async def check(selenium_worker, source, name):
    import sys
    import types

    if "launches" not in sys.modules:
        module = types.ModuleType("launches")
        exec(source, vars(module))
        sys.modules["launches"] = module
    return await sys.modules["launches"].check(name)


@pytest.mark.parametrize("name", NAMES)
def test_launches(selenium_worker, name):
    taken, count = check(selenium_worker, SOURCE, name)
    assert taken == count


@run_in_pyodide
async def test_views_take_no_launch_of_their_own(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    host = np.arange(24, dtype="f4").reshape(4, 6)
    x = await gpu.asarray(host).copy().evaluate()
    await gpu.synchronize()
    before = gpu.counters()
    views = [
        x.T, x.reshape(3, 8), x[1:, ::2], gpu.flip(x), x[None], x[2],
        gpu.broadcast_to(x, (5, 4, 6)), gpu.permute_dims(x.reshape(2, 2, 6), (2, 0, 1)),
    ]  # fmt: skip
    await gpu.synchronize()
    assert gpu.counters() | {"crossings": 0} == before | {"crossings": 0}
    read = await x.reshape(3, 8).numpy()  # lies in memory as it is
    after = gpu.counters()
    assert (after["dispatches"], after["reads"]) == (before["dispatches"], before["reads"] + 1)
    np.testing.assert_array_equal(read, host.reshape(3, 8))
    assert len(views) == 8


@run_in_pyodide
async def test_an_assignment_of_a_product_is_one_launch(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    a, b = (np.arange(6, dtype="f4") + at for at in range(2))
    x, y = gpu.asarray(a), gpu.asarray(b)
    z = gpu.zeros(20).copy()
    kept = gpu.ones(20).copy()
    await gpu.read(x, y, z, kept)
    before, buffers = gpu.counters()["dispatches"], gpu.memory()["in_use"]
    z[3:15:2] = x * y
    read = await z.numpy()
    assert gpu.counters()["dispatches"] == before + 1
    assert gpu.memory()["in_use"] == buffers, "not in place"
    wanted = np.zeros(20, "f4")
    wanted[3:15:2] = a * b
    np.testing.assert_array_equal(read, wanted)


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_a_sum_of_twenty_arrays_on_a_device_of_the_least_limits(selenium_worker):
    import js
    import numpy as np
    from pyodide.ffi import to_js

    import aiogpu as gpu

    await gpu.close()
    adapter = await js.navigator.gpu.requestAdapter()
    plain = await adapter.requestDevice(to_js({}, dict_converter=js.Object.fromEntries))
    assert plain.limits.maxStorageBuffersPerShaderStage == 8
    try:
        await gpu.open_device(gpu_device=plain)
        hosts = [np.arange(100, dtype="i4") * at for at in range(20)]
        arrays = [gpu.asarray(host) for host in hosts]
        await gpu.read(*arrays)
        before = gpu.counters()["dispatches"]
        total = arrays[0]
        for each in arrays[1:]:
            total = total + each
        read = await total.numpy()
        assert gpu.counters()["dispatches"] <= before + 3
        np.testing.assert_array_equal(read, np.sum(hosts, axis=0))
    finally:
        await gpu.close()
