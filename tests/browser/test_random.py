"""Random numbers against Philox in NumPy, outside of the browser: what comes back is compared."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from pytest_pyodide import run_in_pyodide

import philox
from aiogpu.kernels.numerics import NORMAL_ULP

KEY = 0x9E3779B97F4A7C15
SIZES = (1, 2, 3, 4, 5, 127, 128, 129, 1000, 70_001)
RANGES = (
    ("int32", 0, 10), ("int32", -(2**31), 2**31), ("uint32", 5, 2**32), ("int8", -128, 128),
    ("uint8", 0, 200), ("int16", -3, 4), ("uint16", 0, 65536), ("int32", 7, 8),
)  # fmt: skip


@run_in_pyodide
async def drawn(selenium_worker, key, sizes, ranges):
    import aiogpu as gpu

    made = []
    for size in sizes:
        rng = gpu.random.Generator(key)
        draws = [
            rng.random(size), rng.uniform(-3, 0.1, size), rng.normal(size=size),
            rng.random(size, dtype="float16"), rng.normal(2, 0.5, size),
            *(rng.integers(low, high, size, dtype=dtype) for dtype, low, high in ranges),
        ]  # fmt: skip
        made.append(await gpu.read(*draws))
    return made


def test_every_draw_has_the_words_that_follow(selenium_worker):
    made = drawn(selenium_worker, KEY, SIZES, RANGES)
    for size, draws in zip(SIZES, made, strict=True):
        nblocks = -(-size // 4)
        words = [philox.words(KEY, k * nblocks, 4 * nblocks) for k in range(len(draws))]
        first, second, _, fourth, _, *rest = [each[:size] for each in words]
        random, uniform, normal, half, shifted, *integers = draws
        assert_array_equal(random, philox.unit(first), strict=True)
        unit, low, high = philox.unit(second), np.float32(-3), np.float32(0.1)
        assert_array_equal(uniform, low + (high - low) * unit, strict=True)
        expected = philox.normal(words[2])[:size]
        assert normal.dtype == np.float32
        unit_in_last_place = np.spacing(np.abs(expected).astype("f4"))
        assert np.all(np.abs(normal - expected) <= NORMAL_ULP * unit_in_last_place)
        assert_array_equal(half, ((fourth >> 21) * 2.0**-11).astype("f2"), strict=True)
        assert_allclose(shifted, philox.normal(words[4])[:size] * 0.5 + 2, rtol=1e-6, atol=1e-6)
        for (dtype, low, high), bits, got in zip(RANGES, rest, integers, strict=True):
            wanted = philox.integers(bits, low, high - low).astype(dtype)
            assert_array_equal(got, wanted, strict=True)


@run_in_pyodide
async def ordered(selenium_worker, key):
    import numpy as np

    import aiogpu as gpu

    host = np.arange(60, dtype="i2").reshape(4, 5, 3)
    x = gpu.asarray(host)
    rng = gpu.random.Generator(key)
    made = [
        rng.permutation(1000), rng.permutation(x), rng.permutation(x, axis=-2),
        rng.choice(50, (3, 4)), rng.choice(x, 7, axis=1), rng.choice(90, 30, replace=False),
        rng.choice(4, 5000, p=[0.1, 0, 0.9, 0]), rng.choice(x[:, 0, 2], 6, p=[0.25] * 4),
        rng.choice(gpu.asarray([3.5])),
    ]  # fmt: skip
    return host, await gpu.read(*made)


def test_permutations_and_choices(selenium_worker):
    host, made = ordered(selenium_worker, KEY)
    place = 0

    def words(count):
        nonlocal place
        bits = philox.words(KEY, place, count)
        place += -(-count // 4)
        return bits

    def order(count):
        return np.argsort(words(count), kind="stable").astype("i4")

    assert_array_equal(made[0], order(1000), strict=True)
    assert_array_equal(made[1], host[order(4)], strict=True)
    assert_array_equal(made[2], host[:, order(5)], strict=True)
    some = philox.integers(words(12), 0, 50).reshape(3, 4)
    assert_array_equal(made[3], some.astype("i4"), strict=True)
    assert_array_equal(made[4], host[:, philox.integers(words(7), 0, 5)], strict=True)
    assert_array_equal(made[5], order(90)[:30], strict=True)
    bits = words(5000)
    likely = np.where(bits < round(0.1 * 2**32), 0, 2).astype("i4")
    assert_array_equal(made[6], likely, strict=True)
    assert 400 < np.sum(likely == 0) < 600
    assert_array_equal(made[7], host[:, 0, 2][words(6) >> 30], strict=True)
    assert_array_equal(made[8], np.float32(3.5), strict=True)


@run_in_pyodide
async def test_a_draw_is_fused_and_reads_nothing(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    rng = gpu.random.default_rng(5)
    y = (rng.normal(size=(64, 65)) * 2 + rng.uniform(0, 1, (64, 65))).sum(axis=1)
    assert gpu.explain(y).splitlines() == [
        "0: sum of random_normal multiply random_bits random_unit random_between add"
        " -> (64,) float32, 0 inputs"
    ]
    same = gpu.random.default_rng(5)
    x, z = await gpu.read(same.normal(size=(64, 65)), same.uniform(0, 1, (64, 65)))
    # What a broadcast would draw again for each row is drawn once.
    row = rng.uniform(0, 1, 65) + gpu.asarray(x)
    assert len(gpu.explain(row).splitlines()) == 2
    reads = gpu.counters()["reads"]
    await y.evaluate()
    assert gpu.counters()["reads"] == reads
    np.testing.assert_allclose(await y.numpy(), (x * 2 + z).sum(axis=1), rtol=2e-5, atol=2e-5)


@run_in_pyodide
async def test_the_same_seed_gives_the_same_stream(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    def draw(seed):
        rng = gpu.random.default_rng(seed)
        x = rng.random((3, 5))
        # Held and read twice, through a view and after a detour: always the same numbers.
        return x, x.T[::-1].T + 0, rng.random(15)

    one, turned, next_ = await gpu.read(*draw([1, 2]))
    again, _, _ = await gpu.read(*draw((1, 2)))
    other, _, _ = await gpu.read(*draw([2, 1]))
    np.testing.assert_array_equal(one, again)
    np.testing.assert_array_equal(one[:, ::-1], turned)
    assert not np.any(one == other)
    assert not np.any(one.ravel() == next_)
    with gpu.eager():
        alone = gpu.random.default_rng([1, 2]).random((3, 5)) * 2
        np.testing.assert_array_equal(await alone.numpy(), one * 2)


@run_in_pyodide
async def test_moments_of_many(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    rng = gpu.random.default_rng(11)
    n = 1 << 20
    x = await rng.normal(size=n).numpy()
    x = x.astype("f8")
    # Six deviations of each moment's own estimate.
    assert abs(x.mean()) < 6 / n**0.5
    assert abs(x.var() - 1) < 6 * (2 / n) ** 0.5
    assert abs((x**3).mean()) < 6 * (15 / n) ** 0.5
    assert abs((x**4).mean() - 3) < 6 * (96 / n) ** 0.5
    assert abs((x[::2] * x[1::2]).mean()) < 6 * (2 / n) ** 0.5
    counts = np.bincount(await rng.integers(0, 7, n).numpy(), minlength=7)
    assert np.abs(counts - n / 7).max() < 6 * (n / 7) ** 0.5


@run_in_pyodide
async def test_means_and_deviations_that_are_arrays(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    host = np.array([[1], [10], [-5]], "f4")
    loc = gpu.asarray(host)
    plain = gpu.random.default_rng(1).normal(size=(3, 4))
    made = gpu.random.default_rng(1).normal(loc, gpu.asarray([1, 2, 0, 4]))
    normal, expected = await gpu.read(made, plain)
    np.testing.assert_allclose(normal, host + expected * [1, 2, 0, 4], rtol=1e-6, atol=1e-6)
    unit = gpu.random.default_rng(2).random((3, 4))
    made = gpu.random.default_rng(2).uniform(loc, 20, (3, 4))
    uniform, expected = await gpu.read(made, unit)
    np.testing.assert_array_equal(uniform, host + (np.float32(20) - host) * expected)
    nothing = await gpu.random.default_rng(3).integers(0, 5, (0, 3)).numpy()
    assert nothing.shape == (0, 3)
