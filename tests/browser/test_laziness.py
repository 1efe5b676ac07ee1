"""What runs, when, and how often: fusion, submits, crossings, reads, memory."""

import pytest
from pytest_pyodide import run_in_pyodide


@run_in_pyodide
async def test_an_expression_is_one_launch(selenium_worker):
    import numpy as np
    from numpy.testing import assert_allclose

    import aiogpu as gpu

    rng = np.random.default_rng(12)
    a, b, c = (rng.normal(0, 1, 1000).astype("f4") for _ in range(3))
    x, y, z = (gpu.asarray(host) for host in (a, b, c))
    before = gpu.counters()
    made = gpu.tanh(x * y + z)
    assert gpu.counters() == before, "making an expression touched the device"
    assert "tanh of multiply add tanh" in gpu.explain(made)
    # Four units in the last place of a result below 1.
    assert_allclose(await made.numpy(), np.tanh(a * b + c), rtol=5e-7, atol=2.4e-7)
    after = gpu.counters()
    wanted = {"dispatches": 1, "submits": 1, "reads": 1, "uploads": 3}
    assert {key: after[key] - before[key] for key in wanted} == wanted
    assert await made.numpy() is not None
    again = gpu.counters()
    assert (again["dispatches"], again["reads"]) == (after["dispatches"], after["reads"] + 1)


@run_in_pyodide
async def test_eager_is_one_launch_an_operation(selenium_worker):
    import aiogpu as gpu

    x = await gpu.ones(1000).copy().evaluate()
    await gpu.synchronize()
    y = x
    for _ in range(100):
        y = y + 1
    before = gpu.counters()
    with gpu.eager():
        assert await y[0].item() == 101
    after = gpu.counters()
    dispatches = after["dispatches"] - before["dispatches"]
    assert 100 <= dispatches <= 101  # the last one takes the element that is read
    assert dispatches >= 8 * (after["submits"] - before["submits"])
    fresh_buffers = after["buffers"] - before["buffers"]
    compiled = after["pipelines"] - before["pipelines"]
    assert after["crossings"] - before["crossings"] <= dispatches
    assert compiled <= 2
    assert fresh_buffers <= 101


@run_in_pyodide
async def test_warm_chains_cross_far_less_than_once_a_launch(selenium_worker):
    import aiogpu as gpu

    async def run():
        y = gpu.ones(1000).copy()
        with gpu.eager():
            for _ in range(99):
                y = y * 1.5
            return await y.evaluate()

    await run()
    await gpu.synchronize()
    before = gpu.counters()
    kept = await run()
    after = gpu.counters()
    assert kept.shape == (1000,)
    assert after["dispatches"] - before["dispatches"] == 100
    assert after["crossings"] - before["crossings"] <= 30
    assert after["pipelines"] == before["pipelines"]
    assert after["reads"] == before["reads"]


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_a_thousand_operations_set_no_timer_each(selenium_worker):
    import js
    from pyodide.code import run_js

    import aiogpu as gpu

    await gpu.ones(8).copy().evaluate()
    await gpu.synchronize()
    count = run_js("""
        globalThis.timersSet = 0;
        globalThis.plainSetTimeout = globalThis.setTimeout;
        globalThis.setTimeout = (...rest) => {
            globalThis.timersSet += 1;
            return globalThis.plainSetTimeout(...rest);
        };
        () => globalThis.timersSet
    """)
    try:
        x = gpu.ones(8).copy()
        for _ in range(1000):
            x = x + 1
        assert count() == 0, "recording set timers"
        assert await x.tolist() == [1001] * 8
        assert count() < 100, "timers for operations, not for the wait"
    finally:
        js.globalThis.setTimeout = js.globalThis.plainSetTimeout


@run_in_pyodide
async def test_only_reads_read(selenium_worker):
    import aiogpu as gpu

    x = gpu.arange(1000).reshape(10, 100)
    before = gpu.counters()["reads"]
    y = gpu.where(x % 2 == 0, x, -x).astype("float32") @ gpu.ones((100, 3))
    y[2] = y[0] + y[1]
    z = gpu.sum(y[::2], axis=0)
    repr(y), len(y), list(y), y.shape, z.ndim, gpu.explain(z), gpu.memory(), gpu.counters()
    await y.evaluate()
    await gpu.synchronize()
    assert gpu.counters()["reads"] == before
    await gpu.read(y, z)
    assert gpu.counters()["reads"] == before + 2


@run_in_pyodide
async def test_dead_arrays_never_run(selenium_worker):
    import aiogpu as gpu

    x = await gpu.ones(100).copy().evaluate()
    await gpu.synchronize()
    before = gpu.counters()["dispatches"]
    y = x + 1
    del y
    kept = x * 3
    await gpu.synchronize()
    assert gpu.counters()["dispatches"] == before + 1
    assert await kept[0].item() == 3


