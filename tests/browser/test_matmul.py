"""Matrix products: sizes around the tiles, batches, dtypes, views, vectors, no inner axis."""

import pytest
from pytest_pyodide import run_in_pyodide


@pytest.mark.driver_timeout(150)
@run_in_pyodide
async def test_sizes_around_the_tiles(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    sizes = (1, 3, 4, 5, 16, 17, 31, 32, 33, 63, 65)
    rng = np.random.default_rng(6)
    # All triples of which two are equal, and a third of the others: every size in every place.
    triples = [
        (m, n, k)
        for m in sizes
        for n in sizes
        for k in sizes
        if len({m, n, k}) < 3 or rng.random() < 0.15
    ]
    for start in range(0, len(triples), 100):
        part = triples[start : start + 100]
        pairs = [
            (rng.integers(-8, 9, (m, k)).astype("f4"), rng.integers(-8, 9, (k, n)).astype("f4"))
            for m, n, k in part
        ]
        arrays = [(gpu.asarray(a), gpu.asarray(b)) for a, b in pairs]
        for _ in range(2):
            # Sums of small integers are exact in float32.
            for (a, b), read in zip(
                pairs, await gpu.read(*(x @ y for x, y in arrays)), strict=True
            ):
                assert_array_equal(read, a @ b, strict=True)


@run_in_pyodide
async def test_batches_broadcast_and_vectors_lose_their_axis(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    rng = np.random.default_rng(7)
    for one, two in (
        ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)), ((2, 3, 4), (2, 4, 5)), ((2, 1, 3, 4), (5, 4, 2)),
        ((2, 1, 3, 1, 4), (3, 4, 2)), ((4,), (4, 3)), ((3, 4), (4,)), ((4,), (4,)),
        ((2, 3, 4), (4,)), ((4,), (2, 4, 3)), ((1, 1, 1), (7, 1, 1)),
        ((3, 1, 2, 33, 40), (2, 40, 35)),
    ):  # fmt: skip
        a, b = (rng.integers(-5, 6, shape).astype("f4") for shape in (one, two))
        made = gpu.matmul(gpu.asarray(a), gpu.asarray(b))
        assert made.shape == np.matmul(a, b).shape
        assert_array_equal(await made.numpy(), np.matmul(a, b), strict=True)


