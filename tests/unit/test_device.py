import asyncio

import pytest

import aiogpu as gpu
from aiogpu import device


async def test_raced_opens_give_one_device(host):
    made = await asyncio.gather(*(gpu.open_device() for _ in range(3)))
    assert made[0] is made[1] is made[2]
    assert len(host.recorders) == 1
    assert host.asked == ["high-performance"]
    assert "acme paper (open)" in repr(made[0])


async def test_other_wishes_than_the_open_ones_are_refused(host):
    opened = await gpu.open_device(memory_limit=1000)
    assert await gpu.open_device() is opened
    assert await gpu.open_device(memory_limit=1000) is opened
    for wishes in (
        {"memory_limit": 2000},
        {"features": ["f"]},
        {"limits": {"a": 1}},
        {"gpu_device": 1},
    ):
        with pytest.raises(gpu.errors.UsageError, match="other wishes"):
            await gpu.open_device(**wishes)


async def test_cancelling_one_opener_leaves_the_others(host):
    first, second = (asyncio.ensure_future(gpu.open_device()) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    opened = await second
    assert first.cancelled()
    assert await gpu.open_device() is opened
    assert len(host.recorders) == 1


async def test_a_failure_is_not_kept(host):
    kept, host.adapter = host.adapter, None
    with pytest.raises(gpu.errors.NoAdapterError):
        await gpu.open_device()
    assert await gpu.is_available() is False
    host.adapter = kept
    assert await gpu.is_available() is True
    assert (await gpu.open_device()).adapter.vendor == "acme"


async def test_a_lost_device_is_replaced(host):
    first = await gpu.open_device()
    assert (first.is_lost, first.lost_reason) == (False, None)
    first.destroy()
    assert (first.is_lost, first.lost_reason) == (True, "destroyed")
    second = await gpu.open_device()
    assert second is not first
    assert len(host.recorders) == 2


async def test_close_and_adoption(host):
    await gpu.open_device()
    await gpu.close()
    assert device.DEFAULT.current is None
    mine = object()
    adopted = await gpu.open_device(gpu_device=mine)
    assert adopted.gpu_device is mine
    assert await gpu.open_device(gpu_device=mine) is adopted


async def test_an_adapter_is_described_without_opening_anything(host):
    adapter = await gpu.request_adapter("low-power")
    assert (adapter.vendor, adapter.is_fallback, host.asked) == ("acme", False, ["low-power"])
    assert host.recorders == []
    report = await gpu.report()
    assert report["adapter"]["kind"] == "hardware"
    assert host.recorders == []
    with pytest.raises(gpu.errors.UsageError, match="fastest"):
        await gpu.request_adapter("fastest")


async def test_software_is_noted_once_and_never_refused(host, caplog):
    host.adapter.is_fallback = True
    for _ in range(2):
        await gpu.open_device()
        await gpu.close()
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("aiogpu", "WARNING")
    assert "in software (acme paper): right, but slow" in record.getMessage()
    assert "chrome://gpu" in record.getMessage()
    host.adapter.is_fallback = False


async def test_report_is_of_the_open_device(host):
    await gpu.open_device(gpu_device=object())
    host.adapter, adapter = None, host.adapter
    report = await gpu.report()
    assert report["adapter"]["vendor"] == adapter.vendor
    assert "error" not in report


async def test_pace_is_that_of_the_open_device(host):
    with pytest.raises(gpu.errors.UsageError, match="no device is open"):
        gpu.pace("interactive")
    with pytest.raises(gpu.errors.UsageError, match="interactive or throughput"):
        gpu.pace("fast")
    await gpu.open_device()
    stream = device.DEFAULT.current.runtime.stream
    usual = stream.window
    gpu.pace("interactive")
    assert stream.window != usual
    gpu.pace("throughput")
    assert stream.window == usual
