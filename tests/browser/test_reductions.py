"""Sums, means, products, extremes, any and all: axes, dtypes, sizes, NaN, nothing to reduce."""

import pytest
from pytest_pyodide import run_in_pyodide


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_all_axes_of_all_ranks(selenium_worker):
    from itertools import combinations

    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    rng = np.random.default_rng(3)
    for shape in ((7,), (3, 5), (2, 3, 4), (2, 1, 3, 2), (2, 3, 2, 2, 3)):
        # Small integers, so that every order of adding gives the same float32.
        host = rng.integers(-4, 5, shape).astype("f4")
        x = gpu.asarray(host)
        axes = [each for n in range(len(shape) + 1) for each in combinations(range(len(shape)), n)]
        axes += [None, -1, len(shape) - 1]
        asked = [(axis, keep) for axis in axes for keep in (False, True)]
        made = [gpu.sum(x, axis=axis, keepdims=keep) for axis, keep in asked]
        made += [gpu.max(x, axis=axis, keepdims=keep) for axis, keep in asked]
        wanted = [np.sum(host, axis, keepdims=keep) for axis, keep in asked]
        wanted += [np.max(host, axis, keepdims=keep) for axis, keep in asked]
        for read, value in zip(await gpu.read(*made), wanted, strict=True):
            assert_array_equal(read, value, strict=True)


@run_in_pyodide
async def test_every_reduction_of_every_dtype(selenium_worker):
    import numpy as np
    from numpy.testing import assert_allclose, assert_array_equal

    import aiogpu as gpu

    rng = np.random.default_rng(4)
    sums = {"bool": "int32", "uint8": "uint32", "int32": "int32", "uint32": "uint32"}
    for dtype in ("float32", "int32", "uint32", "uint8", "bool"):
        host = rng.integers(0, 3, (5, 70, 11)).astype(dtype)
        x = gpu.asarray(host)
        for axis in (None, 0, 1, 2, (0, 2)):
            names = ("sum", "prod", "max", "min", "any", "all", "mean")
            made = await gpu.read(*(getattr(gpu, name)(x, axis=axis) for name in names))
            for name, read in zip(names, made, strict=True):
                if name in {"sum", "prod"}:
                    value = getattr(np, name)(host, axis, dtype=sums.get(dtype, dtype))
                elif name == "mean":
                    value = np.mean(host, axis, dtype="f8").astype("f4")
                else:
                    value = getattr(np, name)(host, axis)
                if name == "mean":
                    # Compensated sum, one division: two units in the last place.
                    assert_allclose(read, value, rtol=2.4e-7)
                    assert (read.dtype, read.shape) == (value.dtype, value.shape)
                else:
                    assert_array_equal(read, value, strict=True, err_msg=f"{name} {dtype} {axis}")