@run_in_pyodide
async def test_integers_are_exact_modulo_their_width(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    rng = np.random.default_rng(8)
    for dtype in ("int32", "uint32", "uint8"):
        info = np.iinfo(dtype)
        a, b = (
            rng.integers(info.min, info.max, shape, dtype, endpoint=True)
            for shape in ((9, 37), (37, 70))
        )
        assert_array_equal(await (gpu.asarray(a) @ gpu.asarray(b)).numpy(), a @ b, strict=True)
    mixed = gpu.asarray(np.ones((2, 3), "u1")) @ gpu.ones((3, 2))
    assert_array_equal(await mixed.numpy(), np.full((2, 2), 3, "f4"), strict=True)


@run_in_pyodide
async def test_complex_products_and_transposed_squares(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    rng = np.random.default_rng(6)
    for m, k, n in ((60, 40, 3), (1, 3, 33), (33, 65, 31)):
        shapes = ((m, k), (k, n))
        a, b = ((rng.integers(-5, 6, (2, *shape)).astype("f4")) for shape in shapes)
        one, two = (each[0] + 1j * each[1] for each in (a, b))
        x, y = gpu.asarray(one), gpu.asarray(two)
        product, square = await gpu.read(x @ y, x @ x.T)
        assert_array_equal(product, one @ two)
        assert_array_equal(square, one @ one.T)


@run_in_pyodide
async def test_operands_that_are_views(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    rng = np.random.default_rng(9)
    a, b = (rng.integers(-5, 6, shape).astype("f4") for shape in ((2, 40, 36), (36, 50)))
    x, y = gpu.asarray(a), gpu.asarray(b)
    before = gpu.counters()["dispatches"]
    made = await gpu.read(
        x[0] @ y, x[1, ::2] @ y[:, 10:20], y.T @ x[0].T, x.mT @ x, x[0, ::-1, ::3] @ y[::3, ::-1],
        gpu.broadcast_to(y[0], (40, 50)).T @ x[1], x[0] @ x[0].T,
    )  # fmt: skip
    wanted = (
        a[0] @ b, a[1, ::2] @ b[:, 10:20], b.T @ a[0].T, a.swapaxes(1, 2) @ a,
        a[0, ::-1, ::3] @ b[::3, ::-1], np.broadcast_to(b[0], (40, 50)).T @ a[1], a[0] @ a[0].T,
    )  # fmt: skip
    for read, value in zip(made, wanted, strict=True):
        assert_array_equal(read, value, strict=True)
    # Views are read where they lie: one launch a product, no copy.
    assert gpu.counters()["dispatches"] == before + len(wanted)


@run_in_pyodide
async def test_products_of_computed_operands(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    a = np.arange(12, dtype="f4").reshape(3, 4)
    x = gpu.asarray(a)
    made = ((x + 1) @ (x.T * 2) - 3) @ gpu.ones((3, 2))
    assert_array_equal(await made.numpy(), ((a + 1) @ (a.T * 2) - 3) @ np.ones((3, 2), "f4"))
    assert_array_equal(await (gpu.eye(3) @ x).numpy(), a)
    assert_array_equal(await (gpu.full((2, 3), 2.0) @ x).numpy(), np.full((2, 3), 2, "f4") @ a)
    squared = x @ x.T
    assert_array_equal(await (squared @ squared + squared).numpy(), (a @ a.T) @ (a @ a.T) + a @ a.T)


@run_in_pyodide
async def test_nothing_in_the_middle_gives_zeros(selenium_worker):
    import numpy as np
    import pytest
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    empty = await (gpu.zeros((2, 0)) @ gpu.zeros((0, 3))).numpy()
    assert_array_equal(empty, np.zeros((2, 3), "f4"), strict=True)
    assert (await (gpu.zeros((0, 2)) @ gpu.zeros((2, 3))).numpy()).shape == (0, 3)
    assert (await (gpu.zeros((4, 2, 0)) @ gpu.zeros((0, 3))).numpy()).sum() == 0
    for one, two in (((2, 3), (2, 3)), ((3,), (4,)), ((2, 2, 3), (3, 3, 4))):
        with pytest.raises(gpu.errors.ShapeError):
            gpu.ones(one) @ gpu.ones(two)
    with pytest.raises(gpu.errors.ShapeError, match="0-d"):
        gpu.matmul(gpu.ones(()), gpu.ones(3))
    with pytest.raises(gpu.errors.DTypeError):
        gpu.ones((2, 2), dtype="bool") @ gpu.ones((2, 2), dtype="bool")
    with pytest.raises(gpu.errors.DTypeError):
        gpu.ones((2, 2), dtype="int32") @ gpu.ones((2, 2), dtype="uint32")


@run_in_pyodide
async def test_nan_and_infinity_stay_in_their_rows(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    a = np.ones((37, 35), "f4")
    a[5, 7], a[9, 0] = np.nan, np.inf
    b = np.ones((35, 34), "f4")
    with np.errstate(all="ignore"):
        assert_array_equal(await (gpu.asarray(a) @ gpu.asarray(b)).numpy(), a @ b)


@run_in_pyodide
async def test_inner_sizes_beyond_the_turns_of_a_loop(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    for k in (131_072, 131_073, 300_001):
        ones = gpu.ones((2, k)).copy()
        got = await (ones @ ones.T).numpy()
        np.testing.assert_array_equal(got, np.full((2, 2), k, "f4"))
    ones = gpu.ones((70_000,), dtype="complex64").copy()
    assert await (ones @ ones).item() == 70_000
