"""`gpu.fast_math`: other text inside the block, the exact functions outside of it."""

from pytest_pyodide import run_in_pyodide


@run_in_pyodide
async def test_fast_math_holds_for_what_is_made_in_the_block(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    host = np.linspace(-3, 3, 2000).astype("f4")
    x = gpu.asarray(host)
    await gpu.read(x, gpu.sin(x))
    with gpu.fast_math():
        fast = gpu.sin(x)
    exact = gpu.sin(x)  # made outside, computed later
    assert "fast_sin" in gpu.explain(fast)
    assert "fast_sin" not in gpu.explain(exact)
    before = gpu.counters()["pipelines"]
    quick, right, again = await gpu.read(fast, exact, gpu.sin(x))
    assert gpu.counters()["pipelines"] - before == 1  # of other text than that of sin, met above
    wide = np.sin(host.astype("f8"))
    assert np.abs(quick - wide).max() < 1e-2  # what fast_math says of sin in this range
    units = np.abs(right - wide) / np.spacing(np.abs(wide).astype("f4"))
    assert units.max() <= 3  # of docs/accuracy.md
    np.testing.assert_array_equal(right, again)
    with gpu.fast_math():
        inside = gpu.exp(x) / 3
    operators = gpu.explain(inside)
    assert "fast_exp fast_divide" in operators
    assert "fast" not in gpu.explain(gpu.exp(x) / 3)


@run_in_pyodide
async def test_every_fast_function_is_near(selenium_worker):
    import numpy as np

    import aiogpu as gpu
    from aiogpu.graph import table

    unary = {
        "reciprocal": (0.1, 9), "exp": (-5, 5), "log": (0.1, 9), "log2": (0.1, 9), "sqrt": (0, 9),
        "log10": (0.1, 9), "sin": (-3, 3), "cos": (-3, 3), "tan": (-1, 1), "asin": (-0.9, 0.9),
        "acos": (-0.9, 0.9), "atan": (-9, 9), "sinh": (-3, 3), "cosh": (-3, 3), "tanh": (-30, 30),
        "asinh": (-9, 9), "acosh": (1.1, 9), "atanh": (-0.9, 0.9), "sigmoid": (-9, 9),
        "silu": (-9, 9), "gelu": (-30, 30),
    }  # fmt: skip
    binary = {"divide": (0.5, 9), "pow": (0.5, 4), "atan2": (0.5, 9)}
    assert {f"fast_{name}" for name in (*unary, *binary)} == {
        name for name in table.TABLE if name.startswith("fast_")
    }
    for dtype in ("float32", "float16"):
        for names, count in ((unary, 1), (binary, 2)):
            for name, (low, high) in names.items():
                function = getattr(gpu, name, None) or getattr(gpu.nn, name)
                hosts = [np.linspace(low, high, 500), np.linspace(high, low, 500)][:count]
                given = [gpu.asarray(host.astype(dtype)) for host in hosts]
                right = function(*given)
                with gpu.fast_math():
                    fast = function(*given)
                got, value = await gpu.read(fast, right)
                assert got.dtype == dtype, name
                # 4e-4 in asin and acos on lavapipe, 5e-4 in gelu; a unit of float16.
                np.testing.assert_allclose(got, value, rtol=2e-3, atol=2e-3, err_msg=name)


@run_in_pyodide
async def test_fast_math_is_of_one_task_and_leaves_other_dtypes_alone(selenium_worker):
    import asyncio

    import numpy as np

    import aiogpu as gpu

    x = gpu.asarray(np.array([0.25, 0.5, 2], "f4"))
    entered, left = asyncio.Event(), asyncio.Event()

    async def within():
        with gpu.fast_math():
            entered.set()
            await left.wait()
            return gpu.explain(gpu.cos(x))

    task = asyncio.create_task(within())
    await entered.wait()
    assert "fast" not in gpu.explain(gpu.cos(x))
    left.set()
    assert "fast_cos" in await task
    z = gpu.asarray(np.array([1 + 2j, -0.5j], "c8"))
    k = gpu.asarray(np.array([7, -7], "i4"))
    with gpu.fast_math():
        made = gpu.exp(z), z / z, k**2, k // 2, gpu.expm1(x), gpu.erf(x)
    got = await gpu.read(*made, gpu.exp(z), z / z, k**2, k // 2, gpu.expm1(x), gpu.erf(x))
    for fast, exact in zip(got[:6], got[6:], strict=True):
        np.testing.assert_array_equal(fast, exact)
    with gpu.fast_math():
        third = 1 / gpu.asarray(np.array([3], "i4"))  # joins the fast ones as float32
    assert abs(await third.item() - 1 / 3) < 1e-6
