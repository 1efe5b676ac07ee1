"""A device that goes away: every await says so, nothing hangs, and the next use opens another."""

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
