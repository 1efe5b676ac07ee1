"""The event loop goes on, and long reads let later work through."""

import pytest
from pytest_pyodide import run_in_pyodide


@run_in_pyodide
async def test_work_issued_after_a_long_read_completes_before_it(selenium_worker):
    import asyncio

    import numpy as np

    import aiogpu as gpu

    large = gpu.arange(16 << 20)
    small = gpu.asarray(np.arange(8, dtype="f4"))
    await large.evaluate()
    await (small * 2 + 1).numpy()  # compiled
    await gpu.synchronize()

    async def read():
        return await large.numpy()

    reading = asyncio.ensure_future(read())
    reads = gpu.counters()["reads"]
    for _ in range(100):
        await asyncio.sleep(0)
        if gpu.counters()["reads"] > reads:
            break
    assert gpu.counters()["reads"] == reads + 1  # the read of 64 MB has begun
    got = await (small * 2 + 1).numpy()
    assert not reading.done()
    np.testing.assert_array_equal(got, np.arange(8, dtype="f4") * 2 + 1)
    whole = await reading
    np.testing.assert_array_equal(whole[:: 1 << 10], np.arange(0, 16 << 20, 1 << 10))


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_timer_of_the_worker_ticks_through_a_thousand_operations(selenium_worker):
    import asyncio
    import time

    import numpy as np

    import aiogpu as gpu

    async def longest_lag(work):
        """The longest lag in ms of a 5 ms timer while ``work`` runs."""
        worst = 0.0
        running = True

        async def tick():
            nonlocal worst
            while running:
                before = time.perf_counter()
                await asyncio.sleep(0.005)
                worst = max(worst, (time.perf_counter() - before) * 1000 - 5)

        timer = asyncio.ensure_future(tick())
        await work()
        running = False
        await timer
        return worst

    backend = await gpu.Backend.create()
    data = np.linspace(-1, 1, 64 * 64, dtype="f4")
    a, b, c = (backend.alloc(data.nbytes) for _ in range(3))
    backend.copy_htod(a, data)

    async def queue():
        for step in range(125):
            backend.unary("tanh", a, b, 4096)
            backend.binary("add", a, b, c, 4096)
            backend.gemm("N", "N", 64, 64, 64, 0.01, a, 64, c, 64, 0.5, b, 64)
            backend.reduce("sum", b, c, (64, 64), 1)
            backend.softmax(b, c, (64, 64), 1)
            backend.scan("sum", c, b, (64, 64), 0)
            backend.transpose(b, c, (64, 64), (1, 0))
            backend.copy_dtod(a, c, 1024)
            if step % 25 == 24:
                await asyncio.gather(*(backend.copy_dtoh(h, 4096) for h in (a, b, c)))

    await queue()  # everything is compiled

    async def idle():
        await asyncio.sleep(0.5)

    control = await longest_lag(idle)
    # The least of three: other processes of this machine delay timers, too.
    lag = min([await longest_lag(queue) for _ in range(3)])
    assert lag <= max(50, control + 20), (lag, control)
