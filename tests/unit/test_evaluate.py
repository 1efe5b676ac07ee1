import asyncio
import gc

import pytest

import aiogpu as gpu
from aiogpu import evaluate
from aiogpu.gpu.recording import Dispatch
from aiogpu.limits import Limits
from aiogpu.runtime.stream import BUDGETS


def dispatches(host):
    return [c for submit in host.recorder.submits for c in submit if isinstance(c, Dispatch)]


async def test_nothing_happens_before_an_await(host):
    x = gpu.tanh(gpu.asarray([1.0, 2.0]) * 3 + 1).sum()
    assert host.recorders == []
    assert "tanh" in gpu.explain(x)
    assert host.recorders == []
    await x.item()
    assert [d.label for d in dispatches(host)] == ["sum"]
    assert len(host.recorder.submits) == 1
    assert [type(c).__name__ for c in host.recorder.submits[0]] == ["Dispatch", "tuple"]


async def test_several_reads_share_a_submit(host):
    x = gpu.ones((4, 4)).copy()
    await gpu.read(x, x + 1, x @ x)
    (submit,) = host.recorder.submits
    assert sum(not isinstance(c, Dispatch) and c[0] == "read" for c in submit) == 3
    assert host.recorder.reads == {}


async def test_a_value_is_computed_once(host):
    x = gpu.exp(gpu.ones(4))
    await x.numpy()
    await x.numpy()
    await (x + 1).numpy()
    assert [d.label for d in dispatches(host)] == ["exp", "add"]


async def test_host_data_is_uploaded_once_and_only_if_needed(host):
    x, y = gpu.asarray([1.0, 2.0]), gpu.asarray([3.0])
    await gpu.read(x + 1)
    await gpu.read(x * 2, x)
    assert len(host.recorder.writes) == 1
    del y


async def test_memory_is_not_taken_over_before_all_that_was_planned_has_read_it(host):
    x = gpu.asarray([[1.0, 2.0], [3.0, 4.0]])
    shown = x.T
    changed = x.reshape(2, 2)
    changed[:] = 0
    late = shown > 1  # reads x itself, through the view, which has its own value by then
    del x
    await gpu.read(shown, changed, late)
    view, store, compare = dispatches(host)
    assert [d.label for d in (view, store, compare)] == ["view", "store", "greater"]
    assert compare.buffers[0] == view.buffers[0] != store.buffers[-1]


async def test_memory_is_not_taken_over_in_a_drain_either(host):
    await gpu.zeros(1).evaluate()
    x = gpu.asarray([[1.0, 2.0], [3.0, 4.0]])
    shown = x.T
    changed = x.reshape(2, 2)
    changed[:] = 0
    late = shown > 1
    nodes = [each._node for each in (shown, changed, late)]
    del x
    evaluate.DEFAULT.drain(nodes)
    assert all(node.readers == 0 for node in nodes)
    await gpu.synchronize()
    view, store, compare = dispatches(host)[-3:]
    assert compare.buffers[0] == view.buffers[0] != store.buffers[-1]


async def test_a_plan_that_is_given_up_expects_nothing_any_more(host):
    x = gpu.exp(gpu.asarray([1.0, 2.0]))
    y = x.reshape(2)
    y[0] = 5
    read = asyncio.ensure_future(y.evaluate())
    node = x._node
    del x
    await asyncio.sleep(0)
    read.cancel()
    await asyncio.gather(read, return_exceptions=True)
    assert await y.evaluate() is y
    assert node.readers == 0
    assert [d.label for d in dispatches(host)] == ["exp", "store"]
    assert dispatches(host)[0].buffers[-1] == dispatches(host)[1].buffers[-1]


async def test_views_of_the_beginning_are_the_same_memory(host):
    x = await gpu.exp(gpu.ones((4, 6))).evaluate()
    before = len(dispatches(host))
    await x[:2].reshape(3, 4).numpy()
    assert len(dispatches(host)) == before
    await x[1:].numpy()
    assert len(dispatches(host)) == before + 1


async def test_eager_is_one_launch_an_operation(host):
    x = gpu.asarray([1.0, 2.0])
    with gpu.eager():
        await (gpu.exp(x + 1) * 2).numpy()
    assert [d.label for d in dispatches(host)] == ["add", "exp", "multiply"]
    await (gpu.exp(x + 1) * 2).numpy()
    assert len(dispatches(host)) == 4


async def test_a_deep_graph_drains_by_itself(host):
    x = await gpu.exp(gpu.ones(4)).evaluate()
    for _ in range(3 * evaluate.MAX_DEPTH):
        x = x + 1
        assert x._node.depth <= evaluate.MAX_DEPTH + 1
    assert gpu.counters()["dispatches"] > 2


def test_without_a_device_a_graph_may_not_grow_for_ever(host, monkeypatch):
    monkeypatch.setattr(evaluate, "MAX_UNOPENED", 1000)
    x = gpu.ones(4)
    for _ in range(999):
        x = x + 1
    with pytest.raises(gpu.errors.UsageError, match="await something"):
        _ = (x + 1) + 1


