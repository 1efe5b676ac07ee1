"""repeat, roll, tile, unstack, diff, cumulative products, triangles and grids, against NumPy."""

import pytest
from pytest_pyodide import run_in_pyodide

DTYPES = ("bool", "int8", "uint16", "int32", "float16", "float32", "complex64")


@pytest.mark.parametrize("dtype", DTYPES)
@run_in_pyodide
async def test_what_moves_elements_moves_as_numpy_does(selenium_worker, dtype):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    rng = np.random.default_rng(1)
    for shape in ((7,), (3, 5), (2, 1, 4), (0, 3), (33, 2)):
        host = rng.integers(0, 9, shape).astype(dtype)
        x = gpu.asarray(host)
        pairs = [
            (gpu.repeat(x, 3), np.repeat(host, 3)),
            (gpu.repeat(x, 2, axis=-1), np.repeat(host, 2, axis=-1)),
            (gpu.repeat(x, list(range(shape[0])), axis=0), np.repeat(host, range(shape[0]), 0)),
            (gpu.repeat(x, 0, axis=0), np.repeat(host, 0, axis=0)),
            (gpu.roll(x, 2), np.roll(host, 2)),
            (gpu.roll(x, -9, axis=0), np.roll(host, -9, axis=0)),
            (gpu.roll(x, (1, 2), axis=(0, -1)), np.roll(host, (1, 2), axis=(0, -1))),
            (gpu.tile(x, (2,)), np.tile(host, 2)),
            (gpu.tile(x, (2, 1, 3)), np.tile(host, (2, 1, 3))),
            (gpu.tile(x, ()), host),
            *zip(gpu.unstack(x, axis=-1), np.moveaxis(host, -1, 0), strict=True),
        ]
        if len(shape) > 1:
            pairs += [(gpu.tril(x), np.tril(host)), (gpu.triu(x, k=1), np.triu(host, 1))]
            pairs += [
                (gpu.tril(x, k=-1), np.tril(host, -1)),
                (gpu.triu(x, k=-9), np.triu(host, -9)),
            ]
        made = await gpu.read(*(ours for ours, _ in pairs))
        for ours, (_, theirs) in zip(made, pairs, strict=True):
            assert_array_equal(ours, theirs, strict=True, err_msg=f"{dtype} {shape}")


@run_in_pyodide
async def test_differences_and_running_products(selenium_worker):
    import numpy as np
    from numpy.testing import assert_allclose, assert_array_equal

    import aiogpu as gpu

    rng = np.random.default_rng(2)
    for dtype in ("bool", "uint8", "int32", "float32"):
        host = rng.integers(0, 9, (5, 300)).astype(dtype)
        x = gpu.asarray(host)
        pairs = [
            (gpu.diff(x), np.diff(host)), (gpu.diff(x, n=0), host),
            (gpu.diff(x, axis=0, n=2), np.diff(host, axis=0, n=2)),
            (gpu.diff(x, prepend=x[:, :2]), np.diff(host, prepend=host[:, :2])),
            (gpu.diff(x, append=x[:, 5:6]), np.diff(host, append=host[:, 5:6])),
        ]  # fmt: skip
        made = await gpu.read(*(ours for ours, _ in pairs))
        for ours, (_, theirs) in zip(made, pairs, strict=True):
            assert_array_equal(ours, theirs, strict=True, err_msg=dtype)
    whole = rng.integers(-3, 4, (3, 400)).astype("i4")
    long = rng.integers(0, 1000, 300_001).astype("i4")
    near = rng.uniform(0.9, 1.1, (400, 3)).astype("f4")
    made = await gpu.read(
        gpu.cumulative_prod(gpu.asarray(whole), axis=1),
        gpu.cumulative_prod(gpu.asarray(near), axis=0),
        gpu.cumulative_prod(gpu.asarray(whole[0]), include_initial=True),
        gpu.cumulative_sum(gpu.asarray(whole), axis=1),
        gpu.cumulative_sum(gpu.asarray(long) * 2 - 1),
        gpu.cumulative_sum(gpu.asarray(whole.astype("i1")), axis=0, include_initial=True),
    )
    assert_array_equal(made[0], np.cumprod(whole, axis=1, dtype="i4"), strict=True)
    assert_allclose(made[1], np.cumprod(near.astype("f8"), axis=0), rtol=400 * 2**-24)
    assert_array_equal(made[2], np.cumprod([1, *whole[0]], dtype="i4"), strict=True)
    assert_array_equal(made[3], np.cumsum(whole, axis=1, dtype="i4"), strict=True)
    assert_array_equal(made[4], np.cumsum(long * 2 - 1, dtype="i4"), strict=True)
    sums = np.cumsum(np.vstack([np.zeros_like(whole[:1]), whole]), axis=0, dtype="i4")
    assert_array_equal(made[5], sums, strict=True)


@run_in_pyodide
async def test_grids_and_shapes(selenium_worker):
    import numpy as np
    import pytest
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    axes = [np.arange(3, dtype="i4"), np.arange(4, dtype="i4") * 10, np.arange(2, dtype="i4")]
    for indexing in ("xy", "ij"):
        for count in (1, 2, 3):
            made = gpu.meshgrid(*map(gpu.asarray, axes[:count]), indexing=indexing)
            wanted = np.meshgrid(*axes[:count], indexing=indexing)
            for ours, theirs in zip(await gpu.read(*made), wanted, strict=True):
                assert_array_equal(ours, theirs, strict=True)
    assert gpu.broadcast_shapes((3, 1), (4,), ()) == np.broadcast_shapes((3, 1), (4,), ())
    info = gpu.__array_namespace_info__()
    assert info.devices() == [info.default_device()] == [gpu.ones(1).device]
    x = gpu.ones((2, 3))
    for wrong, message in (
        (lambda: gpu.from_dlpack(x), "from_dlpack: WebGPU memory has no address"),
        (lambda: gpu.meshgrid(x), r"meshgrid: shapes \(2, 3\): each needs one axis"),
        (lambda: gpu.meshgrid(indexing="yx"), "indexing 'yx'"),
        (lambda: gpu.tril(x[0]), r"tril: shape \(3,\): needs at least 2 axes"),
        (lambda: gpu.repeat(x, -1), "must not be negative"),
        (lambda: gpu.repeat(x, [1, 2], axis=1), "2 repeats: axis 1 has 3 elements"),
        (lambda: gpu.roll(x, (1, 2), axis=0), "roll: "),
        (lambda: gpu.tile(x, (-1,)), "must not be negative"),
        (lambda: gpu.diff(x, n=-1), "diff: n -1: must not be negative"),
        (lambda: gpu.unstack(x, axis=2), "unstack: axis 2"),
        (lambda: gpu.broadcast_shapes((2,), (3,)), "broadcast_shapes"),
    ):
        with pytest.raises(gpu.errors.UsageError, match=message):
            wrong()