@pytest.mark.driver_timeout(150)
@run_in_pyodide
async def test_a_loop_of_100000_operations_without_an_await_is_bounded(selenium_worker):
    import time
    from statistics import median

    import js
    from pyodide.code import run_js

    import aiogpu as gpu

    x = await gpu.ones(16).copy().evaluate()
    await gpu.synchronize()
    used, before = gpu.memory(), gpu.counters()
    timers = run_js("""
        globalThis.timersSet = 0;
        globalThis.plainSetTimeout = globalThis.setTimeout;
        globalThis.setTimeout = (...rest) => {
            globalThis.timersSet += 1;
            return globalThis.plainSetTimeout(...rest);
        };
        () => globalThis.timersSet
    """)
    try:
        y = x
        times = []
        for _ in range(100):
            start = time.perf_counter()
            for _ in range(1000):
                y = y + 1
            times.append(time.perf_counter() - start)
            # The stream drains by itself, without a turn of the event loop.
            now = gpu.memory()
            assert now["in_use"] <= used["in_use"] + 64 * 1024
            assert now["buffers"] <= used["buffers"] + 8
        assert timers() == 0
        after = gpu.counters()
        # By fusion far fewer launches than operations, and no more crossings than those.
        launches = after["dispatches"] - before["dispatches"]
        assert launches < 5000
        assert after["crossings"] - before["crossings"] <= launches + 100
        assert after["pipelines"] - before["pipelines"] <= 4
        assert median(times[-20:]) < 4 * median(times[:20]), "slower and slower"
        assert await y.tolist() == [100_001] * 16
        assert timers() < 100
    finally:
        js.globalThis.setTimeout = js.globalThis.plainSetTimeout
    del y
    await gpu.synchronize()
    assert gpu.memory()["in_use"] <= used["in_use"] + 1024


@pytest.mark.driver_timeout(150)
@run_in_pyodide
async def test_a_chain_of_100000_operations_is_dropped(selenium_worker):
    import aiogpu as gpu

    x = await gpu.ones(16).copy().evaluate()
    await gpu.synchronize()
    used = gpu.memory()["in_use"]
    y = x
    for _ in range(100_000):
        y = y + 1
    del y
    assert await (x + 1).tolist() == [2] * 16  # the interpreter lives
    y = x
    for _ in range(3000):
        y = y + 1
    assert await y.tolist() == [3001] * 16
    del y
    await gpu.synchronize()
    assert gpu.memory()["in_use"] <= used + 1024


@run_in_pyodide
async def test_a_chain_without_a_device_is_dropped(selenium_worker):
    import pytest

    import aiogpu as gpu
    from aiogpu import evaluate

    await gpu.close()
    x = gpu.ones(16)
    for _ in range(100_000):
        x = x + 1
    del x
    assert gpu.counters()["crossings"] == 0, "dropping a chain opened a device"
    y = gpu.zeros(4)
    for _ in range(5000):
        y = y + 1
    assert await y.tolist() == [5000] * 4
    await gpu.close()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(evaluate, "MAX_UNOPENED", 3000)
        z = gpu.zeros(4)
        for _ in range(2999):
            z = z + 1
        with pytest.raises(gpu.errors.UsageError, match="await something"):
            _ = (z + 1) + 1
        del z
    assert await gpu.ones(2).tolist() == [1, 1]


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_a_thousand_products_leave_no_memory_behind(selenium_worker):
    import gc

    import aiogpu as gpu

    a, b = gpu.ones((64, 64)).copy(), gpu.ones((64, 64)).copy()
    c = a @ b
    await gpu.read(a, b, c)
    await gpu.synchronize()
    gc.disable()
    try:
        before = gpu.memory()
        for _ in range(1000):
            c = a @ b
            await c.evaluate()
        await gpu.synchronize()
        after = gpu.memory()
        assert after["in_use"] == before["in_use"]
        assert after["buffers"] <= before["buffers"] + 8
        for _ in range(1000):
            c = a @ b
        assert (await c[0].tolist()) == [64] * 64
        del c
        assert gpu.memory()["in_use"] <= before["in_use"]
    finally:
        gc.enable()


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_launches_leave_no_proxies_behind(selenium_worker):
    import gc

    from pyodide.ffi import JsProxy

    import aiogpu as gpu

    async def run():
        x = gpu.ones(64).copy()
        with gpu.eager():
            for _ in range(200):
                x = x * 1.0 + 0.0
            await x.evaluate()
            return await x.tolist()

    await run()
    await gpu.synchronize()

    def alive():
        gc.collect()
        return sum(isinstance(each, JsProxy) for each in gc.get_objects())

    before, buffers = alive(), gpu.counters()["buffers"]
    for _ in range(10):
        assert await run() == [1] * 64
    assert alive() <= before + 2
    assert gpu.counters()["proxies"] == 0
    assert gpu.counters()["buffers"] <= buffers + 4


@run_in_pyodide
async def test_shared_work_is_done_once(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    host = np.linspace(-1, 1, 500, dtype="f4")
    x = await gpu.asarray(host).copy().evaluate()
    before = gpu.counters()["dispatches"]
    long = x
    for _ in range(10):
        long = long * x + 0.5
    one, two = long + 1, long - 1
    a, b = await gpu.read(one, two)
    # The shared part lies in memory, since it is long and an array shows it.
    assert gpu.counters()["dispatches"] == before + 3
    assert np.allclose(a - b, 2, atol=1e-6)


@run_in_pyodide
async def test_numbers_take_no_memory_until_they_are_read(selenium_worker):
    import aiogpu as gpu

    await gpu.open_device()
    await gpu.synchronize()
    before, dispatches = gpu.memory()["in_use"], gpu.counters()["dispatches"]
    huge = gpu.full((2**15, 2**15), 3.0)  # more than any buffer holds
    row = huge[0, :4].reshape(2, 2)
    await gpu.synchronize()
    assert (gpu.memory()["in_use"], gpu.counters()["dispatches"]) == (before, dispatches)
    assert await row.tolist() == [[3, 3], [3, 3]]
    assert await huge[:3].sum().item() == 3 * 3 * 2**15
