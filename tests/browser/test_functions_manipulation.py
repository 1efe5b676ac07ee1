"""Products, views, pads and takes against NumPy: every dtype, shape and way to call them."""

from pytest_pyodide import run_in_pyodide


@run_in_pyodide
async def test_products_of_every_dtype(selenium_worker):  # noqa: C901 - shipped whole
    import numpy as np
    import pytest
    from numpy.testing import assert_allclose, assert_array_equal

    import aiogpu as gpu
    from aiogpu import dtypes

    rng = np.random.default_rng(31)

    def samples(dtype, shape):
        if dtype.kind in {"int", "uint"}:
            return rng.integers(*dtype.range, shape, endpoint=True).astype(dtype.name)
        reals = rng.normal(0, 1, shape)
        if dtype.kind == "complex":
            reals = reals + 1j * rng.normal(0, 1, shape)
        return np.asarray(reals).astype(dtype.name)

    functions = [
        (lambda xp, a, b: xp.matmul(a, b), (5, 40), (40, 7)),
        (lambda xp, a, b: xp.matmul(a, b), (3, 1, 4, 9), (2, 9, 5)),
        (lambda xp, a, b: xp.matmul(a, b), (9,), (2, 9, 5)),
        (lambda xp, a, b: xp.matmul(a, b), (3, 9), (9,)),
        (lambda xp, a, b: xp.matmul(a, b), (9,), (9,)),
        (lambda xp, a, b: xp.matmul(a, b), (3, 0), (0, 2)),
        (lambda xp, a, b: xp.matmul(a[::-1, ::2], b[:, ::-1][1:]), (5, 8), (5, 3)),
        (lambda xp, a, b: xp.vecdot(a, b), (3, 9), (2, 1, 9)),
        (lambda xp, a, b: xp.vecdot(a, b, axis=-2), (9, 4), (2, 9, 1)),
        (lambda xp, a, b: xp.vecdot(a, b), (300,), (300,)),
        (lambda xp, a, b: xp.vecdot(a, b), (2, 0), (0,)),
        (lambda xp, a, b: xp.tensordot(a, b), (3, 4, 5), (4, 5, 2)),
        (lambda xp, a, b: xp.tensordot(a, b, axes=1), (3, 4), (4,)),
        (lambda xp, a, b: xp.tensordot(a, b, axes=0), (3, 2), (2,)),
        (lambda xp, a, b: xp.tensordot(a, b, axes=0), (), (2,)),
        (lambda xp, a, b: xp.tensordot(a, b, axes=([0, -1], [2, 0])), (3, 4, 5), (5, 2, 3)),
        (lambda xp, a, b: xp.tensordot(a, b, axes=([1], [0])), (3, 0), (0, 4)),
    ]
    for dtype in dtypes.ALL:
        if dtype.kind == "bool":
            x = gpu.ones((2, 2), dtype=bool)
            for function in (gpu.matmul, gpu.vecdot, gpu.tensordot):
                with pytest.raises(gpu.errors.DTypeError, match="bool"):
                    function(x, x)
            continue
        values, made, sizes = [], [], []
        for function, first, second in functions:
            a, b = samples(dtype, first), samples(dtype, second)
            if dtype.kind in {"int", "uint"}:  # in 64 bits, of which the last ones are right
                values.append(function(np, a.astype("i8"), b.astype("i8")).astype(dtype.name))
                sizes.append(0)
            else:
                wide = "c16" if dtype.kind == "complex" else "f8"
                values.append(function(np, a.astype(wide), b.astype(wide)).astype(dtype.name))
                sizes.append(function(np, np.abs(a).astype("f8"), np.abs(b).astype("f8")))
            made.append(function(gpu, gpu.asarray(a), gpu.asarray(b)))
        for number, read in enumerate(await gpu.read(*made)):
            value, what = values[number], f"{number} {dtype.name}"
            assert (read.dtype, read.shape) == (value.dtype, value.shape), what
            if dtype.kind in {"int", "uint"}:
                assert_array_equal(read, value, what)
            else:
                # Roundings of float32 in sums of products; then one, of float16 its own.
                off = np.abs(read.astype("c16") - value.astype("c16"))
                rest = 2**-10 if dtype is dtypes.float16 else 2**-22
                assert (off <= 1e-6 * sizes[number] + rest * np.abs(value)).all(), what
    x, y = gpu.ones((3, 4), dtype="int8"), gpu.ones(4, dtype="int16")
    assert (await gpu.vecdot(x, y).numpy()).dtype == np.int16
    assert_allclose(await gpu.vecdot(x, y, axis=1).numpy(), [4, 4, 4])
    ones = gpu.ones((2, 5000), dtype="float16")  # more than float16 can count
    got = await gpu.read(ones @ ones.mT, gpu.vecdot(ones, ones), gpu.tensordot(ones, ones))
    assert [float(each.ravel()[0]) for each in got] == [5000, 5000, 10000]


