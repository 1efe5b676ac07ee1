import asyncio

import pytest

from aiogpu.errors import DeviceLostError, KernelError
from aiogpu.program import Launch


def launch(wgsl="text", **other):
    words = {"bindings": (0,), "writes": 1, "params": (0,), "param_space": "immediate", "groups": 1}
    return Launch(wgsl=wgsl, label="work", **{**words, **other})


async def test_one_shader_is_compiled_once_however_many_ask(runtime):
    await asyncio.gather(*(runtime.pipelines.prepare([launch(), launch()]) for _ in range(5)))
    assert runtime.recorder.compiles == 1
    assert runtime.pipelines.now(launch()) == runtime.pipelines.ready(launch()) == 1
    assert runtime.counters.pipelines == 1
    assert runtime.counters.proxies == 0


async def test_entry_constants_and_writes_make_another_pipeline(runtime):
    variants = [
        launch(), launch("other"), launch(entry="second"), launch(constants=(("k", 1.0),)),
        launch(constants=(("k", 2.0),)), launch(writes=0),
    ]  # fmt: skip
    await runtime.pipelines.prepare(variants)
    assert len({runtime.pipelines.now(each) for each in variants}) == len(variants)


async def test_a_refused_shader_is_remembered(runtime):
    bad = launch("@refuse")
    await runtime.pipelines.prepare([bad, launch()])
    for _ in range(2):
        with pytest.raises(KernelError, match="work: the shader does not compile: 1:1 refused"):
            runtime.pipelines.now(bad)
    await runtime.pipelines.prepare([bad])
    assert runtime.recorder.compiles == 2
    assert runtime.pipelines.now(launch()) > 0


def test_without_a_wait_the_refusal_arrives_later(runtime):
    number = runtime.pipelines.now(launch("@refuse"))
    (failure,) = runtime.recorder.failures()
    assert (failure.kind, failure.id) == ("pipeline", number)


async def test_a_lost_device_refuses(runtime):
    runtime.recorder.lose("gone")
    with pytest.raises(DeviceLostError, match="gone"):
        await runtime.pipelines.prepare([launch()])
    assert runtime.counters.proxies == 0


async def test_cancelling_one_waiter_leaves_the_others(runtime, monkeypatch):
    gate = asyncio.Event()
    plain = runtime.recorder.compile

    async def slow(self, number, made):
        await gate.wait()
        return await plain(number, made)

    monkeypatch.setattr(type(runtime.recorder), "compile", slow)
    first, second = (asyncio.ensure_future(runtime.pipelines.prepare([launch()])) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    gate.set()
    await second
    with pytest.raises(asyncio.CancelledError):
        await first
    assert runtime.recorder.compiles == 1
    assert runtime.pipelines.ready(launch()) is not None
