"""A device that goes away: every await says so, nothing hangs, and the next use opens another."""

import pytest
from pytest_pyodide import run_in_pyodide


@run_in_pyodide
async def test_destroy_while_reads_are_pending(selenium_worker_fresh):
    import asyncio

    import pytest

    import aiogpu as gpu

    device = await gpu.open_device()
    a = gpu.ones((400, 400)).copy()
    ready = await (gpu.arange(10) + 1).copy().evaluate()
    await gpu.synchronize()
    pending = [
        asyncio.ensure_future(awaitable)
        for n in range(2)
        for awaitable in (
            (a @ a).sum().item(), (a @ a @ a).numpy(), gpu.read(a, a + n), ready.numpy(),
            (a * 2).tolist(), gpu.synchronize(),
        )
    ]  # fmt: skip
    await asyncio.sleep(0.01)
    device.destroy()
    results = await asyncio.wait_for(asyncio.gather(*pending, return_exceptions=True), 10)
    lost = [r for r in results if isinstance(r, gpu.errors.DeviceLostError)]
    assert len(lost) >= 6, results
    others = [repr(r) for r in results if isinstance(r, BaseException) and r not in lost]
    assert others == []
    # The browser's own words are in the message.
    assert all("device lost: " in str(error) for error in lost)
    assert all(str(error).removeprefix("device lost: ").strip() for error in lost)
    assert device.is_lost
    assert device.lost_reason
    assert "lost" in repr(device)
    for stale in (ready, ready + 1, (ready * 2).sum(), ready[1:]):
        with pytest.raises((gpu.errors.DeviceLostError, gpu.errors.HandleError)):
            await stale.numpy()
    fresh = await (gpu.arange(3) + 1).copy().evaluate()
    with pytest.raises((gpu.errors.DeviceLostError, gpu.errors.HandleError)):
        await (ready * 3).numpy()
    # What was on the lost device stays lost, and does no harm to the new one.
    assert await fresh.tolist() == [1, 2, 3]
    again = await gpu.open_device()
    assert again is not device
    assert not again.is_lost
    assert await (gpu.arange(5) * 2).tolist() == [0, 2, 4, 6, 8]
    await gpu.synchronize()