@run_in_pyodide
async def test_products_refuse_what_does_not_fit(selenium_worker):
    import pytest

    import aiogpu as gpu

    x, y = gpu.ones((3, 4)), gpu.ones((2, 3))
    shape, axis, usage = gpu.errors.ShapeError, gpu.errors.AxisError, gpu.errors.UsageError
    for kind, match, function in (
        (shape, "sizes 4 and 3", lambda: gpu.vecdot(x, y)),
        (shape, "do not broadcast", lambda: gpu.vecdot(gpu.ones((2, 4)), x)),
        (axis, "axis 2", lambda: gpu.vecdot(x, x, axis=2)),
        (axis, "vecdot", lambda: gpu.vecdot(x, gpu.ones(3), axis=-2)),
        (axis, "vecdot", lambda: gpu.vecdot(gpu.asarray(1), gpu.asarray(1))),
        (shape, "one size", lambda: gpu.tensordot(x, y, axes=1)),
        (usage, "axes 3", lambda: gpu.tensordot(x, y, axes=3)),
        (usage, "pair axes", lambda: gpu.tensordot(x, y, axes=([0, 0], [1, 1]))),
        (usage, "pair axes", lambda: gpu.tensordot(x, y, axes=([0], [1, 0]))),
        (axis, "tensordot", lambda: gpu.tensordot(x, y, axes=([2], [0]))),
        (gpu.errors.DTypeError, "promote", lambda: gpu.vecdot(x, x.astype(bool))),
    ):
        with pytest.raises(kind, match=match):
            function()


@run_in_pyodide
async def test_views_of_every_shape_and_dtype(selenium_worker):
    import numpy as np
    import pytest
    from numpy.testing import assert_array_equal

    import aiogpu as gpu
    from aiogpu import dtypes

    shapes = [(), (0,), (3, 0), (1,), (5,), (4, 6), (2, 3, 4), (2, 1, 2, 1, 3, 1, 2, 2)]
    for dtype in dtypes.ALL:
        values, made = [], []

        def add(read, value):
            made.append(read)  # noqa: B023 - used up within the round
            values.append(value)  # noqa: B023

        for shape in shapes:
            size = int(np.prod(shape))
            host = (np.arange(size) % 5).reshape(shape).astype(dtype.name)
            x = gpu.asarray(host)
            add(gpu.reshape(x, (size,)), host.reshape(size))
            add(gpu.flip(x), np.flip(host))
            add(gpu.permute_dims(x, range(x.ndim)[::-1]), host.transpose())
            if x.ndim < 8:
                add(gpu.expand_dims(x, axis=-1), host[..., None])
                add(gpu.broadcast_to(x, (2, *shape)), np.broadcast_to(host, (2, *shape)))
            if x.ndim >= 2:
                add(gpu.moveaxis(x, 0, -1), np.moveaxis(host, 0, -1))
                add(gpu.moveaxis(x, (0, -1), (1, 0)), np.moveaxis(host, (0, -1), (1, 0)))
                add(gpu.flip(x, axis=(0, -1)), np.flip(host, (0, -1)))
                add(x[::-2, ..., None, 1:], host[::-2, ..., None, 1:])
                add(x[-1:, ::-1][..., ::-3].mT, np.swapaxes(host[-1:, ::-1][..., ::-3], -1, -2))
                add(x.mT.reshape(-1), np.swapaxes(host, -1, -2).reshape(-1))
            if x.ndim in {2, 3}:
                add(gpu.expand_dims(x, axis=(0, -1, 2)), np.expand_dims(host, (0, -1, 2)))
                add(gpu.squeeze(x[:1, None], (0, 1)), host[0])
        for value, read in zip(values, await gpu.read(*made), strict=True):
            assert_array_equal(read, value, f"{dtype.name} {value.shape}", strict=True)
    x = gpu.zeros((2, 3))
    for kind, function in (
        (gpu.errors.UsageError, lambda: gpu.moveaxis(x, (0, 0), (0, 1))),
        (gpu.errors.UsageError, lambda: gpu.moveaxis(x, (0, 1), 0)),
        (gpu.errors.AxisError, lambda: gpu.moveaxis(x, 2, 0)),
        (gpu.errors.AxisError, lambda: gpu.expand_dims(x, axis=(0, 4))),
        (gpu.errors.UsageError, lambda: gpu.expand_dims(x, axis=(0, 0))),
    ):
        with pytest.raises(kind):
            function()


