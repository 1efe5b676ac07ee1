"""Reductions and searches against NumPy: every dtype, shape, and way to name axes."""

import pytest
from pytest_pyodide import run_in_pyodide


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_reductions_of_every_dtype_and_shape(selenium_worker):  # noqa: C901 - shipped whole
    import numpy as np
    from numpy.testing import assert_allclose, assert_array_equal

    import aiogpu as gpu
    from aiogpu import dtypes

    rng = np.random.default_rng(21)
    shapes = [(), (1,), (5,), (4, 6), (2, 3, 4), (2, 1, 2, 1, 3, 1, 2, 2), (0,), (3, 0)]
    wide = {"bool": "i4", "int": "i4", "uint": "u4"}  # what sums and products give

    def axes_of(rank):
        some = [None, (), -1, 0, tuple(range(rank)), (0, -1), (-1, 0)]
        return [
            each for each in some if rank > 1 or each in {None, ()} or (rank and each in {-1, 0})
        ]

    def views(dtype):
        for shape in shapes:
            host = rng.integers(0, 4, shape).astype(dtype.name)
            yield gpu.asarray(host), host
        host = rng.integers(0, 4, (4, 6, 5)).astype(dtype.name)
        x = gpu.asarray(host)
        yield x[::-2, 1:5:3].mT, host[::-2, 1:5:3].swapaxes(1, 2)
        yield gpu.broadcast_to(x[0, :, :1], (3, 6, 2)), np.broadcast_to(host[0, :, :1], (3, 6, 2))

    def right(name, host, dtype, axis, keep):
        if name in {"sum", "prod"}:
            kind = wide.get(dtype.kind, dtype.name)
            return getattr(np, name)(host, axis, dtype=kind, keepdims=keep)
        if name == "count_nonzero":
            return np.asarray(np.count_nonzero(host, axis, keepdims=keep)).astype("i4")
        if name in {"mean", "var", "std"}:
            kind = host.astype("c16" if dtype.kind == "complex" else "f8")
            return getattr(np, name)(kind, axis, keepdims=keep).astype(
                dtype.name if dtype.kind in {"float", "complex"} else "f4"
            )
        return getattr(np, name)(host, axis, keepdims=keep)

    names = ["sum", "prod", "any", "all", "count_nonzero", "mean", "max", "min", "var", "std"]
    for dtype in dtypes.ALL:
        cases, made = [], []
        for number, (x, host) in enumerate(views(dtype)):
            for axis in axes_of(host.ndim):
                for name in names[: 6 if dtype.kind == "complex" or not host.size else 10]:
                    keep = bool((number + len(name)) % 2)
                    cases.append((name, axis, right(name, host, dtype, axis, keep)))
                    made.append(getattr(gpu, name)(x, axis=axis, keepdims=keep))
        for (name, axis, value), read in zip(cases, await gpu.read(*made), strict=True):
            what = f"{name} {dtype.name} {axis} {value.shape}"
            assert (read.dtype, read.shape) == (value.dtype, value.shape), what
            if name in {"mean", "var", "std"}:
                # A few roundings of float32; of float16 the last, of its own.
                bound = 2**-11 if dtype.name == "float16" else 5e-7
                assert_allclose(read, value, rtol=bound, atol=1e-7, err_msg=what)
            else:
                assert_array_equal(read, value, what)


@run_in_pyodide
async def test_sums_and_products_in_a_dtype(selenium_worker):
    import numpy as np
    import pytest
    from numpy.testing import assert_array_equal

    import aiogpu as gpu
    from aiogpu import dtypes

    rng = np.random.default_rng(22)
    for given in dtypes.ALL:
        host = rng.integers(0, 3, (4, 70)).astype(given.name)
        x = gpu.asarray(host)
        for wanted in dtypes.ALL:
            if wanted.kind == "bool" or (given.kind == "complex" and wanted.kind != "complex"):
                with pytest.raises(gpu.errors.DTypeError):
                    x.sum(dtype=wanted)
                continue
            made = await gpu.read(
                gpu.sum(x, axis=1, dtype=wanted), gpu.prod(x, axis=0, dtype=wanted.name),
                x.sum(dtype=wanted), x.prod(0, dtype=wanted),
            )  # fmt: skip
            name = wanted.name
            values = host.sum(1, dtype=name), host.prod(0, dtype=name), host.sum(dtype=name)
            for read, value in zip(made, (*values, values[1]), strict=True):
                assert_array_equal(read, value, f"{given.name} to {name}", strict=True)
    # int8 wraps when it is asked for, and not otherwise; float16 accumulates in float32.
    ones = gpu.ones(300, dtype="int8")
    assert await ones.sum(dtype="int8").item() == 300 - 256
    assert await ones.sum().item() == 300
    assert await gpu.ones(4097, dtype="float16").sum(dtype="float16").item() == 4096
    assert await gpu.ones(4099, dtype="float16").sum().item() == 4100
    assert await (gpu.ones(1000, dtype="float16") * 60).mean().item() == 60


