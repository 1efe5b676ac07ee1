"""Functions of neural networks against NumPy in float64, and how many launches they take."""

import pytest
from pytest_pyodide import run_in_pyodide


@run_in_pyodide
async def test_activations_of_every_dtype(selenium_worker):
    from math import erf

    import numpy as np
    import pytest

    import aiogpu as gpu
    from aiogpu import dtypes
    from aiogpu.kernels.numerics.accuracy import ACCURACY

    def gelu(x):
        tail = np.vectorize(erf, otypes=["f8"])(np.abs(x) / np.sqrt(2))
        return np.where(x > 0, x * (0.5 + tail / 2), x * (0.5 - tail / 2))

    functions = {
        "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "silu": lambda x: x / (1 + np.exp(-x)),
        "gelu": gelu, "relu": lambda x: np.maximum(x, 0),
    }  # fmt: skip
    for dtype in dtypes.ALL:
        low = -3 if dtype.kind != "uint" else 0
        host = np.arange(low, 4, 0.25 if dtype.kind == "float" else 1).astype(dtype.name)
        x = gpu.asarray(host)
        for name, function in functions.items():
            if dtype.kind in {"bool", "complex"}:
                with pytest.raises(gpu.errors.DTypeError, match=name):
                    getattr(gpu.nn, name)(x)
                continue
            value = function(host.astype("f8"))
            read = await getattr(gpu.nn, name)(x[::-1]).numpy()
            kind = "f4" if name != "relu" and dtype.kind != "float" else dtype.name
            assert read.dtype == kind, name
            units = ACCURACY.get(f"ag_{name}", (0, 0, 0))[2]
            # In float64 too gelu's tail loses digits where erf is near 1: the -3 of this range.
            bound = {"f4": units * 2**-23, "float32": units * 2**-23}.get(
                kind, 2**-10 if units else 0
            )
            np.testing.assert_allclose(read[::-1], value, rtol=bound, err_msg=f"{name} {dtype}")
    special = gpu.asarray(np.array([np.nan, np.inf, -np.inf, -0.0, 100, -100], "f4"))
    relu, silu, gelu = await gpu.read(
        *(getattr(gpu.nn, n)(special) for n in ("relu", "silu", "gelu"))
    )
    np.testing.assert_array_equal(relu, [np.nan, np.inf, 0, 0, 100, 0])
    np.testing.assert_allclose(silu, [np.nan, np.inf, 0, 0, 100, 0], atol=1e-30)
    np.testing.assert_array_equal(gelu, [np.nan, np.inf, 0, 0, 100, 0])


@run_in_pyodide
async def test_softmax_along_every_axis(selenium_worker):
    import numpy as np
    import pytest
    from numpy.testing import assert_allclose

    import aiogpu as gpu
    from aiogpu import dtypes

    def softmax(x, axis):
        x = np.exp(x - x.max(axis, keepdims=True))
        return x / x.sum(axis, keepdims=True)

    rng = np.random.default_rng(41)
    shapes = [(1,), (5,), (4, 6), (2, 3, 4), (2, 1, 2, 1, 3, 1, 2, 2), (3, 5000)]
    for dtype in dtypes.ALL:
        if dtype.kind == "complex":
            for function in (gpu.nn.softmax, gpu.nn.log_softmax):
                with pytest.raises(gpu.errors.DTypeError, match="complex64"):
                    function(gpu.zeros(3, dtype=dtype))
            continue
        for shape in shapes[:3] if dtype.kind != "float" else shapes:
            low = 0 if dtype.kind in {"bool", "uint"} else -20
            host = rng.integers(low, 20, shape).astype(dtype.name)
            x = gpu.asarray(host)
            for axis in range(-len(shape), 1 if len(shape) < 8 else -6):
                value = softmax(host.astype("f8"), axis)
                made = gpu.nn.softmax(x, axis=axis), gpu.nn.log_softmax(x, axis=axis)
                got, log = await gpu.read(*made)
                kind = dtype.name if dtype.kind == "float" else "f4"
                assert (got.dtype, log.dtype, got.shape) == (kind, kind, shape)
                # exp and a quotient, or log, after the rounding of x - max: some units each.
                bound = 1e-6 if kind != "float16" else 2**-10
                least = 0 if kind != "float16" else 2**-24
                assert_allclose(got, value, rtol=bound, atol=least)
                assert_allclose(log, np.log(value), rtol=bound, atol=1e-6)
    inf = float("inf")
    special = gpu.asarray(np.array([[-inf, 0, 0], [-inf, -inf, -inf], [1e4, -1e4, 0]], "f4"))
    soft, log = await gpu.read(gpu.nn.softmax(special), gpu.nn.log_softmax(special))
    np.testing.assert_array_equal(soft, [[0, 0.5, 0.5], [np.nan] * 3, [1, 0, 0]])
    assert_allclose(log[0], [-inf, -np.log(2), -np.log(2)], rtol=1e-6)
    np.testing.assert_array_equal(log[2], [0, -2e4, -1e4])
    assert (await gpu.nn.softmax(gpu.zeros((0, 3))).numpy()).shape == (0, 3)
    with pytest.raises(gpu.errors.AxisError):
        gpu.nn.softmax(special, axis=2)
    with pytest.raises(gpu.errors.AxisError):
        gpu.nn.log_softmax(gpu.asarray(1.0))


