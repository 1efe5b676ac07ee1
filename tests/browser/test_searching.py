"""nonzero and searchsorted."""

import pytest
from pytest_pyodide import run_in_pyodide


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_nonzero_of_every_dtype_and_shape(selenium_worker):
    import numpy as np
    import pytest
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    rng = np.random.default_rng(1)
    for shape in (
        (1,),
        (31,),
        (33,),
        (257,),
        (1025,),
        (65537,),
        (7, 50),
        (3, 4, 5, 6),
        (0,),
        (3, 0),
    ):
        for dtype in ("bool", "int8", "uint16", "int32", "float16", "float32", "complex64"):
            host = (rng.integers(0, 3, shape) * rng.integers(0, 2, shape)).astype(dtype)
            if dtype.startswith("float") and host.size > 2:
                host.reshape(-1)[:3] = np.nan, -0.0, np.inf
            made = gpu.nonzero(gpu.asarray(host))
            read = await gpu.read(*made)
            for ours, theirs in zip(read, np.nonzero(host), strict=True):
                label = f"{shape} {dtype}"
                assert_array_equal(ours, theirs.astype("i4"), strict=True, err_msg=label)
    for host in (np.zeros((5, 3)), np.ones((5, 3)), np.eye(5)[::-2]):
        x = gpu.asarray(host.astype("f4"))
        for ours, theirs in zip(gpu.nonzero(x), np.nonzero(host), strict=True):
            assert_array_equal(await ours.numpy(), theirs)
    x = gpu.asarray(np.eye(6, dtype="f4"))
    for ours, theirs in zip(
        gpu.nonzero(x.T[1::2] + x[::2]), np.nonzero(np.eye(6)[1::2] + np.eye(6)[::2]), strict=True
    ):
        assert_array_equal(await ours.numpy(), theirs)
    with pytest.raises(gpu.errors.UsageError, match="0-d array"):
        gpu.nonzero(gpu.asarray(1))


@run_in_pyodide
async def test_nonzero_of_a_given_size(selenium_worker):
    import pytest

    import aiogpu as gpu

    x = gpu.asarray([[0, 1, 0], [2, 0, 3]])
    for size, wanted in (
        (2, [[0, 1], [1, 0]]), (5, [[0, 1, 1, -1, -1], [1, 0, 2, -1, -1]]), (0, [[], []]),
        (9, [[0, 1, 1] + [-1] * 6, [1, 0, 2] + [-1] * 6]),
    ):  # fmt: skip
        made = gpu.nonzero(x, size=size, fill_value=-1)
        assert [each.shape for each in made] == [(size,)] * 2
        assert [each.tolist() for each in await gpu.read(*made)] == wanted
    assert await gpu.nonzero(x, size=4)[1].tolist() == [1, 0, 2, 0]
    assert await gpu.nonzero(gpu.zeros((0, 2)), size=2)[1].tolist() == [0, 0]
    with pytest.raises(gpu.errors.UsageError, match="nonzero: size -1"):
        gpu.nonzero(x, size=-1)


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_searchsorted(selenium_worker):
    import numpy as np
    import pytest
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    rng = np.random.default_rng(2)
    for dtype in ("bool", "int8", "uint8", "int32", "uint32", "float16", "float32"):
        for size in (0, 1, 2, 31, 32, 33, 1000):
            host = rng.integers(0, 20, size).astype(dtype)
            values = rng.integers(0, 22, (5, 7)).astype(dtype)
            if dtype.startswith("float"):
                host[: size // 8] = np.nan
                host[size // 8 : size // 4] = -0.0
                values[0, :4] = np.nan, np.inf, -np.inf, -0.0
            order = np.argsort(host, kind="stable")
            x, v = gpu.asarray(host), gpu.asarray(values)
            for side in ("left", "right"):
                wanted = np.searchsorted(host[order], values, side).astype("i4")
                made = await gpu.read(
                    gpu.searchsorted(gpu.sort(x), v, side=side),
                    gpu.searchsorted(x, v, side=side, sorter=gpu.argsort(x)),
                    gpu.searchsorted(gpu.sort(x), v.T[::-1], side=side),
                )
                label = f"{dtype} {size} {side}"
                assert_array_equal(made[0], wanted, strict=True, err_msg=label)
                assert_array_equal(made[1], wanted, strict=True, err_msg=label)
                assert_array_equal(made[2], wanted.T[::-1], strict=True, err_msg=label)
    x = gpu.arange(10)
    assert await gpu.searchsorted(x, 3).item() == 3
    assert await gpu.searchsorted(x, 3, side="right").item() == 4
    assert await gpu.searchsorted(x, gpu.asarray([2.5, 11])).tolist() == [3, 10]
    for wrong in (
        lambda: gpu.searchsorted(x, x, side="middle"),
        lambda: gpu.searchsorted(x.reshape(2, 5), x),
        lambda: gpu.searchsorted(x, x, sorter=x[:3]),
        lambda: gpu.searchsorted(x, gpu.asarray(1j)),
        lambda: gpu.searchsorted(x, x, sorter=x * 1.0),
    ):
        with pytest.raises(gpu.errors.UsageError, match="searchsorted: "):
            wrong()
