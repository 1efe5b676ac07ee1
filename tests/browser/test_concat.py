"""Arrays behind each other."""

from pytest_pyodide import run_in_pyodide


@run_in_pyodide
async def test_concat_and_stack_match_numpy(selenium_worker):
    import numpy as np
    import pytest

    import aiogpu as gpu

    rng = np.random.default_rng(0)
    for dtype in ("f4", "i4", "u4", "u1", "?"):
        for axis in (0, 1, -1):
            shapes = [[3, 4, 5] for _ in range(4)]
            for shape, size in zip(shapes, (2, 0, 1, 7), strict=True):
                shape[axis] = size
            hosts = [rng.integers(0, 2, shape).astype(dtype) for shape in shapes]
            arrays = [gpu.asarray(host) for host in hosts]
            got = await gpu.concat(arrays, axis=axis).numpy()
            np.testing.assert_array_equal(got, np.concatenate(hosts, axis))
            assert got.dtype == np.dtype(dtype)
        same = [rng.integers(0, 2, (3, 5)).astype(dtype) for _ in range(3)]
        for axis in (0, 1, 2, -1):
            got = await gpu.stack([gpu.asarray(host) for host in same], axis=axis).numpy()
            np.testing.assert_array_equal(got, np.stack(same, axis))
    x = gpu.arange(6).reshape(2, 3)
    host = np.arange(6).reshape(2, 3)
    got = await gpu.concat([x.T, (x + 1).T, gpu.zeros((0, 2), dtype="int32")]).numpy()
    np.testing.assert_array_equal(got, np.concatenate([host.T, (host + 1).T]))
    flat = await gpu.concat([x, x * 0.5], axis=None).numpy()
    np.testing.assert_array_equal(flat, np.concatenate([host, host * np.float32(0.5)], None))
    parts = [gpu.asarray(np.ones(4, "f4")) for _ in range(10)]
    await gpu.concat(parts[:2]).numpy()
    before = gpu.counters()["dispatches"]
    await gpu.concat(parts).numpy()
    assert gpu.counters()["dispatches"] - before == 10  # each part goes to its place, once
    with pytest.raises(gpu.errors.ShapeError, match=r"\(2, 3\) and \(3, 3\)"):
        gpu.concat([x, gpu.zeros((3, 3))], axis=1)
    with pytest.raises(gpu.errors.UsageError, match="no arrays"):
        gpu.concat([])
