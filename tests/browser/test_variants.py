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