@run_in_pyodide
async def test_variances_are_right_where_numbers_are_far_from_0(selenium_worker):
    import numpy as np
    import pytest

    import aiogpu as gpu

    rng = np.random.default_rng(23)
    near = rng.integers(-50, 50, (3, 1000))
    hosts = [
        (1e4 + rng.normal(0, 1, (3, 1000))).astype("f4"),
        (1e-3 * rng.normal(0, 1, (3, 1000)) - 7).astype("f4"),
        (2**30 + near).astype("i4"), (2**31 + 2**30 + near).astype("u4"),
        (rng.choice([-(2**31), 2**31 - 1], (3, 1000))).astype("i4"),
        rng.choice([0, 2**32 - 1], (3, 1000)).astype("u4"),
        (near + 30000).astype("i2"), (rng.integers(0, 2, (3, 1000))).astype("?"),
        (500 + rng.normal(0, 2, (3, 1000))).astype("f2"), np.full((3, 1000), 0.1, "f4"),
    ]  # fmt: skip
    for host in hosts:
        x = gpu.asarray(host)
        made = await gpu.read(
            gpu.var(x),
            gpu.var(x, axis=1, correction=1),
            gpu.std(x, axis=0),
            gpu.std(x, axis=(0, 1)),
        )
        wide = host.astype("f8")
        values = wide.var(), wide.var(1, ddof=1), wide.std(0), wide.std()
        for read, value in zip(made, values, strict=True):
            assert read.dtype == ("f2" if host.dtype == "f2" else "f4")
            # Sums of squares of rounded distances: their relative error is that of the roundings.
            bound = 2**-10 if host.dtype == "f2" else 2e-6
            np.testing.assert_allclose(read, value, rtol=bound, atol=1e-15, err_msg=str(host.dtype))
    large = gpu.ones((64, 100))
    await large.numpy()
    before = gpu.counters()["dispatches"]
    await gpu.std(large, axis=1).evaluate()
    assert gpu.counters()["dispatches"] - before == 3  # distances from the mean lie nowhere
    x = gpu.asarray(np.array([[1.0, 3]], "f4"))
    assert (await gpu.var(x, axis=1, correction=0.5).numpy() == np.float32(2 / 1.5)).all()
    assert np.isnan(await gpu.var(x, correction=2).item())
    assert np.isnan(await gpu.std(x, axis=0, correction=3, keepdims=True).numpy()).all()
    assert np.isnan(await gpu.var(gpu.zeros((0, 3)), axis=0).numpy()).tolist() == [True] * 3
    assert (await gpu.std(gpu.zeros((0, 3)), axis=1).numpy()).shape == (0,)
    assert np.isnan(await gpu.var(gpu.asarray([1.0, float("inf")])).item())
    with pytest.raises(gpu.errors.DTypeError, match="var: complex64"):
        gpu.var(gpu.zeros(3, dtype="complex64"))
    with pytest.raises(gpu.errors.AxisError):
        gpu.std(x, axis=2)


@run_in_pyodide
async def test_searches_of_every_dtype_and_shape(selenium_worker):
    import numpy as np
    import pytest
    from numpy.testing import assert_array_equal

    import aiogpu as gpu
    from aiogpu import dtypes

    rng = np.random.default_rng(24)
    shapes = [(), (1,), (5,), (4, 6), (2, 3, 4), (2, 1, 2, 1, 3, 1, 2, 2), (700,), (3, 70000)]
    for dtype in dtypes.ALL:
        cases, made = [], []
        for shape in shapes:
            host = rng.integers(0, 200, shape).astype(dtype.name)
            if dtype.kind in {"float", "int"}:
                host -= dtype.name == "int8" or 100
            x = gpu.asarray(host)
            pairs = [(x, host)]
            if len(shape) > 1:
                pairs.append((x[::-1, ..., ::-2].mT, np.swapaxes(host[::-1, ..., ::-2], -1, -2)))
            for one, values in pairs:
                for axis in (None, *range(-len(shape), len(shape)))[: 2 + len(shape)]:
                    for name in ("argmax", "argmin"):
                        if dtype.kind == "complex":
                            with pytest.raises(gpu.errors.DTypeError, match=name):
                                getattr(gpu, name)(one, axis=axis)
                            continue
                        keep = len(cases) % 3 == 0
                        cases.append(getattr(np, name)(values, axis, keepdims=keep))
                        made.append(getattr(gpu, name)(one, axis=axis, keepdims=keep))
        for value, read in zip(cases, await gpu.read(*made) if made else [], strict=True):
            assert_array_equal(read, np.asarray(value).astype("i4"), dtype.name, strict=True)
    x = gpu.asarray(np.array([[1, np.nan, 5, np.nan], [-0.0, 0, -np.inf, np.inf]], "f4"))
    assert await x.argmax(1).tolist() == [1, 3]
    assert await x.argmin(1).tolist() == [1, 2]
    assert await x[1, :2].argmin().item() == 0
    assert (await gpu.argmax(gpu.zeros((0, 3)), axis=1).numpy()).shape == (0,)
    with pytest.raises(gpu.errors.UsageError, match="no elements"):
        gpu.argmin(gpu.zeros((0, 3)), axis=0)
    with pytest.raises(gpu.errors.AxisError):
        gpu.argmin(x, axis=2)
