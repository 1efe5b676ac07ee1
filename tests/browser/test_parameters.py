"""Parameters in immediates and in uniforms, and caches that must not confuse similar calls."""

import pytest
from pytest_pyodide import run_in_pyodide


@run_in_pyodide
async def test_operations_of_rank_eight_need_more_than_immediates_hold(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    rng = np.random.default_rng(14)
    host = rng.integers(-9, 9, (2, 3, 2, 1, 3, 2, 2, 3)).astype("i4")
    order = (7, 2, 5, 0, 6, 3, 1, 4)
    x = gpu.asarray(host)
    y = gpu.permute_dims(x, order)
    moved = host.transpose(order)
    # Sizes, strides and offsets of two strided operands: more than 64 bytes, so a uniform buffer.
    made = y[..., ::-1] * 2 + y[::-1]
    assert_array_equal(await made.numpy(), moved[..., ::-1] * 2 + moved[::-1], strict=True)
    assert_array_equal(await gpu.sum(y, axis=(0, 3, 5)).numpy(), moved.sum((0, 3, 5)), strict=True)
    z = y.copy()
    z[:, 0, ::-1, ..., 1:] = y[:, 1, :, ..., :-1]
    wanted = moved.copy()
    wanted[:, 0, ::-1, ..., 1:] = moved[:, 1, :, ..., :-1]
    assert_array_equal(await z.numpy(), wanted, strict=True)


@run_in_pyodide
async def test_many_launches_with_uniform_parameters_in_one_submit(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    host = np.arange(2 * 3 * 2 * 3 * 2 * 2 * 2, dtype="i4").reshape(2, 3, 2, 3, 2, 2, 2)
    order = (6, 2, 0, 4, 1, 5, 3)
    x = gpu.permute_dims(gpu.asarray(host), order)
    moved = host.transpose(order)
    made = [x[::-1] * n + x[:, ::-1] for n in range(600)]
    before = gpu.counters()
    reads = await gpu.read(*made)
    after = gpu.counters()
    # A large graph is planned in portions, and nothing is fused across their borders.
    assert 600 <= after["dispatches"] - before["dispatches"] < 610
    for n, read in enumerate(reads):
        assert np.array_equal(read, moved[::-1] * n + moved[:, ::-1]), n


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_everything_works_where_there_are_no_immediates(selenium_worker):
    from dataclasses import replace

    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu
    from aiogpu import evaluate

    await gpu.close()
    await gpu.open_device()
    runtime = evaluate.DEFAULT.runtime
    had = runtime.limits.immediate_nbytes
    runtime.limits = replace(runtime.limits, immediate_nbytes=0)
    try:
        host = np.arange(120, dtype="i4").reshape(4, 5, 6)
        x = gpu.asarray(host)
        made = [
            x + 1, x[::-1] * x, x.sum(1), x.mean((0, 2)), x[0] @ x[1].T, x.astype("uint8") ^ 3,
            gpu.arange(5, 50, 3), gpu.where(x % 2 == 0, x, -x).max(),
        ]  # fmt: skip
        wanted = [
            host + 1, host[::-1] * host, host.sum(1), host.mean((0, 2)).astype("f4"),
            host[0] @ host[1].T, host.astype("u1") ^ 3, np.arange(5, 50, 3, dtype="i4"),
            np.where(host % 2 == 0, host, -host).max(),
        ]  # fmt: skip
        y = x.copy()
        y[1, ::2] = 7
        patched = host.copy()
        patched[1, ::2] = 7
        for read, value in zip(await gpu.read(*made, y), [*wanted, patched], strict=True):
            assert_array_equal(read, value)
        assert await gpu.ones(100_000).sum().item() == 100_000
        layouts = {launch[0].count("var<uniform>") for launch in runtime.pipelines._ready}
        assert layouts == {1}, "a shader took immediates"
    finally:
        await gpu.close()
    assert had in {0, 64}


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_similar_calls_are_not_confused_in_either_order(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    rng = np.random.default_rng(15)
    a = rng.integers(0, 9, (6, 6)).astype("f4")
    flat, cube = a.reshape(36), a.reshape(2, 3, 6)
    x = gpu.asarray
    pairs = [
        (lambda: (x(a) + 1000015.0, a + np.float32(1000015)),
         lambda: (x(a) + 1000025.0, a + np.float32(1000025))),
        (lambda: (x(a) * 2, a * 2), lambda: (x(a.astype("i4")) * 2, a.astype("i4") * 2)),
        (lambda: (x(a.astype("u4")) * 2, a.astype("u4") * 2),
         lambda: (x(a.astype("u1")) * 2, a.astype("u1") * 2)),
        (lambda: (x(a) + x(a), a + a), lambda: (x(a) + x(a).T, a + a.T)),
        (lambda: (x(a) + x(a[0]), a + a[0]), lambda: (x(a) + x(a[:, :1]), a + a[:, :1])),
        (lambda: (x(flat) + x(flat), flat + flat), lambda: (x(cube) + x(cube), cube + cube)),
        (lambda: (x(cube) + x(a[0]), cube + a[0]),
         lambda: (x(cube)[::-1] + x(a[0]), cube[::-1] + a[0])),
        (lambda: (x(a).sum(0), a.sum(0)), lambda: (x(a).sum(1), a.sum(1))),
        (lambda: (x(a).sum(), a.sum()), lambda: (x(a).max(), a.max())),
        (lambda: (x(cube).sum((0, 2)), cube.sum((0, 2))),
         lambda: (x(cube).sum((0, 1)), cube.sum((0, 1)))),
        (lambda: (x(a) @ x(a), a @ a), lambda: (x(a) @ x(a).T, a @ a.T)),
        (lambda: (x(a) @ x(a), a @ a), lambda: (x(cube) @ x(a), cube @ a)),
        (lambda: (x(a)[::2] + 0, a[::2]), lambda: (x(a)[1::2] + 0, a[1::2])),
        (lambda: (x(a) - x(a)[::-1], a - a[::-1]), lambda: (x(a)[::-1] - x(a), a[::-1] - a)),
        (lambda: (gpu.where(x(a) > 4, 1, 0), np.where(a > 4, 1, 0)),
         lambda: (gpu.where(x(a) > 4, 0, 1), np.where(a > 4, 0, 1))),
        (lambda: (gpu.maximum(x(a), 3), np.maximum(a, 3)),
         lambda: (gpu.minimum(x(a), 3), np.minimum(a, 3))),
        (lambda: (x(a) == 3, a == 3), lambda: (x(a) != 3, a != 3)),
        (lambda: (gpu.arange(3, 9), np.arange(3, 9)),
         lambda: (gpu.arange(3, 9, 2), np.arange(3, 9, 2))),
        (lambda: (x(a).astype("int32"), a.astype("i4")),
         lambda: (x(a).astype("uint32"), a.astype("u4"))),
        (lambda: (x(a) * 1.0, a), lambda: (x(a) * True, a)),
    ]  # fmt: skip
    for first_opens in (True, False):
        # A new device has empty caches of pipelines; the cache of texts is emptied too.
        await gpu.close()
        from aiogpu import evaluate
        from aiogpu.plan import Planner

        evaluate.DEFAULT._planner = Planner()
        for at, pair in enumerate(pairs):
            for call in pair if first_opens else pair[::-1]:
                made, wanted = call()
                assert_array_equal(await made.numpy(), wanted, err_msg=str(at))
