"""Many awaits at once: one device, right answers, cancellation, one submit for many reads."""

import pytest
from pytest_pyodide import run_in_pyodide


@run_in_pyodide
async def test_raced_opens_give_one_device(selenium_worker):
    import asyncio

    import pytest
    from pyodide.code import run_js

    import aiogpu as gpu

    await gpu.close()
    opened, restore = run_js("""
        let opened = 0;
        const kept = GPUAdapter.prototype.requestDevice;
        GPUAdapter.prototype.requestDevice = function (...rest) {
            opened += 1;
            return kept.apply(this, rest);
        };
        [() => opened, () => { GPUAdapter.prototype.requestDevice = kept; }]
    """)
    x = gpu.ones(4) + 1
    assert opened() == 0, "making arrays opened a device"
    assert gpu.memory() == dict.fromkeys(("in_use", "reserved", "peak", "padding", "buffers"), 0)
    results = await asyncio.gather(
        gpu.open_device(), gpu.open_device(), gpu.open_device(), x.tolist(), x.sum().item(),
        gpu.synchronize(), gpu.is_available(),
    )  # fmt: skip
    assert opened() == 1
    assert results[0] is results[1] is results[2]
    assert results[3:5] == [[2] * 4, 8]
    assert results[6] is True
    again = await gpu.open_device()
    assert again is results[0]
    assert again.gpu_device.constructor.name == "GPUDevice"
    with pytest.raises(gpu.errors.UsageError, match="other wishes"):
        await gpu.open_device(memory_limit=1000)
    assert opened() == 1
    restore()


@run_in_pyodide
async def test_fifty_reads_at_once(selenium_worker):
    import asyncio

    import numpy as np

    import aiogpu as gpu

    sizes = [1, 2, 3, 5, 64, 1000, 4099, 70_001, 300_000, 17] * 5
    hosts = [np.arange(size, dtype="i4") * 7 + at for at, size in enumerate(sizes)]
    arrays = [gpu.asarray(host) + 1 for host in hosts]
    bytes_ = [gpu.asarray((host % 251).astype("u1")) for host in hosts]
    reads = await asyncio.gather(*(x.numpy() for x in arrays), *(x.numpy() for x in bytes_))
    for read, host in zip(reads, [h + 1 for h in hosts] + [h % 251 for h in hosts], strict=True):
        assert np.array_equal(read, host)
    again = await asyncio.gather(*(x.numpy() for x in arrays))
    assert all(np.array_equal(a, b) for a, b in zip(again, reads, strict=False))


@run_in_pyodide
async def test_several_arrays_are_read_by_one_submit(selenium_worker):
    import aiogpu as gpu

    x, y = gpu.arange(5), gpu.ones((2, 2), dtype="uint8")
    before = gpu.counters()
    values = await gpu.read(x, y, x + 1, gpu.zeros((0, 2)), x)
    after = gpu.counters()
    assert isinstance(values, list)
    assert [v.tolist() for v in values] == [
        [0, 1, 2, 3, 4], [[1, 1], [1, 1]], [1, 2, 3, 4, 5], [], [0, 1, 2, 3, 4],
    ]  # fmt: skip
    assert after["submits"] == before["submits"] + 1
    assert await gpu.read() == []


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_cancelled_read_leaks_nothing(selenium_worker):
    import asyncio
    import gc

    import pytest

    import aiogpu as gpu

    a = gpu.ones((300, 300)).copy()
    await (a @ a).evaluate()
    await gpu.synchronize()
    gc.collect()
    before, proxies = gpu.memory()["in_use"], gpu.counters()["proxies"]
    loop = asyncio.get_running_loop()
    stray = []
    handler = loop.get_exception_handler()
    loop.set_exception_handler(lambda _, context: stray.append(context))
    try:
        for wait_s in (0, 0.001, 0.02):
            task = asyncio.ensure_future((a @ a).sum().item())
            await asyncio.sleep(wait_s)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await (a @ a)[0, 0].item() == 300
        tasks = [asyncio.ensure_future((a + n).sum().item()) for n in range(10)]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        for n, result in enumerate(results):
            wanted = isinstance(result, asyncio.CancelledError) if n % 2 == 0 else True
            assert wanted
            assert n % 2 == 0 or result == 90000 * (n + 1)
        del tasks, results, task
        await gpu.synchronize()
        gc.collect()
        await asyncio.sleep(0.05)
    finally:
        loop.set_exception_handler(handler)
    assert stray == []
    assert gpu.memory()["in_use"] == before
    assert gpu.counters()["proxies"] == proxies == 0


@run_in_pyodide
async def test_cancelled_open_leaves_the_device_to_the_others(selenium_worker):
    import asyncio

    import pytest

    import aiogpu as gpu

    await gpu.close()
    first = asyncio.ensure_future(gpu.open_device())
    second = asyncio.ensure_future(gpu.ones(3).tolist())
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert await second == [1, 1, 1]
    with pytest.raises(asyncio.TimeoutError):
        async with asyncio.timeout(0):
            await gpu.ones(5).sum().item()
    assert await gpu.ones(5).sum().item() == 5


@run_in_pyodide
async def test_tasks_interleave_without_mixing(selenium_worker):
    import asyncio

    import numpy as np

    import aiogpu as gpu

    async def work(seed):
        rng = np.random.default_rng(seed)
        host = rng.integers(-5, 6, (20, 20)).astype("f4")
        x = gpu.asarray(host)
        for _ in range(5):
            x = x @ gpu.eye(20) + seed
            host = host + seed
            if seed % 2:
                await x.evaluate()
            await asyncio.sleep(0)
        return np.array_equal(await x.numpy(), host)

    assert all(await asyncio.gather(*(work(seed) for seed in range(12))))


@run_in_pyodide
async def test_the_event_loop_turns_while_the_gpu_works(selenium_worker):
    import asyncio

    import aiogpu as gpu

    a = gpu.ones((700, 700)).copy()
    await a.evaluate()
    ticks = 0

    async def tick():
        nonlocal ticks
        while True:
            # Pyodide makes a flood of messages of shorter sleeps, which starves everything else.
            await asyncio.sleep(0.005)
            ticks += 1

    ticking = asyncio.ensure_future(tick())
    try:
        assert await (a @ a)[5, 5].item() == 700
    finally:
        ticking.cancel()
    assert ticks > 20