@run_in_pyodide
async def test_layer_norm(selenium_worker):
    import numpy as np
    import pytest
    from numpy.testing import assert_allclose

    import aiogpu as gpu

    rng = np.random.default_rng(42)
    for dtype, shape, offset in (
        ("f4", (5,), 0), ("f4", (3, 4096), 0), ("f4", (2, 3, 300), 1e4), ("f2", (4, 300), 3),
        ("i4", (3, 7), 100), ("u1", (3, 7), 100), ("?", (3, 7), 0), ("f4", (2, 3, 1), 0),
    ):  # fmt: skip
        host = (rng.normal(0, 2, shape) + offset).astype(dtype)
        weight, bias = (rng.normal(0, 1, shape[-1:]).astype("f4") for _ in range(2))
        wide = host.astype("f8")
        mean, var = wide.mean(-1, keepdims=True), wide.var(-1, keepdims=True)
        x, w, b = gpu.asarray(host), gpu.asarray(weight), gpu.asarray(bias)
        got = await gpu.read(
            gpu.nn.layer_norm(x), gpu.nn.layer_norm(x, w, b, epsilon=0.5),
            gpu.nn.layer_norm(x, bias=b), gpu.nn.layer_norm(x, w.astype("float16")),
        )  # fmt: skip
        values = [(wide - mean) / np.sqrt(var + each) for each in (1e-5, 0.5)]
        values = values[0], values[1] * weight + bias, values[0] + bias, values[0] * weight
        for number, (read, value) in enumerate(zip(got, values, strict=True)):
            assert read.dtype == ("f2" if dtype == "f2" else "f4")
            # The rounding of x - mean stands beside the rest, and grows with the mean.
            bound = 2e-6 + 2e-7 * offset if read.dtype == "f4" and number < 3 else 2e-3
            assert_allclose(read, value, rtol=bound, atol=bound, err_msg=f"{number} {dtype}")
    x = gpu.zeros((2, 3))
    assert await gpu.nn.layer_norm(x).tolist() == [[0, 0, 0]] * 2
    assert (await gpu.nn.layer_norm(gpu.zeros((2, 0))).numpy()).shape == (2, 0)
    for kind, function in (
        (gpu.errors.ShapeError, lambda: gpu.nn.layer_norm(x, gpu.ones(4))),
        (gpu.errors.ShapeError, lambda: gpu.nn.layer_norm(x, gpu.ones((2, 1, 3)))),
        (gpu.errors.AxisError, lambda: gpu.nn.layer_norm(gpu.asarray(1.0))),
        (gpu.errors.DTypeError, lambda: gpu.nn.layer_norm(x.astype("complex64"))),
    ):
        with pytest.raises(kind):
            function()


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_each_is_one_launch(selenium_worker):
    import numpy as np
    from numpy.testing import assert_allclose

    import aiogpu as gpu

    rng = np.random.default_rng(43)
    nn = gpu.nn
    for dtype in ("float32", "float16"):
        x, w, b, image, filters = (
            gpu.asarray(rng.normal(0, 1, shape).astype(dtype))
            for shape in ((8, 4096), (4096, 16), (16,), (1, 4, 9, 9), (6, 2, 3, 3))
        )
        row, mask = x[0], gpu.ones((8, 8), dtype="bool")
        q = x[:, :64].reshape(2, 4, 8, 8)
        await gpu.read(x, w, b, image, filters, row, mask, q)
        for name, function in {
            "softmax": lambda x=x: nn.softmax(x), "log_softmax": lambda x=x: nn.log_softmax(x * 2),
            "softmax of columns": lambda x=x: nn.softmax(x[:, :64], axis=0) + 1,
            "layer_norm": lambda x=x, row=row: nn.layer_norm(x, row, row),
            "dense": lambda x=x, w=w, b=b: nn.gelu(x @ w + b),
            "conv2d": lambda i=image, f=filters, b=b: nn.relu(nn.conv2d(i, f, b[:6], groups=2)),
            "attention": lambda q=q: nn.attention(q, q, q, causal=True) * 2,
        }.items():  # fmt: skip
            before = gpu.counters()["dispatches"]
            await function().evaluate()
            assert gpu.counters()["dispatches"] - before == 1, (
                name,
                dtype,
                gpu.explain(function()),
            )
        got = await nn.gelu(x @ w + b).numpy()
        with gpu.eager():
            alone = await nn.gelu(x @ w + b).numpy()
        # Fused, float16 is rounded after each operation as it is alone.
        assert_allclose(got, alone, rtol=1e-6 if dtype == "float32" else 2**-10, atol=1e-6)


