import asyncio

import pytest

from aiogpu.errors import DeviceLostError, KernelError
from aiogpu.program import Launch
from aiogpu.runtime import transfer as transfers
from aiogpu.runtime.transfer import HostData, HostTarget, JsTarget


async def test_large_uploads_go_in_pieces(runtime, monkeypatch):
    monkeypatch.setattr(transfers, "CHUNK_NBYTES", 1000)
    buffer = await runtime.transfer.upload_in_chunks(HostData(bytes(2500), 2500), "array")
    assert runtime.recorder.writes == [
        (buffer.id, 0, 1000), (buffer.id, 1000, 1000), (buffer.id, 2000, 500),
    ]  # fmt: skip
    assert runtime.counters.uploads == 1


def test_an_upload_does_not_overtake_work_that_uses_its_memory(runtime):
    old, out = (runtime.pool.allocate(n, "test") for n in (1000, 200))
    made = Launch("text", "work", (0, 1), 0b10, (0,), "immediate", 1)
    for _ in runtime.launch(made, made.params, [old, out], None):
        pass
    number = old.id
    del old
    assert runtime.recorder.submits == []
    fresh = runtime.transfer.upload(HostData(bytes(1000), 1000), "array")
    assert fresh.id == number
    assert len(runtime.recorder.submits) == 1
    other = runtime.transfer.upload(HostData(bytes(5000), 5000), "array")
    assert other.id != number
    assert len(runtime.recorder.submits) == 1


async def test_reads_are_padded_to_words_and_cut_to_size(runtime):
    buffer = runtime.pool.allocate(7, "test")
    reading = runtime.transfer.begin(buffer, 7)
    runtime.stream.flush()
    target = HostTarget(7)
    await reading.into(target)
    assert target.data == bytes(7)
    assert runtime.recorder.submits[0][0][-1] == 8
    assert runtime.recorder.reads == {}
    assert runtime.counters.reads == 1


async def test_large_reads_go_in_pieces_two_at_a_time(runtime, monkeypatch):
    monkeypatch.setattr(transfers, "READ_NBYTES", 1000)
    buffer = runtime.pool.allocate(4500, "test")
    reading = runtime.transfer.begin(buffer, 4500)
    assert len(reading._chunks) == 2
    runtime.stream.flush()
    target = HostTarget(4500)
    await reading.into(target)
    reads = [command for submit in runtime.recorder.submits for command in submit]
    assert [(c[3], c[4]) for c in reads] == [
        (n * 1000, min(1000, 4500 - n * 1000)) for n in range(5)
    ]
    assert runtime.recorder.reads == {}
    assert runtime.counters.reads == 1


async def test_an_error_releases_what_the_read_holds(runtime):
    buffer = runtime.pool.allocate(100, "test")
    reading = runtime.transfer.begin(buffer, 100)
    runtime.stream.flush()
    buffer.error = KernelError("spoiled")
    with pytest.raises(KernelError, match="spoiled"):
        await reading.into(HostTarget(100))
    assert runtime.recorder.reads == {}
    assert runtime.counters.proxies == 0


async def test_cancelling_releases_what_the_read_holds(runtime, monkeypatch):
    async def forever(self, read):
        await asyncio.Event().wait()

    monkeypatch.setattr(type(runtime.recorder), "wait", forever)
    reading = runtime.transfer.begin(runtime.pool.allocate(100, "test"), 100)
    runtime.stream.flush()
    task = asyncio.ensure_future(reading.into(HostTarget(100)))
    await asyncio.sleep(0)
    assert runtime.counters.proxies == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert runtime.recorder.reads == {}
    assert runtime.counters.proxies == 0


async def test_a_lost_device_is_said(runtime):
    reading = runtime.transfer.begin(runtime.pool.allocate(100, "test"), 100)
    runtime.stream.flush()
    runtime.recorder.lose("pulled out")
    with pytest.raises(DeviceLostError, match="pulled out"):
        await reading.into(HostTarget(100))
    assert runtime.recorder.reads == {}


async def test_reads_for_javascript_stay_there(runtime):
    reading = runtime.transfer.begin(runtime.pool.allocate(8, "test"), 8)
    runtime.stream.flush()
    target = JsTarget(runtime.recorder, 8)
    await reading.into(target)
    assert target.array == bytearray(8)