async def test_memory_is_given_back_as_values_die(host):
    a = await gpu.exp(gpu.ones((64, 64))).evaluate()
    used = gpu.memory()["in_use"]
    gc.disable()
    try:
        for _ in range(100):
            c = a @ a
            await c.evaluate()
        del c
        assert gpu.memory()["in_use"] == used
        assert gpu.memory()["buffers"] <= 4
    finally:
        gc.enable()


async def test_an_error_stays_with_its_value_and_what_stands_on_it(host):
    bad = gpu.wgsl(
        "@group(0) @binding(0) var<storage, read_write> y: array<f32>; // @refuse\n"
        "@compute @workgroup_size(1) fn broken() {}"
    )
    made = bad(out_shape=3)
    fine = gpu.exp(gpu.ones(3))
    child = made + 1
    for _ in range(2):
        with pytest.raises(gpu.errors.KernelError, match="broken: the shader does not compile"):
            await child.numpy()
    with pytest.raises(gpu.errors.KernelError):
        await gpu.read(fine, made)
    assert "failed" in repr(made)
    await fine.numpy()
    await gpu.synchronize()


async def test_a_failed_submit_is_raised_where_it_is_awaited(host):
    x = await gpu.exp(gpu.ones(3)).evaluate()
    await gpu.synchronize()
    y = await (x + 1).evaluate()
    host.recorder.fail("submit", len(host.recorder.submits) + 1, "no")
    z = gpu.exp(gpu.ones(5))
    for _ in range(2):
        with pytest.raises(gpu.errors.KernelError, match=r"exp \(line .*_evaluate.py:\d+\): .*no"):
            await z.numpy()
    await y.numpy()
    await gpu.synchronize()


async def test_an_error_that_nobody_awaited_is_raised_once(host, monkeypatch):
    await gpu.exp(gpu.ones(3)).evaluate()
    await gpu.synchronize()
    unfinished = 1  # what was issued is not known to have succeeded when it is let go
    with monkeypatch.context() as patched:
        patched.setattr(type(host.recorder), "_status", lambda _: unfinished)
        await gpu.exp(gpu.ones(5)).evaluate()
    host.recorder.fail("submit", len(host.recorder.submits), "no")
    with pytest.raises(gpu.errors.KernelError, match="no"):
        await gpu.synchronize()
    await gpu.synchronize()


async def test_more_than_a_buffer_holds_fails_by_itself(host):
    huge = gpu.exp(gpu.ones(Limits().max_binding_nbytes))
    small = gpu.exp(gpu.ones(4))
    with pytest.raises(gpu.errors.LimitError, match="exp: "):
        await gpu.read(small, huge)
    await small.numpy()


async def test_a_lost_device_is_said_and_replaced(host):
    x = await gpu.exp(gpu.ones(4)).evaluate()
    host.recorder.lose("pulled out")
    with pytest.raises(gpu.errors.DeviceLostError, match="pulled out"):
        await x.numpy()
    with pytest.raises((gpu.errors.DeviceLostError, gpu.errors.HandleError)):
        await (x + 1).numpy()
    fresh = await gpu.exp(gpu.ones(4)).evaluate()
    # What was on the lost device stays lost, and does no harm to the new one.
    with pytest.raises((gpu.errors.DeviceLostError, gpu.errors.HandleError)):
        await (x * 2).numpy()
    await fresh.numpy()
    assert len(host.recorders) == 2
    await gpu.synchronize()


async def test_synchronize_runs_what_is_held_and_nothing_else(host):
    x = await gpu.exp(gpu.ones(4)).evaluate()
    kept = x + 1
    dropped = x * 2
    number = gpu.full((3,), 7)
    del dropped
    await gpu.synchronize()
    assert [d.label for d in dispatches(host)] == ["exp", "add"]
    assert kept._node.is_done
    assert not number._node.is_done
    await gpu.synchronize()


async def test_long_work_on_a_slow_adapter_is_cut_into_submits(host):
    host.limits = Limits(is_fallback=True)
    budget, _ = BUDGETS["throughput", True]
    a = await gpu.exp(gpu.ones((2048, 256))).evaluate()
    before = len(host.recorder.submits)
    await (a @ a.T).evaluate()
    submits = host.recorder.submits[before:]
    cost = 2 * 64 * 64 * 256
    groups = [sum(d.grid[0] * d.grid[1] for d in submit) for submit in submits]
    assert sum(groups) == 32 * 32
    assert max(groups) * cost <= budget * 5 / 4 + cost
    assert len(submits) > 400


async def test_plans_do_not_mix(host):
    async def work(n):
        x = gpu.exp(gpu.ones(n))
        for _ in range(5):
            x = (x + 1).reshape(-1, 1) @ gpu.ones((1, 1))
            x = x.reshape(-1)
        await x.numpy()

    await asyncio.gather(*(work(n) for n in range(1, 20)))
    assert host.recorder.reads == {}
    await gpu.synchronize()


async def test_warm_work_makes_no_buffers_and_compiles_nothing(host):
    async def work():
        return await (gpu.exp(gpu.ones(1000)) * 2 + 1).sum().item()

    await work()
    before = gpu.counters()
    for _ in range(10):
        await work()
    after = gpu.counters()
    assert after["buffers"] == before["buffers"]
    assert after["pipelines"] == before["pipelines"]
    assert after["proxies"] == 0
