"""Every method of the backend against NumPy, and the table of handles."""

from pytest_pyodide import run_in_pyodide


@run_in_pyodide
async def test_memory_copies_exactly_what_was_asked(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    backend = await gpu.Backend.create()
    assert await gpu.Backend.create() is backend
    assert backend.name == "webgpu"
    assert backend.is_initialized
    rng = np.random.default_rng(0)
    for nbytes in (0, 1, 2, 3, 4, 5, 100, 1001):
        data = rng.integers(0, 256, nbytes, dtype="u1")
        handle = backend.alloc(nbytes)
        assert bytes(await backend.copy_dtoh(handle)) == bytes(nbytes)
        backend.copy_htod(handle, data)
        assert bytes(await backend.copy_dtoh(handle)) == bytes(data)
        backend.free(handle)
    a, b = backend.alloc(400), backend.alloc(400)
    first = np.arange(100, dtype="i4")
    backend.copy_htod(a, first)
    backend.copy_htod(a, np.full(6, -1, "i4"), offset=40)  # 24 bytes in the middle
    first[10:16] = -1
    assert bytes(await backend.copy_dtoh(a)) == first.tobytes()
    assert bytes(await backend.copy_dtoh(a, 8, 40)) == first[10:12].tobytes()
    backend.copy_dtod(b, a, 80, dst_offset=8, src_offset=36)
    second = np.zeros(100, "i4")
    second[2:22] = first[9:29]
    assert bytes(await backend.copy_dtoh(b)) == second.tobytes()
    backend.copy_dtod(a, a, 100, dst_offset=100, src_offset=50 - 2)
    first[25:50] = first[12:37].copy()
    assert bytes(await backend.copy_dtoh(a)) == first.tobytes()
    backend.free(a)
    backend.free(b)


@run_in_pyodide
async def test_wrong_handles_and_ranges_are_refused_at_the_call(selenium_worker):
    import pytest

    import aiogpu as gpu

    backend = await gpu.Backend.create()
    a = backend.alloc(64)
    errors = gpu.errors
    with pytest.raises(errors.HandleError, match="unary: handle 7"):
        backend.unary("exp", 7, a, 4)
    b = backend.alloc(64)
    backend.free(b)
    for call in (
        lambda: backend.free(b),
        lambda: backend.copy_htod(b, bytes(4)),
        lambda: backend.unary("exp", b, a, 4),
    ):
        with pytest.raises(errors.HandleError, match="unknown here, or freed"):
            call()
    assert backend.alloc(4) != b
    before = gpu.counters()
    for call, text in (
        (lambda: backend.alloc(-1), "not negative"),
        (lambda: backend.unary("sine", a, a, 4), "there are relu"),
        (lambda: backend.unary("exp", a, a, 17), "reaches to byte 68: the handle has 64"),
        (lambda: backend.copy_htod(a, bytes(68)), "bytes 0 to 68: the handle has 64"),
        (lambda: backend.copy_htod(a, bytes(4), 2), "multiples of 4"),
        (lambda: backend.copy_dtod(a, a, 6), "multiples of 4"),
        (lambda: backend.gemm("X", "N", 2, 2, 2, 1, a, 2, a, 2, 0, a, 2), "must be N, T or C"),
        (lambda: backend.gemm("N", "N", 2, 3, 2, 1, a, 2, a, 2, 0, a, 3), "ldb 2: a row"),
        (lambda: backend.gemm("N", "N", 4, 4, 4, 1, a, 9, a, 4, 0, a, 4), "a: .* reaches to byte"),
        (
            lambda: backend.batched_gemm("N", "N", 2, 2, 2, 1, a, 2, 4, a, 2, 4, 0, a, 2, 2, 3),
            "the results overlap",
        ),
        (lambda: backend.reduce("median", a, a, (4,), 0), "there are sum"),
        (lambda: backend.reduce("sum", a, a, (4,), 1), "axis 1"),
        (lambda: backend.transpose(a, a, (2, 2), (0, 0)), "each axis once"),
        (lambda: backend.gemm_mixed_precision("f8", *"NN", 1, 1, 1, 1, a, 1, a, 1, 0, a, 1), "f16"),
        (lambda: backend.present(a, 2, 2), "there is no canvas"),
    ):
        with pytest.raises((errors.UsageError, errors.AxisError), match=text):
            call()
    assert gpu.counters() == before
    backend.free(a)


@run_in_pyodide
async def test_matrix_products_match_numpy(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    backend = await gpu.Backend.create()
    rng = np.random.default_rng(1)

    def put(values):
        handle = backend.alloc(values.nbytes)
        backend.copy_htod(handle, values)
        return handle

    async def get(handle, shape, dtype="f4"):
        return np.frombuffer(await backend.copy_dtoh(handle), dtype).reshape(shape)

    for m, n, k in ((1, 1, 1), (3, 5, 4), (17, 33, 16), (65, 31, 63), (5, 4, 0)):
        for trans_a in "NTC":
            for trans_b in "NT":
                lda, ldb, ldc = (
                    (k if trans_a == "N" else m) + 2,
                    (n if trans_b == "N" else k) + 1,
                    n + 3,
                )
                a = rng.integers(-4, 5, ((m if trans_a == "N" else k), lda)).astype("f4")
                b = rng.integers(-4, 5, ((k if trans_b == "N" else n), ldb)).astype("f4")
                c = rng.integers(-4, 5, (m, ldc)).astype("f4")
                left = a[:, : k if trans_a == "N" else m]
                right = b[:, : n if trans_b == "N" else k]
                left = left if trans_a == "N" else left.T
                right = right if trans_b == "N" else right.T
                for alpha, beta in ((1.0, 0.0), (2.0, 0.5)):
                    want = c.copy()
                    want[:, :n] = alpha * (left @ right) + beta * c[:, :n]
                    x, y, z = put(a), put(b), put(c)
                    backend.gemm(trans_a, trans_b, m, n, k, alpha, x, lda, y, ldb, beta, z, ldc)
                    np.testing.assert_array_equal(await get(z, c.shape), want)
                    for handle in (x, y, z):
                        backend.free(handle)
    # beta = 0 does not read C (G01)
    nan = put(np.full((2, 2), np.nan, "f4"))
    one = put(np.ones((2, 2), "f4"))
    backend.gemm("N", "N", 2, 2, 0, 1.0, one, 2, one, 2, 0.0, nan, 2)
    np.testing.assert_array_equal(await get(nan, (2, 2)), np.zeros((2, 2)))
    # batches, a repeated operand, an output that is an input
    a, b = rng.integers(-3, 4, (5, 4, 6)).astype("f4"), rng.integers(-3, 4, (6, 7)).astype("f4")
    x, y, z = put(a), put(b), backend.alloc(4 * 5 * 4 * 7)
    backend.batched_gemm("N", "N", 4, 7, 6, 1.0, x, 6, 24, y, 7, 0, 0.0, z, 7, 28, 5)
    np.testing.assert_array_equal(await get(z, (5, 4, 7)), a @ b)
    square = rng.integers(-3, 4, (8, 8)).astype("f4")
    s = put(square)
    backend.gemm("N", "N", 8, 8, 8, 1.0, s, 8, s, 8, 1.0, s, 8)
    np.testing.assert_array_equal(await get(s, (8, 8)), square @ square + square)
    # half precisions, without shader-f16
    a, b = rng.normal(size=(9, 10)), rng.normal(size=(10, 11))
    z = backend.alloc(4 * 99)
    halves = a.astype("f2"), b.astype("f2")
    x, y = put(halves[0]), put(halves[1])
    backend.gemm_mixed_precision("f16", "N", "N", 9, 11, 10, 1.0, x, 10, y, 11, 0.0, z, 11)
    want = halves[0].astype("f4") @ halves[1].astype("f4")
    np.testing.assert_allclose(await get(z, (9, 11)), want, rtol=1e-5, atol=1e-5)  # order of sums
    bits = [(v.astype("f4").view("u4") >> 16).astype("u2") for v in (a, b)]
    x, y = put(bits[0]), put(bits[1])
    backend.gemm_mixed_precision("bf16", "N", "N", 9, 11, 10, 1.0, x, 10, y, 11, 0.0, z, 11)
    wide = [(v.astype("u4") << 16).view("f4") for v in bits]
    np.testing.assert_allclose(await get(z, (9, 11)), wide[0] @ wide[1], rtol=1e-5, atol=1e-5)
    rows, columns, depth = backend.recommended_tile_for(512, 512, 512)
    assert rows * columns * depth > 0


@run_in_pyodide
async def test_convolutions_match_numpy(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    backend = await gpu.Backend.create()
    rng = np.random.default_rng(2)

    def put(values):
        handle = backend.alloc(values.nbytes)
        backend.copy_htod(handle, values)
        return handle

    def forward(x, w, stride, pad, dilation, groups):
        n, _, h, wide = x.shape
        k, per_group, r, s = w.shape
        padded = np.pad(x, ((0, 0), (0, 0), (pad[0],) * 2, (pad[1],) * 2))
        oh = (h + 2 * pad[0] - dilation[0] * (r - 1) - 1) // stride[0] + 1
        ow = (wide + 2 * pad[1] - dilation[1] * (s - 1) - 1) // stride[1] + 1
        y = np.zeros((n, k, oh, ow), "f4")
        for ko in range(k):
            c0 = ko // (k // groups) * per_group
            for i in range(r):
                for j in range(s):
                    window = padded[
                        :, c0 : c0 + per_group,
                        i * dilation[0] : i * dilation[0] + stride[0] * oh : stride[0],
                        j * dilation[1] : j * dilation[1] + stride[1] * ow : stride[1],
                    ]  # fmt: skip
                    y[:, ko] += np.einsum("nchw,c->nhw", window[:, :, :oh, :ow], w[ko, :, i, j])
        return y

    cases = (
        ((1, 3, 9, 8), (5, 3, 3, 3), (1, 1), (1, 1), (1, 1), 1),
        ((2, 4, 11, 10), (6, 2, 5, 5), (2, 2), (2, 0), (1, 1), 2),
        ((1, 5, 12, 12), (5, 1, 7, 7), (2, 1), (3, 3), (1, 1), 5),
        ((1, 2, 13, 9), (3, 2, 3, 2), (1, 2), (0, 1), (2, 3), 1),
    )
    for image, filters, stride, pad, dilation, groups in cases:
        x = rng.integers(-3, 4, image).astype("f4")
        w = rng.integers(-3, 4, filters).astype("f4")
        y = forward(x, w, stride, pad, dilation, groups)
        how = (stride, pad, dilation, groups)
        hx, hw, hy = put(x), put(w), backend.alloc(y.nbytes)
        for _ in range(2):
            assert backend.conv2d_forward(hx, hw, hy, image, filters, *how) == y.shape
            got = np.frombuffer(await backend.copy_dtoh(hy), "f4").reshape(y.shape)
            np.testing.assert_array_equal(got, y)
        # A gradient is the transpose of a linear map, exactly so in integers.
        dy = rng.integers(-3, 4, y.shape).astype("f4")
        hdy, hdx, hdw = put(dy), backend.alloc(x.nbytes), backend.alloc(w.nbytes)
        backend.conv2d_backward_data(hdy, hw, hdx, image, filters, *how)
        backend.conv2d_backward_filter(hx, hdy, hdw, image, filters, *how)
        dx = np.frombuffer(await backend.copy_dtoh(hdx), "f4").reshape(image)
        dw = np.frombuffer(await backend.copy_dtoh(hdw), "f4").reshape(filters)
        for _ in range(4):
            probe = rng.integers(-3, 4, image).astype("f4")
            assert (dy * forward(probe, w, *how)).sum() == (dx * probe).sum()
            probe = rng.integers(-3, 4, filters).astype("f4")
            assert (dy * forward(x, probe, *how)).sum() == (dw * probe).sum()
        for handle in (hx, hw, hy, hdy, hdx, hdw):
            backend.free(handle)


@run_in_pyodide
async def test_attention_matches_numpy(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    backend = await gpu.Backend.create()
    rng = np.random.default_rng(3)

    def put(values):
        handle = backend.alloc(values.nbytes)
        backend.copy_htod(handle, values)
        return handle

    async def get(handle, shape):
        return np.frombuffer(await backend.copy_dtoh(handle), "f4").reshape(shape)

    def reference(q, k, v, scale, causal, mask):
        scores = scale * np.einsum("bhqd,bhkd->bhqk", q, k).astype("f8")
        if mask is not None:
            scores = scores + mask
        if causal:
            nq, nk = scores.shape[2:]
            hidden = np.arange(nk)[None, :] > np.arange(nq)[:, None] + nk - nq
            scores = np.where(hidden, -np.inf, scores)
        most = scores.max(-1, keepdims=True)
        with np.errstate(invalid="ignore"):
            weights = np.exp(scores - np.where(np.isinf(most), 0, most))
            total = weights.sum(-1, keepdims=True)
            weights = np.where(total == 0, 0, weights / total)
        return np.einsum("bhqk,bhkd->bhqd", weights, v)

    for b, h, sq, skv, d in ((1, 1, 1, 1, 1), (2, 3, 5, 7, 8), (1, 2, 33, 17, 64), (1, 1, 4, 9, 3)):
        q, k, v = (rng.normal(size=(b, h, s, d)).astype("f4") for s in (sq, skv, skv))
        mask = np.where(
            rng.random((b, 1, sq, skv)) < 0.3, -np.inf, rng.normal(size=(b, 1, sq, skv))
        )
        mask[0, 0, 0, :] = -np.inf  # a row that is wholly masked
        mask = mask.astype("f4")
        handles = [put(q), put(k), put(v), backend.alloc(q.nbytes)]
        hm = put(mask)
        for causal in (False, True):
            for with_mask in (False, True):
                # (batch, 1, queries, keys): given, or found from the handle's size
                extra = ((hm, mask.shape) if causal else (hm,)) if with_mask else ()
                backend.attention(*handles, b, h, sq, skv, d, 0.3, causal, *extra)
                want = reference(q, k, v, 0.3, causal, mask if with_mask else None)
                # a few rounding errors of float32 in the running sums
                np.testing.assert_allclose(
                    await get(handles[3], q.shape), want, rtol=2e-5, atol=2e-6
                )


@run_in_pyodide
async def test_softmax_and_norm_match_numpy(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    backend = await gpu.Backend.create()
    rng = np.random.default_rng(7)

    def put(values):
        handle = backend.alloc(values.nbytes)
        backend.copy_htod(handle, values)
        return handle

    async def get(handle, shape):
        return np.frombuffer(await backend.copy_dtoh(handle), "f4").reshape(shape)

    for shape in ((3, 4), (2, 1, 5), (1, 1025), (70,)):
        x = rng.normal(size=shape).astype("f4") * 5
        src, dst = put(x), backend.alloc(x.nbytes)
        for axis in range(len(shape)):
            backend.softmax(src, dst, shape, axis)
            e = np.exp(x.astype("f8") - x.max(axis, keepdims=True))
            want = e / e.sum(axis, keepdims=True)
            np.testing.assert_allclose(await get(dst, shape), want, rtol=1e-5, atol=1e-30)
        w, bias = (rng.normal(size=shape[-1:]).astype("f4") for _ in range(2))
        backend.layer_norm(src, dst, shape, put(w), put(bias), 1e-5)
        wide = x.astype("f8")
        off = wide - wide.mean(-1, keepdims=True)
        want = off / np.sqrt((off**2).mean(-1, keepdims=True) + 1e-5) * w + bias
        np.testing.assert_allclose(await get(dst, shape), want, rtol=1e-4, atol=1e-5)
    special = np.array([[-np.inf, -np.inf, 0], [-6e4, -6e4, -np.inf]], "f4")  # N14
    src = put(special)
    backend.softmax(src, src, (2, 3), 1)
    np.testing.assert_array_equal(await get(src, (2, 3)), [[0, 0, 1], [0.5, 0.5, 0]])
    dead = put(np.full((1, 3), -np.inf, "f4"))
    backend.softmax(dead, dead, (1, 3), 1)
    assert np.isnan(await get(dead, (1, 3))).all()


@run_in_pyodide
async def test_reductions_and_scans_match_numpy(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    backend = await gpu.Backend.create()
    rng = np.random.default_rng(4)

    def put(values):
        handle = backend.alloc(values.nbytes)
        backend.copy_htod(handle, values)
        return handle

    async def get(handle, shape, dtype="f4"):
        count = int(np.prod(shape))
        data = await backend.copy_dtoh(handle, 4 * count)
        return np.frombuffer(data, dtype).reshape(shape)

    for shape in ((1,), (7, 5), (3, 1000, 2), (2, 3, 4, 5), (5000,)):
        x = rng.integers(-2, 3, shape).astype("f4")
        src, dst = put(x), backend.alloc(x.nbytes)
        for axis in range(len(shape)):
            left = shape[:axis] + shape[axis + 1 :]
            for op in ("sum", "max", "min"):
                backend.reduce(op, src, dst, shape, axis)
                np.testing.assert_array_equal(await get(dst, left), getattr(x, op)(axis))
            backend.reduce("mean", src, dst, shape, axis)
            np.testing.assert_allclose(await get(dst, left), x.mean(axis), rtol=1e-6, atol=1e-7)
            for op in ("argmax", "argmin"):
                backend.reduce(op, src, dst, shape, axis)
                np.testing.assert_array_equal(await get(dst, left, "i4"), getattr(x, op)(axis))
            for exclusive in (False, True):
                backend.scan("sum", src, dst, shape, axis, exclusive)
                want = np.cumsum(x, axis, dtype="f4")
                want = want - x if exclusive else want
                np.testing.assert_array_equal(await get(dst, shape), want)
        signs = np.sign(x) + (x == 0)
        src = put(signs.astype("f4"))
        backend.scan("prod", src, dst, shape, 0)
        np.testing.assert_array_equal(await get(dst, shape), np.cumprod(signs, 0))
        backend.reduce("prod", src, dst, shape, 0)
        np.testing.assert_array_equal(await get(dst, shape[1:]), np.prod(signs, 0))
    one = backend.alloc(4)
    for n in (100000, 1000000):  # R01
        ones = put(np.ones(n, "f4"))
        backend.reduce("sum", ones, one, (n,), 0)
        assert (await get(one, ()))[()] == n
        backend.scan("sum", ones, ones, (n,), 0)
        np.testing.assert_array_equal(await get(ones, (n,)), np.arange(1, n + 1, dtype="f4"))
        backend.free(ones)
    for values, op, want in (  # N13, R02
        ([1, np.nan, 3], "argmax", 1), ([1, np.nan, 0], "argmin", 1), ([1, 3, 3], "argmax", 1),
        ([-0.0, 0.0], "argmax", 0), ([np.nan] * 58, "argmax", 0), ([2.5] * 5000, "argmin", 0),
        ([-np.inf, -2e38], "argmax", 1), ([np.inf, np.inf], "argmin", 0),
    ):  # fmt: skip
        src = put(np.array(values, "f4"))
        backend.reduce(op, src, one, (len(values),), 0)
        assert (await get(one, (), "i4"))[()] == want, (values[:3], op)


@run_in_pyodide
async def test_gather_and_scatter_clamp_or_raise(selenium_worker):
    import numpy as np
    import pytest

    import aiogpu as gpu

    backend = await gpu.Backend.create()
    rng = np.random.default_rng(5)

    def put(values):
        handle = backend.alloc(values.nbytes)
        backend.copy_htod(handle, values)
        return handle

    async def get(handle, shape):
        return np.frombuffer(await backend.copy_dtoh(handle), "f4").reshape(shape)

    shape = (4, 5, 6)
    x = rng.normal(size=shape).astype("f4")
    src = put(x)
    for axis in range(3):
        for mode in ("clamp", "raise"):
            index = rng.permutation(shape[axis])[:3].astype("i4")
            taken = np.take(x, index, axis)
            dst, where = backend.alloc(taken.nbytes), put(index)
            backend.gather(src, where, dst, shape, axis, 3, mode)
            np.testing.assert_array_equal(await get(dst, taken.shape), taken)
            target = put(np.zeros(shape, "f4"))
            backend.scatter(dst, where, target, shape, axis, 3, mode)
            want = np.zeros(shape, "f4")
            want[tuple(index if a == axis else slice(None) for a in range(3))] = taken
            np.testing.assert_array_equal(await get(target, shape), want)
    outside = put(np.array([-1, 0, 9], "i4"))
    dst = backend.alloc(4 * 3 * 30)
    backend.gather(src, outside, dst, shape, 0, 3)
    np.testing.assert_array_equal(await get(dst, (3, 5, 6)), x[[0, 0, 3]])
    backend.gather(src, outside, dst, shape, 0, 3, "raise")
    with pytest.raises(IndexError, match=r"gather.*an index is out of range"):
        await backend.copy_dtoh(dst)
    await backend.copy_dtoh(dst)  # raised once
    backend.scatter(dst, outside, src, shape, 0, 3, "raise")
    with pytest.raises(IndexError, match="scatter"):
        await backend.synchronize()
    await backend.synchronize()


@run_in_pyodide
async def test_elementwise_methods_match_numpy(selenium_worker):
    import math

    import numpy as np

    import aiogpu as gpu
    from aiogpu.backend import BINARY, UNARY

    backend = await gpu.Backend.create()
    rng = np.random.default_rng(6)

    def put(values):
        handle = backend.alloc(values.nbytes)
        backend.copy_htod(handle, values)
        return handle

    async def get(handle, n):
        return np.frombuffer(await backend.copy_dtoh(handle, 4 * n), "f4")

    erf = np.vectorize(math.erf)
    want = {
        "relu": lambda v: np.maximum(v, 0), "sigmoid": lambda v: 1 / (1 + np.exp(-v)),
        "tanh": np.tanh, "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "abs": np.abs,
        "neg": np.negative, "gelu": lambda v: v * (1 + erf(v / math.sqrt(2))) / 2,
        "silu": lambda v: v / (1 + np.exp(-v)), "erf": erf, "sin": np.sin, "cos": np.cos,
        "reciprocal": lambda v: 1 / v, "floor": np.floor, "ceil": np.ceil,
    }  # fmt: skip
    assert set(want) == set(UNARY)
    n = 1001
    x = rng.normal(size=n).astype("f4") * 4
    src, dst = put(x), backend.alloc(x.nbytes)
    for op, function in want.items():
        values = np.abs(x) if op in {"log", "sqrt"} else x
        backend.copy_htod(src, values)
        backend.unary(op, src, dst, n)
        # 4 ulp, or the cancellation of gelu's and silu's tails
        np.testing.assert_allclose(
            await get(dst, n), function(values.astype("f8")), rtol=1e-6, atol=1e-6
        )
    y = rng.normal(size=n).astype("f4")
    pairs = {
        "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
        "max": np.maximum, "min": np.minimum, "pow": np.power, "mod": np.mod,
    }  # fmt: skip
    assert set(pairs) == set(BINARY)
    for op, function in pairs.items():
        left = np.abs(x) if op == "pow" else x
        backend.copy_htod(src, left)
        other = put(y)
        backend.binary(op, src, other, src, n)
        np.testing.assert_allclose(await get(src, n), function(left, y), rtol=2e-6, atol=1e-6)
    nan = put(np.array([np.nan, -1, 2], "f4"))  # N03
    backend.unary("relu", nan, nan, 3)
    np.testing.assert_array_equal(await get(nan, 3), [np.nan, 0, 2])


@run_in_pyodide
async def test_work_sees_the_bytes_of_its_own_time(selenium_worker):
    import asyncio

    import numpy as np

    import aiogpu as gpu

    backend = await gpu.Backend.create()
    a, b = backend.alloc(4000), backend.alloc(4000)
    first, second = np.full(1000, 1, "f4"), np.full(1000, 5, "f4")
    backend.copy_htod(a, first)
    backend.unary("neg", a, b, 1000)
    snapshot = backend.array(a, (10, 100))
    backend.copy_htod(a, second)
    backend.copy_htod(a, np.zeros(10, "f4"), 400)
    assert bytes(await backend.copy_dtoh(b)) == (-first).tobytes()
    assert (await snapshot.numpy() == 1).all()
    second[100:110] = 0
    assert bytes(await backend.copy_dtoh(a)) == second.tobytes()

    # one table for arrays, kernels and the backend
    kernel = gpu.wgsl("""
        @group(0) @binding(0) var<storage, read> x: array<f32>;
        @group(0) @binding(1) var<storage, read_write> y: array<f32>;
        @compute @workgroup_size(64) fn twice(@builtin(global_invocation_id) id: vec3u) {
          if (id.x < arrayLength(&x)) { y[id.x] = 2.0 * x[id.x]; }
        }
    """)
    handle = backend.handle(kernel(backend.array(a, (1000,)) + 1, out_shape=1000))
    backend.binary("add", handle, a, handle, 1000)
    got = np.frombuffer(await backend.copy_dtoh(handle), "f4")
    np.testing.assert_array_equal(got, 2 * (second + 1) + second)

    # many reads at once, one of them cancelled
    reads = [asyncio.ensure_future(backend.copy_dtoh(a, 4 * n)) for n in range(1, 51)]
    reads[7].cancel()
    for n, read in enumerate(reads, 1):
        if n != 8:
            assert bytes(await read) == second[:n].tobytes()
    before = gpu.counters()
    for _ in range(300):
        backend.unary("abs", a, a, 1000)
        backend.binary("add", a, b, b, 1000)
        backend.reduce("sum", b, handle, (1000,), 0)
    await backend.synchronize()
    after = gpu.counters()
    assert after["reads"] == before["reads"]
    assert after["uploads"] == before["uploads"]


@run_in_pyodide
async def test_capabilities_are_those_of_the_device(selenium_worker):
    import aiogpu as gpu

    backend = await gpu.Backend.create()
    device = await gpu.open_device()
    has = backend.capabilities()
    assert has["is_software"] == device.adapter.is_fallback
    assert set(has["features"]) == device.adapter.features
    assert has["limits"]["max_buffer_nbytes"] == device.gpu_device.limits.maxBufferSize
    assert has["limits"]["max_storage_buffers"] == (
        device.gpu_device.limits.maxStorageBuffersPerShaderStage
    )
    adapters = await backend.available_devices()
    assert adapters
    assert adapters[0].vendor == device.adapter.vendor


@run_in_pyodide
async def test_transpose_and_present_need_what_they_say(selenium_worker):
    import js
    import numpy as np

    import aiogpu as gpu

    canvas = js.OffscreenCanvas.new(4, 4)
    backend = await gpu.Backend.init_from_canvas(canvas)
    assert backend is await gpu.Backend.create()
    x = np.arange(24, dtype="f4").reshape(2, 3, 4)
    a, b = backend.alloc(96), backend.alloc(96)
    backend.copy_htod(a, x)
    backend.transpose(a, b, (2, 3, 4), (2, 0, 1))
    got = np.frombuffer(await backend.copy_dtoh(b), "f4").reshape(4, 2, 3)
    np.testing.assert_array_equal(got, x.transpose(2, 0, 1))
    pixels = np.zeros((5, 7, 4), "u1")
    pixels[..., 3] = 255
    pixels[1:3, 2:6] = (250, 100, 30, 255)
    image = backend.alloc(pixels.nbytes)
    backend.copy_htod(image, pixels)
    reads = gpu.counters()["reads"]
    backend.present(image, 7, 5)
    await backend.synchronize()
    assert gpu.counters()["reads"] == reads
    flat = js.OffscreenCanvas.new(7, 5).getContext("2d")
    flat.drawImage(canvas.transferToImageBitmap(), 0, 0)
    shown = np.asarray(flat.getImageData(0, 0, 7, 5).data.to_py()).reshape(5, 7, 4)
    np.testing.assert_array_equal(shown, pixels)
    backend._canvas = None  # other tests expect none
