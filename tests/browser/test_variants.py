"""Kernels that this machine's adapter would not choose: of hardware, of uniform parameters."""

import pytest
from pytest_pyodide import run_in_pyodide


@pytest.mark.parametrize("is_fallback", [False, True])
@pytest.mark.parametrize("immediate_nbytes", [0, 64])
@run_in_pyodide
async def test_every_variant_gives_the_same(selenium_worker, is_fallback, immediate_nbytes):
    from dataclasses import replace

    import numpy as np

    import aiogpu as gpu
    from aiogpu import evaluate

    await gpu.open_device()
    runtime = evaluate.DEFAULT.runtime
    usual = runtime.limits
    runtime.limits = replace(usual, is_fallback=is_fallback, immediate_nbytes=immediate_nbytes)
    try:
        rng = np.random.default_rng(0)
        for shapes in (((1, 1), (1, 1)), ((65, 63), (63, 66)), ((3, 17, 33), (33, 5)),
                       ((2, 1, 64, 16), (3, 16, 64)), ((130, 7), (7, 129))):  # fmt: skip
            a, b = (rng.integers(-4, 5, shape).astype("f4") for shape in shapes)
            got = await (gpu.asarray(a) @ gpu.asarray(b)).numpy()
            np.testing.assert_array_equal(got, a @ b)
        a = rng.integers(-9, 10, (33, 65)).astype("i4")
        np.testing.assert_array_equal(await (gpu.asarray(a).T @ gpu.asarray(a)).numpy(), a.T @ a)
        x = rng.normal(size=(7, 5, 3)).astype("f4")
        y = gpu.asarray(x)
        np.testing.assert_allclose(
            await (gpu.tanh(gpu.flip(y) * 2 + 1).sum(axis=1)).numpy(),
            np.tanh(x[::-1, ::-1, ::-1] * 2 + 1).sum(1),
            rtol=1e-5,  # a sum of five numbers of 4 ulp each
            atol=1e-6,
        )
        # many launches of different parameters in one submit
        chain = gpu.asarray(np.zeros(4, "f4"))
        with gpu.eager():
            for step in range(600):
                chain = chain + step
            np.testing.assert_array_equal(await chain.numpy(), np.full(4, 600 * 599 / 2, "f4"))
    finally:
        runtime.limits = usual


@pytest.mark.parametrize("is_fallback", [False, True])
@run_in_pyodide
async def test_every_way_of_folding_gives_the_same(selenium_worker, is_fallback):
    from dataclasses import replace

    import numpy as np

    import aiogpu as gpu
    from aiogpu import evaluate
    from aiogpu.array import Array
    from aiogpu.graph import blocks

    await gpu.open_device()
    runtime = evaluate.DEFAULT.runtime
    usual = runtime.limits
    rng = np.random.default_rng(3)
    try:
        runtime.limits = replace(usual, is_fallback=is_fallback)
        for shape, axis in (
            ((1,), 0), ((33,), 0), ((1000,), 0), ((40_000,), 0), ((3, 5000), 1), ((5000, 3), 0),
            ((70, 300), 0), ((70, 300), 1), ((300, 33), 1), ((2, 600, 40), 1), ((65, 20_000), 1),
        ):  # fmt: skip
            a = rng.integers(-9, 10, shape).astype("i4")
            x = gpu.asarray(a)
            for got, want in (
                (x.sum(axis=axis), a.sum(axis, dtype="i4")),
                (x.max(axis=axis), a.max(axis)),
                (x.min(axis=axis), a.min(axis)),
                (gpu.all(x > -9, axis=axis), np.all(a > -9, axis)),
                (gpu.any(x > 8, axis=axis), np.any(a > 8, axis)),
                (x.astype("int8").max(axis=axis), a.astype("i1").max(axis)),
                (Array(blocks.search("argmax", x._node, axis, keepdims=False)), a.argmax(axis)),
                (Array(blocks.search("argmin", x._node, axis, keepdims=False)), a.argmin(axis)),
            ):
                np.testing.assert_array_equal(await got.numpy(), want, err_msg=f"{shape} {axis}")
            b = rng.normal(size=shape).astype("f4")
            y = gpu.asarray(b)
            wide = b.astype("f8")
            np.testing.assert_allclose(  # sums carry their errors along: one rounding is left
                await y.sum(axis=axis).numpy(), wide.sum(axis), rtol=1e-6, atol=1e-6
            )
            z = b + 1j * b[::-1]
            np.testing.assert_allclose(
                await gpu.asarray(z).sum(axis=axis).numpy(), z.astype("c16").sum(axis),
                rtol=1e-6, atol=2e-6,
            )  # fmt: skip
            np.testing.assert_allclose(
                await (y.mean(axis=axis) * 2 + 1).numpy(), wide.mean(axis) * 2 + 1, atol=1e-6
            )
            power = np.exp(wide - wide.max(axis, keepdims=True))
            soft = Array(blocks.along("softmax", y._node, axis))
            np.testing.assert_allclose(  # exp and a quotient: a few units in the last place
                await soft.numpy(), power / power.sum(axis, keepdims=True), rtol=3e-6
            )
            odd = b.copy()
            odd.reshape(-1)[::7] = np.resize([np.nan, -np.inf, np.inf, -np.inf], b.size)[::7]
            with np.errstate(invalid="ignore"):
                power = np.exp(odd - odd.max(axis, keepdims=True))
                power /= power.sum(axis, keepdims=True)
            soft = Array(blocks.along("softmax", gpu.asarray(odd)._node, axis))
            np.testing.assert_allclose(await soft.numpy(), power, rtol=3e-6, atol=1e-30)
            rows = Array(blocks.along("standardize", y._node, axis, epsilon=1e-5))
            off = wide - wide.mean(axis, keepdims=True)
            np.testing.assert_allclose(
                await rows.numpy(),
                off / np.sqrt((off**2).mean(axis, keepdims=True) + 1e-5),
                atol=2e-5,
            )
    finally:
        runtime.limits = usual