@run_in_pyodide
async def test_sizes_around_the_passes(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    sizes = (1, 2, 63, 64, 65, 255, 256, 257, 1000, 4096, 16384, 65537, 100_000, 1_000_000)
    for size in sizes:
        ones = gpu.ones(size)
        host = np.arange(size, dtype="i4") % 1000 - 500
        x = gpu.asarray(host)
        flags = gpu.arange(size) == size - 1
        total, summed, low, high, last, every = await gpu.read(
            ones.sum(), x.sum(), x.min(), x.max(), gpu.any(flags), gpu.all(~flags)
        )
        assert (total, summed) == (size, host.sum()), size
        assert (low, high) == (host.min(), host.max()), size
        assert (last, every) == (True, False), size
    grid = gpu.ones((300, 700))
    rows, columns = await gpu.read(grid.sum(0), grid.sum(1))
    assert (rows == 300).all()
    assert (columns == 700).all()
    assert (rows.shape, columns.shape) == ((700,), (300,))


@run_in_pyodide
async def test_sums_are_exact_where_naive_ones_are_not(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    assert await gpu.arange(10000, dtype="float32").sum().item() == 49995000
    assert await gpu.full(4194304, 238).sum().item() == 998244352
    assert await (gpu.full(1, 821892087) * 2).item() == 1643784174
    assert await gpu.ones(2**24 + 16).sum().item() == 16777232
    assert await gpu.ones(2**24 + 16).mean().item() == 1
    rng = np.random.default_rng(5)
    host = rng.normal(0, 1, 300_000).astype("f4") * 10.0 ** rng.integers(-3, 4, 300_000)
    host = host.astype("f4")
    exact = host.astype("f8").sum()
    # Compensated: the error is that of one rounding, however many elements.
    assert abs(await gpu.asarray(host).sum().item() - exact) <= np.spacing(np.float32(abs(exact)))
    # A mean of int32 does not wrap.
    assert await gpu.full(4, 2**31 - 1).mean().item() == 2.0**31


@run_in_pyodide
async def test_extremes_of_very_large_numbers(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    for size in (3, 300, 70_000):
        low, high = np.full(size, -2e38, "f4"), np.full(size, 2e38, "f4")
        low[size // 2], high[size // 2] = -1.5e38, 1.5e38
        infinite = gpu.full(size, float("-inf"))
        made = await gpu.read(
            gpu.asarray(low).max(), gpu.asarray(high).min(), infinite.max(), (-infinite).min()
        )
        assert made[0] == np.float32(-1.5e38)
        assert made[1] == np.float32(1.5e38)
        assert [float(v) for v in made[2:]] == [float("-inf"), float("inf")]
        mixed = gpu.asarray(np.where(np.arange(size) == 1, np.inf, -np.inf).astype("f4"))
        assert [float(v) for v in await gpu.read(mixed.max(), mixed.min())] == [np.inf, -np.inf]
        whole = gpu.full(size, -(2**31))
        assert await whole.max().item() == -(2**31)
        assert await gpu.full(size, 2**32 - 1, dtype="uint32").min().item() == 2**32 - 1


@run_in_pyodide
async def test_nan_and_infinity_in_reductions(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    for size in (3, 1000, 70_000):
        host = np.ones(size, "f4")
        host[size - 1] = np.nan
        x = gpu.asarray(host)
        made = await gpu.read(x.sum(), x.mean(), x.max(), x.min(), gpu.prod(x))
        assert all(np.isnan(v) for v in made)
        assert [bool(v) for v in await gpu.read(gpu.any(x), gpu.all(x))] == [True, True]
        host[size - 1] = np.inf
        y = gpu.asarray(host)
        made = await gpu.read(y.sum(), y.mean(), y.max(), y.min())
        assert [float(v) for v in made] == [np.inf, np.inf, np.inf, 1]
        host[0] = -np.inf
        assert np.isnan(await gpu.asarray(host).sum().item())


@run_in_pyodide
async def test_nothing_to_reduce(selenium_worker):
    import numpy as np
    import pytest

    import aiogpu as gpu

    x = gpu.zeros((0, 3))
    made = await gpu.read(
        gpu.sum(x, axis=0), gpu.prod(x, axis=0), gpu.any(x, axis=0), gpu.all(x, axis=0),
        gpu.mean(x, axis=0), gpu.sum(x, axis=1), gpu.sum(x), gpu.max(x, axis=1),
        gpu.sum(gpu.zeros((2, 0), dtype="uint8"), axis=1), gpu.sum(x, axis=(), keepdims=True),
        gpu.mean(gpu.zeros((0, 1000)), axis=1), gpu.max(gpu.zeros((3, 0, 70_000)) + 1, axis=2),
    )  # fmt: skip
    assert made[0].tolist() == [0, 0, 0]
    assert made[1].tolist() == [1, 1, 1]
    assert made[2].tolist() == [False] * 3
    assert made[3].tolist() == [True] * 3
    assert np.isnan(made[4]).all()
    assert (made[5].shape, made[6].tolist(), made[7].shape) == ((0,), 0, (0,))
    assert (made[8].dtype, made[8].tolist()) == (np.uint32, [0, 0])
    assert [each.shape for each in made[9:]] == [(0, 3), (0,), (3, 0)]
    with pytest.raises(gpu.errors.UsageError, match="no elements"):
        gpu.max(x)
    with pytest.raises(ValueError, match="no elements"):
        x.min(axis=0)
    with pytest.raises(gpu.errors.AxisError):
        x.sum(axis=2)
    with pytest.raises(gpu.errors.UsageError, match="twice"):
        x.sum(axis=(0, -2))


@run_in_pyodide
async def test_reductions_of_views_and_of_fused_work(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    host = np.arange(2 * 30 * 41, dtype="i4").reshape(2, 30, 41) % 97
    x = gpu.asarray(host)
    pairs = [
        (x.sum, host.sum),
        (x[:, ::-2, 3:].sum, host[:, ::-2, 3:].sum),
        (gpu.permute_dims(x, (2, 0, 1)).sum, host.transpose(2, 0, 1).sum),
        ((x[0] * x[1] + 1).sum, (host[0] * host[1] + 1).sum),
        (gpu.broadcast_to(x[0, :1], (30, 41)).max, np.broadcast_to(host[0, :1], (30, 41)).max),
        (gpu.where(x % 2 == 0, x, 0).sum, np.where(host % 2 == 0, host, 0).sum),
    ]
    for ours, theirs in pairs:
        axes = (None, 0, 1) if theirs().ndim == 0 and ours().ndim == 0 else (None,)
        for axis in axes:
            assert_array_equal(await ours(axis).numpy(), theirs(axis).astype("i4"), strict=True)
    before = gpu.counters()["dispatches"]
    assert await (x[0] * x[1] + 1).max(1).evaluate() is not None
    assert gpu.counters()["dispatches"] == before + 1