@run_in_pyodide
async def test_conv2d(selenium_worker):
    import numpy as np
    import pytest
    from numpy.testing import assert_allclose

    import aiogpu as gpu

    def conv2d(x, w, bias, stride, padding, dilation, groups):
        pairs = [
            (each, each) if isinstance(each, int) else each for each in (stride, padding, dilation)
        ]
        (sy, sx), (py, px), (dy, dx) = pairs
        x = np.pad(x, ((0, 0), (0, 0), (py, py), (px, px)))
        k, cpg, r, s = w.shape
        high = (x.shape[2] - dy * (r - 1) - 1) // sy + 1
        wide = (x.shape[3] - dx * (s - 1) - 1) // sx + 1
        y = np.zeros((x.shape[0], k, high, wide))
        for o in range(k):
            c0 = o // (k // groups) * cpg
            for i in range(r):
                for j in range(s):
                    part = x[:, c0 : c0 + cpg, i * dy :, j * dx :]
                    part = part[:, :, : sy * (high - 1) + 1 : sy, : sx * (wide - 1) + 1 : sx]
                    y[:, o] += np.einsum("nchw,c->nhw", part, w[o, :, i, j])
        return y if bias is None else y + bias.reshape(1, -1, 1, 1)

    rng = np.random.default_rng(44)
    for dtype in ("f4", "f2"):
        for image, filters, has_bias, how in (
            ((2, 3, 8, 9), (4, 3, 3, 3), True, (1, 0, 1, 1)),
            ((1, 4, 10, 7), (6, 2, 3, 2), False, ((2, 1), (1, 2), (1, 2), 2)),
            ((1, 3, 5, 5), (3, 1, 3, 3), True, (2, 1, 1, 3)),
            ((2, 1, 1, 20), (2, 1, 1, 5), False, ((1, 3), (0, 4), 1, 1)),
            ((0, 3, 8, 8), (4, 3, 3, 3), True, (1, 1, 1, 1)),
            ((1, 2, 5, 5), (3, 2, 1, 1), True, (1, 0, 1, 1)),
        ):
            x, w = (rng.normal(0, 1, shape).astype(dtype) for shape in (image, filters))
            bias = rng.normal(0, 1, filters[0]).astype(dtype) if has_bias else None
            value = conv2d(*(v if v is None else v.astype("f8") for v in (x, w, bias)), *how)
            stride, padding, dilation, groups = how
            read = await gpu.nn.conv2d(
                gpu.asarray(x)[:, :, ::-1][:, :, ::-1], gpu.asarray(w),
                None if bias is None else gpu.asarray(bias), stride=stride, padding=padding,
                dilation=dilation, groups=groups,
            ).numpy()  # fmt: skip
            assert (read.dtype, read.shape) == (dtype, value.shape)
            # Sums of 27 products at most; float16 rounds the result only.
            bound = 5e-6 if dtype == "f4" else 1.1 * 2**-11
            assert_allclose(read, value, rtol=bound, atol=5e-6, err_msg=f"{image} {filters} {how}")
    x, w = gpu.zeros((1, 3, 8, 8)), gpu.zeros((4, 3, 3, 3))
    assert gpu.nn.conv2d(x.astype("float16"), w).dtype is gpu.float32
    for kind, function in (
        (gpu.errors.ShapeError, lambda: gpu.nn.conv2d(x[0], w)),
        (gpu.errors.ShapeError, lambda: gpu.nn.conv2d(x, w, groups=2)),
        (gpu.errors.ShapeError, lambda: gpu.nn.conv2d(x, w, gpu.zeros(3))),
        (gpu.errors.ShapeError, lambda: gpu.nn.conv2d(x, w, dilation=4)),
        (gpu.errors.ShapeError, lambda: gpu.nn.conv2d(x, w, stride=0)),
        (gpu.errors.UsageError, lambda: gpu.nn.conv2d(x, w, padding=(1, 1, 1))),
        (gpu.errors.DTypeError, lambda: gpu.nn.conv2d(x.astype("int32"), w)),
    ):
        with pytest.raises(kind):
            function()