@pytest.mark.parametrize(
    ("name", "is_unrolled"),
    [
        *((name, False) for name in ("HUGE", "LARGE", "MIDDLE", "DIRECT", "DIRECT_SMALL", "PLAIN")),
        ("SMALL", True),  # the others compile for minutes here
        ("SMALL", False),
    ],
)
@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_every_block_of_a_product_is_right_at_its_edges(selenium_worker, name, is_unrolled):
    import numpy as np

    import aiogpu as gpu
    from aiogpu import evaluate
    from aiogpu.kernels import matmul
    from aiogpu.plan import Planner

    usual, planner = matmul.choose, evaluate.DEFAULT._planner
    kernel = getattr(matmul, name)._replace(is_unrolled=is_unrolled)
    matmul.choose = lambda *_: kernel
    evaluate.DEFAULT._planner = Planner()
    rng = np.random.default_rng(5)
    try:
        is_slow = kernel.kind == "tiled" and kernel.workgroup > 64  # to compile here
        for m, k, n in (
            (1, 1, 1), (3, 4, 5), (31, 33, 32), (65, 20, 68), (129, 3, 131), (1, 64, 300),
            (4, 2, 8), (7, 32, 12), (130, 64, 136),
        ):  # fmt: skip
            a = rng.integers(-4, 5, (m, k)).astype("f4")
            b = rng.integers(-4, 5, (k, n)).astype("f4")
            c = rng.integers(-4, 5, n).astype("f4")
            x, y, z = (gpu.asarray(each) for each in (a, b, c))
            for got, want in (
                (x @ y, a @ b),
                (gpu.maximum(x @ y + z, 0.0), np.maximum(a @ b + c, 0)),
                (gpu.asarray(a.T.copy()).T @ gpu.asarray(b.T.copy()).T, a @ b),
                (x.astype("int8") @ y.astype("int8"), (a @ b).astype("i4").astype("i1")),
                (x.astype("float16") @ y.astype("float16"), (a @ b).astype("f2")),
            )[: 2 if is_slow else None]:
                np.testing.assert_array_equal(await got.numpy(), want, err_msg=f"{m} {k} {n}")
        a = rng.integers(-4, 5, (3, 1, 20, 12)).astype("i4")
        b = rng.integers(-4, 5, (2, 12, 24)).astype("i4")
        got = gpu.asarray(a)[..., ::-1, 4:] @ gpu.asarray(b)[:, 4:]
        np.testing.assert_array_equal(await got.numpy(), a[..., ::-1, 4:] @ b[:, 4:])
        # What lies past the end of a row is no part of it, not even times 0.
        wide = np.full((5, 9), np.nan, "f4")
        wide[:, :6] = rng.integers(-4, 5, (5, 6))
        tall = np.full((9, 5), np.inf, "f4")
        tall[:6] = rng.integers(-4, 5, (6, 5))
        got = gpu.asarray(wide)[:, :6] @ gpu.asarray(tall)[:6]
        np.testing.assert_array_equal(await got.numpy(), wide[:, :6] @ tall[:6])
    finally:
        matmul.choose, evaluate.DEFAULT._planner = usual, planner


