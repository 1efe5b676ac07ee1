"""gpu.compile: a function is recorded once for each form of its arguments, and repeated."""

from pytest_pyodide import run_in_pyodide


@run_in_pyodide
async def test_a_step_of_a_network_is_repeated_as_it_was_recorded(selenium_worker):
    import numpy as np
    from numpy.testing import assert_allclose

    import aiogpu as gpu

    def step(x, w1, b1, w2, b2, target):
        hidden = gpu.maximum(x @ w1 + b1, 0)
        error = hidden @ w2 + b2 - target
        grad2 = hidden.T @ error
        back = gpu.where(hidden > 0, error @ w2.T, 0)
        return {
            "loss": (error**2).mean(),
            "w1": w1 - 0.01 * (x.T @ back),
            "b": (b1 - 0.01 * back.sum(axis=0), b2 - 0.01 * error.sum(axis=0)),
            "w2": w2 - 0.01 * grad2,
        }

    rng = np.random.default_rng(0)
    host = [
        rng.normal(size=s).astype("f4") * 0.3 for s in ((8, 5), (5, 7), (7,), (7, 3), (3,), (8, 3))
    ]
    await gpu.open_device()
    compiled = gpu.compile(step)
    calls = 0

    def counted(*given):
        nonlocal calls
        calls += 1
        return step(*given)

    counting = gpu.compile(counted)
    for function in (compiled, counting):
        x, w1, b1, w2, b2, target = (gpu.asarray(each) for each in host)
        losses = []
        for _ in range(12):
            made = function(x, w1, b1, w2, b2, target)
            w1, w2, (b1, b2) = made["w1"], made["w2"], made["b"]
            losses.append(made["loss"])
        got = await gpu.read(*losses, w1, w2, b1, b2)
    assert calls == 1
    x, w1, b1, w2, b2, target = (each.astype("f8") for each in host)
    for index in range(12):
        hidden = np.maximum(x @ w1 + b1, 0)
        error = hidden @ w2 + b2 - target
        assert_allclose(got[index], (error**2).mean(), rtol=1e-4)
        back = np.where(hidden > 0, error @ w2.T, 0)
        w2, b2 = w2 - 0.01 * hidden.T @ error, b2 - 0.01 * error.sum(0)
        w1, b1 = w1 - 0.01 * x.T @ back, b1 - 0.01 * back.sum(0)
    for mine, want in zip(got[12:], (w1, w2, b1, b2), strict=True):
        assert_allclose(mine, want, rtol=1e-4, atol=1e-5)


@run_in_pyodide
async def test_a_call_crosses_once_and_makes_no_buffers(selenium_worker):
    import aiogpu as gpu

    @gpu.compile
    def chain(x, y):
        for _ in range(5):
            x = gpu.tanh(x @ y) + x.sum(axis=0)
        return x

    x, y = gpu.ones((8, 8)) * 0.1, gpu.eye(8) * 0.5
    first = await chain(x, y).numpy()
    await chain(x, y).numpy()
    before = gpu.counters()
    made = [chain(x, y) for _ in range(3)]
    got = await gpu.read(*made)
    after = gpu.counters()
    for each in got:
        assert (each == first).all()
    assert after["submits"] - before["submits"] == 1
    assert after["dispatches"] - before["dispatches"] >= 3 * 5
    assert after["pipelines"] == before["pipelines"]
    assert after["buffers"] - before["buffers"] <= 3


@run_in_pyodide
async def test_forms_of_arguments_and_results(selenium_worker):
    from collections import namedtuple

    import numpy as np
    import pytest

    import aiogpu as gpu

    await gpu.open_device()
    forms = []
    Pair = namedtuple("Pair", "same view")

    @gpu.compile
    def scaled(x, factor, *, shift=0):
        forms.append((x.shape, x.dtype, factor, shift))
        y = x * factor + shift
        return Pair(x, y.reshape((-1,))), [y, y.T]

    x = np.arange(6, dtype="f4").reshape(2, 3)
    for host, factor, more in (
        (x, 2, {}), (x + 1, 2, {}), (x, 3, {}), (x, 2.0, {}), (x, True, {}), (x, 1, {}),
        (x, 2, {"shift": 1}), (x.T.copy(), 2, {}), (x.astype("i4"), 2, {}),
    ):  # fmt: skip
        given = gpu.asarray(host)
        (same, view), (y, turned) = scaled(given, factor, **more)
        want = host * factor + more.get("shift", 0)
        got = await gpu.read(same, view, y, turned)
        for mine, right in zip(got, (host, want.ravel(), want, want.T), strict=True):
            np.testing.assert_array_equal(mine, right)
    assert len(forms) == 8  # the second call is the first one's form

    # Results are values: later calls, and assignments to them, change nothing.
    one = scaled(gpu.asarray(x), 2)[1][0]
    two = scaled(gpu.asarray(x * 10), 2)[1][0]
    kept = two[0]
    two[0] = -1
    a, b, c = await gpu.read(one, two, kept)
    np.testing.assert_array_equal(a, x * 2)
    np.testing.assert_array_equal(b, [[-1] * 3, x[1] * 20])
    np.testing.assert_array_equal(c, x[0] * 20)
    with pytest.raises(gpu.errors.UsageError, match="unhashable"):
        scaled(gpu.asarray(x), [1])
    with pytest.raises(gpu.errors.UsageError, match="a result: int: must be an array"):
        gpu.compile(lambda x: 3)(gpu.asarray(x))


