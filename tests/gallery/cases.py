"""What each kernel of examples/kernels must give, however it is run: one function for each file.

``run(kernel, *arguments, **more)`` takes and gives NumPy arrays: on the GPU, in the simulator, or
only as far as its WGSL.
"""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal


def rng(seed=0):
    return np.random.default_rng(seed)


async def saxpy(m, run):
    for n in (1, 64, 100):
        x, y = rng().random(n, "f4"), rng(1).random(n, "f4")
        # One rounding or two: the device may fuse the product and the sum.
        assert_allclose(await run(m.saxpy, 2.5, x, y), m.reference(2.5, x, y), rtol=3e-7)
        back = await run(m.saxpy, -1.0, x[::-1], y)
        assert_allclose(back, m.reference(-1.0, x[::-1], y), atol=3e-7)


async def matmul(m, run):
    for rows, inner, cols in ((16, 16, 16), (20, 33, 18), (1, 5, 3)):
        a, b = rng().random((rows, inner), "f4"), rng(1).random((inner, cols), "f4")
        shape = (rows, cols)
        c = await run(m.matmul, a, b, out_shape=shape, threads=shape)
        assert_allclose(c, m.reference(a, b), rtol=1e-5)  # sums in another order
        c = await run(m.matmul, b.T, a.T, out_shape=shape[::-1], threads=shape[::-1])
        assert_allclose(c, m.reference(b.T, a.T), rtol=1e-5)


async def life(m, run):
    cells = wanted = rng().random((13, 17)) < 0.4
    for _ in range(3):
        cells, wanted = await run(m.step, cells), m.reference(wanted)
    assert cells.dtype == bool
    assert_array_equal(cells, wanted)


async def mandelbrot(m, run):
    # Powers of two, so that fused products change nothing at the start; a few points on the edge
    # may leave a turn earlier or later all the same.
    given = (-2.0, -1.25, 0.0625, 24)
    turns = await run(m.mandelbrot, *given, out_shape=(40, 48))
    wanted = m.reference(*given, (40, 48))
    assert (turns != wanted).mean() < 0.01
    assert wanted.min() == 0
    assert (wanted == 24).any()


async def histogram(m, run):
    data = (rng().random(1500) ** 2 * 256).astype("u1")
    counts = np.arange(256, dtype="u4")
    made = await run(m.histogram, data, counts, workgroups=2)
    assert_array_equal(made, m.reference(data) + np.arange(256, dtype="u4"))
    assert_array_equal(counts, np.arange(256))


async def prefix_sum(m, run):
    x = rng().integers(-99, 99, 700).astype("i4")
    sums, totals = await run(m.scan_blocks, x, out_shape=[(700,), (3,)])
    parts = [x[at : at + 256] for at in range(0, 700, 256)]
    assert_array_equal(totals[:2], [part.sum() for part in parts[:2]])
    assert_array_equal(sums, np.concatenate([np.cumsum(part) for part in parts]))
    whole = await run(m.add_totals, sums, np.cumsum(totals, dtype="i4"))
    assert_array_equal(whole, m.reference(x))


async def bitonic_sort(m, run):
    x = rng().random(32, "f4")
    made = x
    for level in range(1, 6):
        for gap in range(level - 1, -1, -1):
            made = await run(m.exchange, made, 1 << level, 1 << gap)
    assert_array_equal(made, m.reference(x))


async def nbody(m, run):
    bodies, speeds = rng().random((70, 4), "f4"), rng(1).random((70, 3), "f4")
    made = await run(m.step, bodies, speeds, 0.01, threads=70)
    for one, wanted in zip(made, m.reference(bodies, speeds, 0.01), strict=True):
        cancels = 1e-6 * np.abs(wanted).max()
        assert_allclose(one, wanted, rtol=1e-5, atol=cancels)


async def heat(m, run):
    u = rng().random((9, 20), "f4")
    for _ in range(2):
        after = await run(m.step, u)
        assert_allclose(after, m.reference(u), rtol=3e-7)
        u = after


async def spmv(m, run):
    matrix = m.random_matrix(50, 40, 0)
    x = rng(1).random(40, "f4")
    y = await run(m.spmv, *matrix, x, out_shape=50)
    assert_allclose(y, m.reference(*matrix, x), rtol=1e-6)


async def hashing(m, run):
    x = np.arange(100, dtype="u4")
    x = np.concatenate([x, ~x])
    assert_array_equal(await run(m.pcg, x), m.reference(x))


async def activation(m, run):
    x = np.linspace(-9, 9, 199, dtype="f4")
    assert_allclose(await run(m.gelu, x), m.reference(x), rtol=1e-5, atol=1e-6)
    y = rng().standard_normal(199).astype("f4")
    length, angle = await run(m.polar, x, y)
    assert_allclose(length, np.hypot(x, y), rtol=3e-7)
    assert_allclose(angle, np.arctan2(y, x), rtol=1e-6)
