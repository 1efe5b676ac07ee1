"""Sorting: order, stability, dtypes, sizes around runs and shares, axes, views."""

import pytest
from pytest_pyodide import run_in_pyodide


@pytest.mark.driver_timeout(180)
@run_in_pyodide
async def test_every_dtype_at_every_size_is_stable(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    rng = np.random.default_rng(1)
    sizes = (1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025)
    names = (
        "bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "float32",
    )  # fmt: skip
    for dtype in names:
        for size in sizes:
            # Few values, so that there are many equals.
            host = rng.integers(0, max(2, size // 4), size)
            if dtype[0] in "if" and dtype != "bool":
                host = host - size // 8
            host = host.astype(dtype)
            if dtype.startswith("float"):
                special = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-7, -np.nan], dtype)
                host[rng.integers(0, size, size // 3)] = rng.choice(special, size // 3)
            x = gpu.asarray(host)
            down = np.argsort(host[::-1], kind="stable")[::-1]
            made = await gpu.read(
                gpu.sort(x), gpu.argsort(x), gpu.argsort(x, descending=True),
                gpu.sort(x, descending=True),
            )  # fmt: skip
            label = f"{dtype} {size}"
            order = np.argsort(host, kind="stable")
            assert_array_equal(made[0], host[order], strict=True, err_msg=label)
            assert_array_equal(
                np.signbit(made[0].astype("f4")), np.signbit(host[order].astype("f4"))
            )
            assert_array_equal(made[1], order.astype("i4"), strict=True, err_msg=label)
            reverse = size - 1 - down
            assert_array_equal(made[2], reverse.astype("i4"), strict=True, err_msg=label)
            assert_array_equal(made[3], host[reverse], strict=True, err_msg=label)


@run_in_pyodide
async def test_whole_ranges_of_integers_and_floats(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    rng = np.random.default_rng(2)
    bits = rng.integers(0, 2**32, 5000, dtype="u4")
    bits[:4] = 0, 2**31 - 1, 2**31, 2**32 - 1
    for dtype in ("u4", "i4", "f4", "u2", "i2", "f2", "u1", "i1"):
        host = bits.view(dtype)
        read = await gpu.sort(gpu.asarray(host)).numpy()
        assert_array_equal(read, np.sort(host), strict=True, err_msg=dtype)


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_long_rows(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    rng = np.random.default_rng(3)
    for size in (65536, 65537, 300_001, 1_000_000):
        host = rng.normal(0, 1, size).astype("f4")
        host[::7] = 0.5
        x = gpu.asarray(host)
        order = np.argsort(host, kind="stable")
        values, places = await gpu.read(gpu.sort(x), gpu.argsort(x))
        assert_array_equal(places, order.astype("i4"), strict=True)
        assert_array_equal(values, host[order], strict=True)


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_axes_and_views(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    rng = np.random.default_rng(4)
    for shape in ((4, 70), (70, 4), (3, 50, 5), (2, 3, 17, 4), (1, 33, 1), (2000, 7), (7, 2000)):
        host = rng.integers(0, 30, shape).astype("i4")
        x = gpu.asarray(host)
        for axis in range(-1, len(shape)):
            places = np.argsort(host, axis, kind="stable")
            made = await gpu.read(gpu.sort(x, axis=axis), gpu.argsort(x, axis=axis))
            assert_array_equal(made[0], np.sort(host, axis), strict=True)
            assert_array_equal(made[1], places.astype("i4"), strict=True)
    host = rng.normal(0, 1, (40, 50)).astype("f2")
    x = gpu.asarray(host)
    for ours, theirs in (
        (x.T, host.T), (x[::-2, 3:], host[::-2, 3:]), (x[5], host[5]),
        (gpu.broadcast_to(x[:, :1], (40, 60)), np.broadcast_to(host[:, :1], (40, 60))),
    ):  # fmt: skip
        for axis in range(theirs.ndim):
            made = await gpu.read(gpu.sort(ours, axis=axis), gpu.argsort(ours, axis=axis))
            assert_array_equal(made[0], np.sort(theirs, axis), strict=True)
            assert_array_equal(made[1], np.argsort(theirs, axis, kind="stable").astype("i4"))
    # Work before and after it.
    y = gpu.argsort(-gpu.abs(x), axis=1) * 2 + 1
    wanted = np.argsort(-np.abs(host), 1, kind="stable").astype("i4") * 2 + 1
    assert_array_equal(await y.numpy(), wanted, strict=True)


@run_in_pyodide
async def test_random_shapes(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    rng = np.random.default_rng(5)
    for _ in range(40):
        rank = int(rng.integers(1, 9))
        shape = tuple(int(n) for n in rng.integers(0, 400 if rank == 1 else 6, rank))
        axis = int(rng.integers(-rank, rank))
        host = rng.integers(-5, 6, shape).astype(rng.choice(["i1", "i4", "f4", "f2"]))
        down = bool(rng.integers(0, 2))
        x = gpu.asarray(host)
        made = gpu.argsort(x, axis=axis, descending=down)
        wanted = np.argsort(-host if down else host, axis, kind="stable").astype("i4")
        assert_array_equal(await made.numpy(), wanted, strict=True, err_msg=f"{shape} {axis}")


@run_in_pyodide
async def test_top_k(selenium_worker):
    import numpy as np
    import pytest
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    rng = np.random.default_rng(6)
    for shape, axis in (((1000,), 0), ((5, 300), 1), ((300, 5), 0), ((3, 20, 4), -2), ((9,), 0)):
        host = rng.integers(0, 40, shape).astype("f4")
        x = gpu.asarray(host)
        for k in {min(k, shape[axis]) for k in (0, 1, 3, 7, 8, 9, 999)}:
            for mode, key in (("largest", -host), ("smallest", host)):
                places = np.argsort(key, axis, kind="stable")
                places = np.take(places, np.arange(k), axis).astype("i4")
                made = gpu.top_k(x, k, axis=axis, mode=mode)
                values, indices = await gpu.read(made.values, made.indices)
                assert_array_equal(indices, places, strict=True)
                assert_array_equal(values, np.take_along_axis(host, places, axis), strict=True)
    with pytest.raises(gpu.errors.UsageError, match=r"top_k: k 4: .*has 3 elements"):
        gpu.top_k(gpu.zeros((3,)), 4)
    with pytest.raises(gpu.errors.UsageError, match="mode 'most'"):
        gpu.top_k(gpu.zeros((3,)), 1, mode="most")


@run_in_pyodide
async def test_taking_along_an_axis(selenium_worker):
    import numpy as np
    import pytest
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    rng = np.random.default_rng(7)
    for dtype in ("bool", "uint8", "int16", "float16", "float32", "complex64"):
        host = rng.integers(0, 50, (4, 5, 6)).astype(dtype)
        x = gpu.asarray(host)
        for axis in range(3):
            shape = [4, 5, 6]
            shape[axis] = 9
            at = rng.integers(-host.shape[axis], host.shape[axis], shape).astype("i4")
            made = gpu.take_along_axis(x, gpu.asarray(at), axis=axis)
            wanted = np.take_along_axis(host, at, axis)
            assert_array_equal(await made.numpy(), wanted, strict=True)
    host = rng.normal(0, 1, (4, 5)).astype("f4")
    x = gpu.asarray(host)
    made = await gpu.read(
        gpu.take_along_axis(x, gpu.asarray([[4, 0]], dtype="uint8"), axis=1),
        gpu.take_along_axis(x.T, gpu.asarray([[3], [0]]), axis=1 - 1),
        gpu.take_along_axis(x, gpu.asarray([[7, -9]]), axis=1),
    )
    assert_array_equal(made[0], host[:, [4, 0]])
    assert_array_equal(made[1], np.broadcast_to(host.T[[3, 0]][:, :], (2, 4)))
    assert_array_equal(made[2], host[:, [4, 0]])
    with pytest.raises(gpu.errors.DTypeError, match="float32 indices"):
        gpu.take_along_axis(x, x)
    with pytest.raises(gpu.errors.ShapeError, match="as many axes"):
        gpu.take_along_axis(x, gpu.asarray([1]))
    with pytest.raises(gpu.errors.AxisError, match="take_along_axis: axis 2"):
        gpu.take_along_axis(x, gpu.zeros((1, 1), dtype="int32"), axis=2)
    with pytest.raises(gpu.errors.ShapeError, match="nothing along axis"):
        gpu.take_along_axis(gpu.zeros((2, 0)), gpu.zeros((2, 1), dtype="int32"))


@run_in_pyodide
async def test_nothing_to_sort_and_what_cannot_be(selenium_worker):
    import pytest

    import aiogpu as gpu

    for shape in ((0,), (0, 3), (3, 0), (2, 1)):
        x = gpu.zeros(shape, dtype="int16")
        made = await gpu.read(gpu.sort(x), gpu.argsort(x), gpu.sort(x, axis=0))
        assert [each.shape for each in made] == [shape] * 3
        assert [each.dtype.name for each in made] == ["int16", "int32", "int16"]
    with pytest.raises(gpu.errors.AxisError, match="sort: axis -1"):
        gpu.sort(gpu.asarray(1.0))
    with pytest.raises(gpu.errors.AxisError, match="argsort: axis 1"):
        gpu.argsort(gpu.zeros(3), axis=1)
    for function in (gpu.sort, gpu.argsort, lambda x: gpu.top_k(x, 1)):
        with pytest.raises(gpu.errors.DTypeError, match="complex64: has no order"):
            function(gpu.zeros(3, dtype="complex64"))


@run_in_pyodide
async def test_sorting_reads_nothing(selenium_worker):
    import aiogpu as gpu

    x = gpu.arange(1000)[::-1]
    before = gpu.counters()["reads"]
    made = [gpu.sort(x), gpu.argsort(x), *gpu.top_k(x, 5), gpu.searchsorted(x, x)]
    made += [gpu.isin(x, x[:3]), *gpu.unique_all(x, size=4), *gpu.nonzero(x, size=3)]
    for each in made:
        await each.evaluate()
    await gpu.synchronize()
    assert gpu.counters()["reads"] == before
    assert await made[2].tolist() == [999, 998, 997, 996, 995]