@pytest.mark.parametrize("is_fallback", [False, True])
@run_in_pyodide
async def test_attention_in_workgroups_and_alone(selenium_worker, is_fallback):
    from dataclasses import replace

    import numpy as np

    import aiogpu as gpu
    from aiogpu import evaluate

    await gpu.open_device()
    runtime = evaluate.DEFAULT.runtime
    usual = runtime.limits
    runtime.limits = replace(usual, is_fallback=is_fallback)
    rng = np.random.default_rng(8)
    try:
        for b, h, queries, keys, width, causal, masked in (
            (1, 1, 1, 1, 1, False, False), (2, 3, 65, 70, 8, False, False),
            (1, 2, 7, 33, 6, True, False), (1, 1, 130, 129, 64, True, True),
            (2, 1, 5, 3, 32, True, True), (1, 1, 3, 100, 7, False, True),
        ):  # fmt: skip
            q, k, v = (
                rng.normal(size=(b, h, n, width)).astype("f4") for n in (queries, keys, keys)
            )
            mask = None
            scores = q.astype("f8") @ k.swapaxes(2, 3).astype("f8") * width**-0.5
            if masked:
                mask = rng.normal(size=(queries, keys)).astype("f4")
                mask[rng.random(mask.shape) < 0.3] = -np.inf
                mask[0] = -np.inf  # a row that is wholly masked gives zeros
                scores = scores + mask
            if causal:
                seen = np.arange(keys) <= np.arange(queries)[:, None] + keys - queries
                scores = np.where(seen, scores, -np.inf)
            top = scores.max(-1, keepdims=True)
            power = np.exp(scores - np.where(np.isfinite(top), top, 0))
            total = power.sum(-1, keepdims=True)
            want = power / np.where(total, total, 1) @ v
            x, y, z = (gpu.asarray(each) for each in (q, k, v))
            more = {} if mask is None else {"mask": gpu.asarray(mask)}
            got = await gpu.nn.attention(x, y, z, causal=causal, **more).numpy()
            np.testing.assert_allclose(  # a few roundings of weights that sum to 1
                got, want, atol=3e-6, err_msg=f"{b} {h} {queries} {keys} {width}"
            )
    finally:
        runtime.limits = usual


@pytest.mark.parametrize("is_fallback", [False, True])
@run_in_pyodide
async def test_convolutions_as_products_and_element_by_element(selenium_worker, is_fallback):
    from dataclasses import replace

    import numpy as np

    import aiogpu as gpu
    from aiogpu import evaluate

    await gpu.open_device()
    runtime = evaluate.DEFAULT.runtime
    usual = runtime.limits
    runtime.limits = replace(usual, is_fallback=is_fallback)
    rng = np.random.default_rng(2)
    try:
        for image, filters, stride, padding, dilation, groups in (
            ((1, 3, 9, 10), (16, 3, 3, 3), (1, 1), (1, 1), (1, 1), 1),
            ((2, 4, 7, 6), (8, 4, 1, 1), (1, 1), (0, 0), (1, 1), 1),
            ((2, 6, 11, 8), (24, 3, 3, 5), (2, 1), (1, 2), (1, 1), 2),
            ((1, 8, 9, 9), (8, 1, 3, 3), (1, 1), (2, 2), (2, 2), 8),
            ((1, 5, 17, 16), (70, 5, 5, 7), (3, 2), (2, 3), (1, 1), 1),
        ):
            x = rng.integers(-3, 4, image).astype("f4")
            w = rng.integers(-3, 4, filters).astype("f4")
            b = rng.integers(-3, 4, filters[0]).astype("f4")
            padded = np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
            spans = [d * (f - 1) + 1 for d, f in zip(dilation, filters[2:], strict=True)]
            windows = np.lib.stride_tricks.sliding_window_view(padded, spans, (2, 3))
            windows = windows[:, :, :: stride[0], :: stride[1], :: dilation[0], :: dilation[1]]
            parts = [
                np.einsum("bchwrs,kcrs->bkhw", xs, ws)
                for xs, ws in zip(np.split(windows, groups, 1), np.split(w, groups, 0), strict=True)
            ]
            want = np.concatenate(parts, 1)
            how = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
            y, z = gpu.asarray(x), gpu.asarray(w)
            np.testing.assert_array_equal(await gpu.nn.conv2d(y, z, **how).numpy(), want)
            np.testing.assert_array_equal(
                await gpu.nn.relu(gpu.nn.conv2d(y, z, gpu.asarray(b), **how)).numpy(),
                np.maximum(want + b[:, None, None], 0),
            )
            half = gpu.nn.conv2d(y.astype("float16"), z.astype("float16"), **how)
            np.testing.assert_array_equal(await half.numpy(), want.astype("f2"))
    finally:
        runtime.limits = usual