@run_in_pyodide
async def test_next_use_opens_a_new_device_many_times(selenium_worker):
    import pytest

    import aiogpu as gpu

    devices = []
    for n in range(5):
        x = gpu.ones(100) * n
        assert await x.sum().item() == 100 * n
        device = await gpu.open_device()
        assert device not in devices
        devices.append(device)
        device.destroy()
        with pytest.raises((gpu.errors.DeviceLostError, gpu.errors.HandleError)):
            await (x + 1).numpy()
    await gpu.close()
    kept = gpu.ones(3) + 1  # never computed on a lost device: no reason to fail
    assert await kept.tolist() == [2, 2, 2]
    await gpu.close()
    assert gpu.memory()["in_use"] == 0
    host = gpu.asarray([1, 2, 3])  # host data that was not uploaded yet
    assert await host.tolist() == [1, 2, 3]
    assert await gpu.ones(2).tolist() == [1, 1]


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_destroy_at_every_stage_reaches_every_await(selenium_worker):
    import asyncio

    import numpy as np
    import pytest

    import aiogpu as gpu

    host = np.arange(256, dtype="f4").reshape(16, 16)
    unused = 0

    def fresh_kernel():
        """A shader that no cache has."""
        nonlocal unused
        unused += 1
        return gpu.wgsl(f"""
            @group(0) @binding(0) var<storage, read> x: array<f32>;
            @group(0) @binding(1) var<storage, read_write> y: array<f32>;
            @compute @workgroup_size(64) fn k(@builtin(global_invocation_id) id: vec3u) {{
              if (id.x < 256u) {{ y[id.x] = x[id.x] + {unused}.0; }}
            }}
        """)

    async def idle(x):
        return []

    async def recording(x):
        await (x + 1).evaluate()
        return [(x * 3).numpy(), gpu.synchronize()]

    async def submitted(x):
        await (x @ x).evaluate()
        return [gpu.synchronize(), (x @ x).numpy()]

    async def reading(x):
        reads = [asyncio.ensure_future(gpu.read(x, x + n)) for n in range(4)]
        await asyncio.sleep(0)
        return reads

    async def compiling(x):
        y = fresh_kernel()(x, out_shape=256)
        task = asyncio.ensure_future(gpu.read(y))
        await asyncio.sleep(0)
        return [task, gpu.synchronize()]

    backend = await gpu.Backend.create()
    for stage in (idle, recording, submitted, reading, compiling):
        device = await gpu.open_device()
        x = await (gpu.asarray(host) + 0).evaluate()
        handle = (await gpu.Backend.create()).handle(x)
        await gpu.synchronize()
        waiting = await stage(x)
        device.destroy()
        backend = await gpu.Backend.create() if stage is idle else backend
        waiting += [x.numpy(), (x + 1).sum().item()]
        results = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 10)
        kinds = [type(result).__name__ for result in results]
        # A read whose bytes were there before the loss may still give them; all else must say so.
        done = {name for name in kinds if name != "DeviceLostError"}
        assert done <= {"NoneType", "list"}, (stage.__name__, kinds)
        assert kinds[-2:] == ["DeviceLostError"] * 2, (stage.__name__, kinds)
        del x, waiting, results  # what is referenced and pending would be synchronized, too
        assert await (gpu.asarray(host) @ gpu.asarray(host)).sum().item() == (host @ host).sum()
        again = await gpu.Backend.create()
        assert again.is_initialized
        with pytest.raises(gpu.errors.HandleError):
            await again.copy_dtoh(handle)


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_cancelling_at_every_await_leaks_nothing(selenium_worker):  # noqa: C901 - shipped whole
    import asyncio
    import contextlib
    import gc

    import numpy as np

    import aiogpu as gpu
    from aiogpu import evaluate
    from aiogpu.gpu.browser import BrowserRecorder

    host = np.arange(64 * 64, dtype="f4").reshape(64, 64)
    names = ("compile", "wait", "drain", "turn")
    usual = {name: getattr(BrowserRecorder, name) for name in names}
    left = -1

    def interrupted(name):
        async def method(self, *arguments):
            nonlocal left
            left -= 1
            if left == 0:
                raise asyncio.CancelledError
            return await usual[name](self, *arguments)

        return method

    async def work():
        x = gpu.asarray(host)
        backend = await gpu.Backend.create()
        handle = backend.handle(x @ x)
        backend.softmax(handle, handle, (64, 64), 1)
        await gpu.read(x + 1, (x * 2).sum(axis=0))
        await backend.copy_dtoh(handle)
        backend.free(handle)
        await gpu.synchronize()

    def free_all_but(handles):
        for handle in set(backend._buffers) - handles:
            backend.free(handle)

    await work()
    gc.collect()
    runtime = evaluate.DEFAULT.runtime
    staging = runtime.recorder._js.staging.reads
    base = gpu.memory()["in_use"]
    backend = await gpu.Backend.create()
    handles = set(backend._buffers)
    steps = 0

    def patch(methods):
        for name, method in methods.items():
            setattr(BrowserRecorder, name, method)

    try:
        patch({name: interrupted(name) for name in names})
        for steps in range(1, 100):
            left = steps
            with contextlib.suppress(asyncio.CancelledError):
                await work()
            if left > 0:
                break  # it came through: there was no such await
            left = -1
            free_all_but(handles)
            assert await (gpu.asarray(host) + steps).sum().item() == (host + steps).sum()
            await gpu.synchronize()
            assert gpu.memory()["in_use"] == base, steps
            assert staging.size == 0, steps
            assert gpu.counters()["proxies"] == 0, steps
    finally:
        patch(usual)
    assert 4 < steps < 99