@run_in_pyodide
async def test_concat_and_stack_of_every_dtype(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu
    from aiogpu import dtypes

    rng = np.random.default_rng(33)
    for dtype in dtypes.ALL:
        parts = [rng.integers(0, 5, (n, 3)).astype(dtype.name) for n in (2, 0, 1, 3)]
        xs = [gpu.asarray(part) for part in parts]
        same = [xs[3], xs[3][::-1], xs[3] == xs[3]][: 2 + (dtype.kind == "bool")]
        hosts = [parts[3], parts[3][::-1], parts[3] == parts[3]][: len(same)]
        made = [
            gpu.concat(xs), gpu.concat([x.mT for x in xs], axis=-1), gpu.concat(xs, axis=None),
            gpu.concat([gpu.zeros((0, 3), dtype=dtype), xs[0]]), gpu.stack(same),
            gpu.stack(same, axis=-1), gpu.stack([x[1, 2] for x in same]),
            gpu.stack([xs[1], xs[1]], axis=1), gpu.concat([xs[1], xs[1]]),
        ]  # fmt: skip
        values = [
            np.concatenate(parts), np.concatenate([part.T for part in parts], -1),
            np.concatenate(parts, None), parts[0], np.stack(hosts), np.stack(hosts, -1),
            np.stack([host[1, 2] for host in hosts]), np.zeros((0, 2, 3), dtype.name), parts[1],
        ]  # fmt: skip
        for number, (read, value) in enumerate(zip(await gpu.read(*made), values, strict=True)):
            assert_array_equal(read, value, f"{number} {dtype.name}", strict=True)
    mixed = gpu.concat([gpu.ones(2, dtype="int8"), gpu.ones(1, dtype="float16")])
    assert mixed.dtype is gpu.float16


@run_in_pyodide
async def test_pad(selenium_worker):
    import numpy as np
    import pytest
    from numpy.testing import assert_array_equal

    import aiogpu as gpu
    from aiogpu import dtypes

    forms = [
        ((5,), 2, 3), ((5,), (1, 2), (3, 4)), ((5,), ((1, 0),), 1), ((4, 6), 1, 0),
        ((4, 6), (2, 1), (1, 2)), ((4, 6), ((1, 2), (0, 3)), ((1, 2), (3, 4))),
        ((4, 6), ((1,), (2,)), ((1,), (2,))), ((4, 6), 0, 1), ((3, 0), ((1, 1), (2, 1)), 7),
        ((0,), (2, 3), (1, 2)), ((2, 3, 4), ((0, 1), (2, 0), (1, 1)), 5), ((), 3, 1),
        ((2, 1, 2, 1, 3, 1, 2, 2), (0, 1), 1), ((4, 6), (3,), 2),
    ]  # fmt: skip
    rng = np.random.default_rng(34)
    for dtype in dtypes.ALL:
        values, made = [], []
        for shape, width, fill in forms:
            number = 1 if dtype.kind == "bool" else fill
            host = rng.integers(0, 5, shape).astype(dtype.name)
            x = gpu.asarray(host)
            made += [gpu.pad(x, width, constant_values=number), gpu.pad(gpu.flip(x), width)]
            # NumPy wants an int where the array has no axes.
            values.append(np.pad(host, width, constant_values=number) if shape else host)
            values.append(np.pad(np.flip(host), width) if shape else host)
        for number, (read, value) in enumerate(zip(await gpu.read(*made), values, strict=True)):
            assert_array_equal(read, value, f"{forms[number // 2]} {dtype.name}", strict=True)
    x = gpu.asarray(np.array([1, 2], "f4"))
    got = await gpu.pad(x, 1, constant_values=(float("nan"), float("-inf"))).numpy()
    assert_array_equal(got, np.array([np.nan, 1, 2, -np.inf], "f4"))
    small = x.astype("int8")
    for kind, function in (
        (gpu.errors.UsageError, lambda: gpu.pad(x, 1, "edge")),
        (gpu.errors.UsageError, lambda: gpu.pad(x, -1)),
        (gpu.errors.UsageError, lambda: gpu.pad(x, 1.5)),
        (gpu.errors.UsageError, lambda: gpu.pad(x, (1, 2, 3))),
        (gpu.errors.UsageError, lambda: gpu.pad(x, ((1, 2), (3, 4)))),
        (gpu.errors.DTypeError, lambda: gpu.pad(small, 1, constant_values=0.5)),
        (gpu.errors.DTypeError, lambda: gpu.pad(x, 1, constant_values=1j)),
        (gpu.errors.IntegerOverflowError, lambda: gpu.pad(small, 1, constant_values=128)),
        (gpu.errors.DTypeError, lambda: gpu.pad(x.astype(bool), 1, constant_values=2)),
    ):
        with pytest.raises(kind):
            function()


@run_in_pyodide
async def test_take(selenium_worker):
    import numpy as np
    import pytest
    from numpy.testing import assert_array_equal

    import aiogpu as gpu
    from aiogpu import dtypes

    rng = np.random.default_rng(35)
    for dtype in dtypes.ALL:
        host = rng.integers(0, 5, (4, 3, 6)).astype(dtype.name)
        x = gpu.asarray(host)
        values, made = [], []
        for axis in (-3, 0, 1, 2, -1):
            size = host.shape[axis]
            for shape in ((5,), (), (2, 3), (0,)):
                for kind in ("i4", "i1", "u2", "u4"):
                    low = 0 if kind[0] == "u" else -size
                    numbers = np.asarray(rng.integers(low, size, shape)).astype(kind)
                    made.append(gpu.take(x, gpu.asarray(numbers), axis=axis))
                    values.append(np.take(host, numbers, axis))
        numbers = np.array([3, -1, 0], "i4")
        made += [gpu.take(x[::-1, 1, ::2].mT, gpu.asarray(numbers)[::-1], axis=-1)]
        values += [np.take(host[::-1, 1, ::2].T, numbers[::-1], -1)]
        made += [gpu.take(x[0, 0], [5, -6]), gpu.take(x[0, 0], []), gpu.take(x[0, 0], 2)]
        values += [host[0, 0][[5, -6]], host[0, 0][:0], host[0, 0, 2]]
        for value, read in zip(values, await gpu.read(*made), strict=True):
            assert_array_equal(read, value, f"{dtype.name} {value.shape}", strict=True)
    x = gpu.arange(4)
    for numbers in ([4], [0, -5], np.array([2**31 - 1], "i4"), np.array([-(2**31)], "i4")):
        with pytest.raises(gpu.errors.AxisError):
            await gpu.take(x, numbers).numpy()
    with pytest.raises(gpu.errors.AxisError):  # not -1
        await gpu.take(x, np.array([2**32 - 1], "u4")).numpy()
    assert await gpu.take(x, [1]).tolist() == [1]
    empty = await gpu.take(gpu.zeros((3, 0)), [1, 1], axis=0).numpy()
    assert empty.shape == (2, 0)
    for kind, function in (
        (gpu.errors.DTypeError, lambda: gpu.take(x, [0.5])),
        (gpu.errors.DTypeError, lambda: gpu.take(x, x == 1)),
        (gpu.errors.UsageError, lambda: gpu.take(x.reshape(2, 2), [0])),
        (gpu.errors.AxisError, lambda: gpu.take(x, [0], axis=1)),
        (gpu.errors.ShapeError, lambda: gpu.take(gpu.zeros(0), [0])),
    ):
        with pytest.raises(kind):
            function()