@run_in_pyodide
async def test_attention(selenium_worker):
    import numpy as np
    import pytest
    from numpy.testing import assert_allclose

    import aiogpu as gpu

    def attention(q, k, v, mask, causal, scale):
        scores = q @ np.swapaxes(k, -1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
        seen = np.ones(scores.shape, bool)
        if causal:
            seen = np.tri(*scores.shape[-2:], scores.shape[-1] - scores.shape[-2], dtype=bool)
        if mask is not None:
            scores = scores + mask if mask.dtype.kind == "f" else scores
            seen = seen & mask if mask.dtype.kind == "b" else seen
        scores = np.where(seen, scores, -np.inf)
        most = scores.max(-1, keepdims=True)
        weights = np.exp(scores - np.where(np.isinf(most), 0, most))
        total = weights.sum(-1, keepdims=True)
        return weights / np.where(total == 0, 1, total) @ v

    rng = np.random.default_rng(45)
    for dtype in ("f4", "f2"):
        for batch, sq, skv, d, mask_shape, causal, scale in (
            ((), 5, 7, 8, None, False, None), ((3,), 5, 5, 4, (5, 5), True, None),
            ((2, 3), 6, 6, 8, (2, 1, 6, 6), False, 0.5), ((2, 3), 4, 9, 3, (9,), True, None),
            ((2, 1, 3), 4, 4, 2, (3, 4, 4), False, 1.0), ((2, 2), 1, 70, 16, None, True, None),
            ((2,), 6, 3, 4, None, True, None),
        ):  # fmt: skip
            hosts = [rng.normal(0, 1, (*batch, s, d)).astype(dtype) for s in (sq, skv, skv)]
            masks = [None]
            if mask_shape:
                masks = [rng.normal(0, 1, mask_shape).astype(dtype), rng.random(mask_shape) < 0.5]
            for mask in masks:
                given = [host.astype("f8") for host in hosts]
                value = attention(*given, mask, causal, scale)
                read = await gpu.nn.attention(
                    *map(gpu.asarray, hosts), mask=None if mask is None else gpu.asarray(mask),
                    causal=causal, scale=scale,
                ).numpy()  # fmt: skip
                assert (read.dtype, read.shape) == (dtype, value.shape)
                bound = 5e-6 if dtype == "f4" else 2**-10
                assert_allclose(
                    read, value, rtol=bound, atol=bound, err_msg=f"{batch} {mask_shape}"
                )
    q, k = gpu.ones((2, 3, 4)), gpu.ones((2, 5, 4))
    nothing = gpu.nn.attention(q, k, k, mask=gpu.zeros((3, 5), dtype="bool"))
    assert not (await nothing.numpy()).any()
    assert (await gpu.nn.attention(q, k[:, :0], k[:, :0]).numpy()).tolist() == [[[0] * 4] * 3] * 2
    for kind, function in (
        (gpu.errors.ShapeError, lambda: gpu.nn.attention(q, k, k[:, :4])),
        (gpu.errors.ShapeError, lambda: gpu.nn.attention(q, k[0], k[0])),
        (gpu.errors.ShapeError, lambda: gpu.nn.attention(q, k, k, mask=gpu.zeros((3, 4)))),
        (gpu.errors.DTypeError, lambda: gpu.nn.attention(q, k, k, mask=gpu.asarray([1] * 5))),
        (gpu.errors.DTypeError, lambda: gpu.nn.attention(q.astype("int32"), k, k)),
    ):
        with pytest.raises(kind):
            function()
