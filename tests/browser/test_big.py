"""Sizes past one row of workgroups, past the interactive budget, and past a buffer."""

import pytest
from pytest_pyodide import run_in_pyodide


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_more_elements_than_one_row_of_workgroups(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    size = 16776961  # 65535 workgroups of 256 threads, and one element
    x = gpu.arange(size)
    y = (x * 3 + 1).astype("uint8")
    last, first, checked, total = await gpu.read(
        (x + 7)[-1], (x + 7)[0], gpu.all((x + 1) - x == 1), (x >= size - 5).astype("int32").sum()
    )
    assert (last, first, bool(checked), total) == (size + 6, 7, True, 5)
    whole = await y.numpy()
    assert whole.shape == (size,)
    assert np.array_equal(whole, (np.arange(size, dtype="i4") * 3 + 1).astype("u1"))
    del x, y, whole


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_many_batches_of_a_small_product(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    batches = 70_000  # more than workgroups along one dimension
    host = (np.arange(batches * 6, dtype="i4") % 11).reshape(batches, 2, 3)
    other = (np.arange(batches * 6, dtype="i4") % 7).reshape(batches, 3, 2)
    made = await (gpu.asarray(host) @ gpu.asarray(other)).numpy()
    assert np.array_equal(made, host @ other)


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_long_work_is_cut_into_short_submits(selenium_worker):
    import aiogpu as gpu

    x = gpu.ones((700, 700)).copy()
    await (x @ x).evaluate()
    await gpu.synchronize()
    before = gpu.counters()
    made = x @ x
    assert await made[699, 699].item() == 700
    after = gpu.counters()
    # 6.9e8 scalar operations: on a software adapter more than one submit may hold.
    report = await gpu.report()
    if report["adapter"]["kind"].startswith("software"):
        assert after["submits"] - before["submits"] > 20
        assert after["dispatches"] - before["dispatches"] > 20


@run_in_pyodide
async def test_more_than_a_buffer_holds_is_refused_with_both_numbers(selenium_worker):
    import pytest

    import aiogpu as gpu

    device = await gpu.open_device()
    allowed = min(
        device.adapter.limits["maxBufferSize"],
        device.adapter.limits["maxStorageBufferBindingSize"],
    )
    count = allowed // 4 + 64
    used = gpu.memory()["buffers"]
    x = gpu.ones(count)
    assert await x.sum().item() == pytest.approx(count, rel=1e-7)  # no memory, no limit
    with pytest.raises(gpu.errors.LimitError, match=rf"{4 * count} bytes.*at most {allowed}"):
        await x.copy().evaluate()
    assert gpu.memory()["buffers"] <= used + 4
    huge = gpu.ones((2**20, 2**20), dtype="uint8")
    with pytest.raises(gpu.errors.LimitError):
        await (huge + 1).evaluate()


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_large_uploads_leave_the_event_loop_its_turns(selenium_worker):
    import asyncio

    import numpy as np

    import aiogpu as gpu

    host = np.arange(16 * 2**20, dtype="i4")  # 64 MiB
    x = gpu.asarray(host)
    turns = 0

    async def count():
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    counting = asyncio.ensure_future(count())
    read = await x.numpy()
    counting.cancel()
    assert np.array_equal(read, host)
    assert turns >= 15  # one between any two pieces of 4 MiB


@run_in_pyodide
async def test_elements_past_what_a_shader_counts_are_right_or_refused(selenium_worker):
    """N16. These arrays lie nowhere: only their parts are asked for, or their sums."""
    import numpy as np
    import pytest

    import aiogpu as gpu

    x = await gpu.ones(3).copy().evaluate()
    near = gpu.arange(2**31 + 10, dtype="float32") * 2
    tail = gpu.arange(2**32 - 1, dtype="float32")[-3:] + 0
    wide = (gpu.broadcast_to(gpu.arange(60_000), (60_000, 60_000)) * 2)[-1, -3:]
    last, three, part = await gpu.read(near[-1], tail, wide)
    assert last == np.float32(2 * (2**31 + 9))
    assert three.tolist() == [np.float32(2**32)] * 3
    assert part.tolist() == [119_994, 119_996, 119_998]
    spread = gpu.broadcast_to(x[:1], (2**17, 2**17))
    row = gpu.broadcast_to(gpu.arange(70_001, dtype="float32"), (70_001, 70_001)) * 2
    dispatches = gpu.counters()["dispatches"]
    for refused in (
        gpu.arange(2**33, dtype="float32")[-1] + 1,
        gpu.arange(2**32 + 6, dtype="float32")[-3:] + 1,
        gpu.sum(spread),
        gpu.max(gpu.broadcast_to(x[:1], (2**16, 2**16 + 1))),
        gpu.sum(gpu.full((2**17, 2**17), 1.0)),
        spread + 1,
        row[-1, -3:],
        gpu.broadcast_to(x[:1], (2**17, 4)) @ gpu.broadcast_to(x[:1], (4, 2**17)),
    ):
        with pytest.raises(gpu.errors.LimitError, match=r"\d{9,} (elements|bytes).* at most \d+"):
            await refused.numpy()
    assert gpu.counters()["dispatches"] == dispatches