@run_in_pyodide
async def test_assignments_views_captured_arrays_and_what_cannot_be_repeated(selenium_worker):
    import numpy as np
    import pytest

    import aiogpu as gpu

    await gpu.open_device()
    table = gpu.asarray(np.arange(10, dtype="f4"))

    @gpu.compile
    def edited(x):
        y = x.copy()
        y[1:3] = 7
        y[0] += table[4]
        return y, y[::-1], table

    for seed in range(3):
        host = np.arange(5, dtype="f4") + seed
        want = host.copy()
        want[1:3] = 7
        want[0] += 4
        x = gpu.asarray(host)
        got = await gpu.read(*edited(x), x)
        for mine, right in zip(got, (want, want[::-1], np.arange(10), host), strict=True):
            np.testing.assert_array_equal(mine, right)

    @gpu.compile
    def picked(x, index):
        return x[index] * 2

    for index in ([1, 2], [0, 4]):
        got = await picked(gpu.asarray(np.arange(5)), gpu.asarray(index)).numpy()
        assert got.tolist() == [2 * each for each in index]
    with pytest.raises(IndexError):
        await picked(gpu.asarray(np.arange(5)), gpu.asarray([0, 5])).numpy()

    @gpu.compile
    def deep(x):
        for _ in range(700):
            x = x + 1
        return x

    assert (await deep(gpu.zeros(4)).numpy() == 700).all()
    assert (await deep(gpu.ones(4)).numpy() == 701).all()


@run_in_pyodide
async def test_recorded_anew_after_a_loss(selenium_worker):
    import asyncio

    import aiogpu as gpu

    calls = []

    @gpu.compile
    def double(x):
        calls.append(1)
        return x * 2

    device = await gpu.open_device()
    assert await double(gpu.ones(3)).tolist() == [2, 2, 2]
    device.destroy()
    await asyncio.sleep(0.01)
    await gpu.open_device()
    assert await double(gpu.full(3, 5.0)).tolist() == [10, 10, 10]
    assert await double(gpu.full(3, 6.0)).tolist() == [12, 12, 12]
    assert len(calls) == 2


@run_in_pyodide
async def test_kernels_in_python_are_repeated_too(selenium_worker):
    import asyncio

    import aiogpu as gpu
    from aiogpu.lang.source import define

    cube = gpu.elementwise(define("def cube(x: float) -> float:\n    return x * x * x\n", {}))
    calls = []

    @gpu.compile
    def cubes(x):
        calls.append(1)
        return cube(x).sum()

    # Its shader is compiled in the background; until then the function runs as it would without.
    for value in range(1, 200):
        ncalls = len(calls)
        assert await cubes(gpu.full(2, float(value % 9))).item() == 2 * (value % 9) ** 3
        if len(calls) == ncalls:
            break
        await asyncio.sleep(0.05)
    else:
        raise AssertionError("never repeated")


@run_in_pyodide
async def test_one_calls_another_and_each_way_of_computing_has_its_own(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    await gpu.open_device()
    double = gpu.compile(lambda x: x * 2)
    both = gpu.compile(lambda x: double(x) + double(double(x)))
    for value in (1.0, 3.0):
        assert await both(gpu.full(3, value)).tolist() == [6 * value] * 3

    forms = []

    @gpu.compile
    def wave(x):
        forms.append(1)
        return gpu.sin(x) + 1

    x = gpu.asarray(np.linspace(-3, 3, 8, dtype="f4"))
    with gpu.fast_math():
        wave(x)
    exact = await wave(x).numpy()
    with gpu.eager():
        wave(x)
    np.testing.assert_array_equal(exact, await (gpu.sin(x) + 1).numpy())
    assert len(forms) == 3
