"""unique_* and isin."""

import pytest
from pytest_pyodide import run_in_pyodide


@pytest.mark.driver_timeout(180)
@run_in_pyodide
async def test_unique_of_every_dtype_and_size(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    rng = np.random.default_rng(1)
    names = (
        "bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "float32",
    )  # fmt: skip
    shapes = ((0,), (2, 0), (), (1,), (2,), (31,), (33,), (7, 9), (3, 4, 5), (257,), (1025,))
    for dtype in names:
        for shape in shapes:
            host = rng.integers(0, 12, shape).astype(dtype)
            if dtype.startswith("float") and host.size > 20:
                host.reshape(-1)[[3, 9, 11, 12]] = np.nan, np.nan, np.inf, -0.0
            made = gpu.unique_all(gpu.asarray(host))
            read = await gpu.read(*made)
            values, indices, inverse, counts = np.unique(
                host, return_index=True, return_inverse=True, return_counts=True, equal_nan=False
            )
            label = f"{dtype} {shape}"
            assert_array_equal(read[0], values, strict=True, err_msg=label)
            assert_array_equal(read[1], indices.astype("i4"), strict=True, err_msg=label)
            assert_array_equal(
                read[2], inverse.reshape(shape).astype("i4"), strict=True, err_msg=label
            )
            assert_array_equal(read[3], counts.astype("i4"), strict=True, err_msg=label)


@run_in_pyodide
async def test_the_other_functions_and_views(selenium_worker):
    import numpy as np
    import pytest
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    host = np.random.default_rng(2).integers(-9, 9, (60, 70)).astype("i4")
    x = gpu.asarray(host)[::-2, 3:].T
    host = host[::-2, 3:].T
    values, inverse, counts = np.unique(host, return_inverse=True, return_counts=True)
    one, two = gpu.unique_counts(x), gpu.unique_inverse(x)
    assert (one._fields, two._fields) == (("values", "counts"), ("values", "inverse_indices"))
    read = await gpu.read(gpu.unique_values(x), *one, *two)
    assert_array_equal(read[0], values)
    assert_array_equal(read[1], values)
    assert_array_equal(read[2], counts)
    assert_array_equal(read[3], values)
    assert_array_equal(read[4], inverse.reshape(host.shape))
    with pytest.raises(gpu.errors.DTypeError, match="unique_values: complex64: has no order"):
        gpu.unique_values(gpu.zeros(3, dtype="complex64"))


@run_in_pyodide
async def test_unique_of_a_given_size(selenium_worker):
    import pytest

    import aiogpu as gpu

    x = gpu.asarray([3, 1, 3, 2, 1])
    for size in (0, 1, 2, 3, 4, 9):
        made = gpu.unique_all(x, size=size, fill_value=-7)
        assert made.values.shape == made.counts.shape == made.indices.shape == (size,)
        values, indices, inverse, counts = (each.tolist() for each in await gpu.read(*made))
        more = [0] * (size - 3)
        assert values == ([1, 2, 3] + [-7] * 6)[:size]
        assert indices == [1, 3, 0][:size] + more
        assert inverse == [2, 0, 2, 1, 0]
        assert counts == [2, 1, 2][:size] + more
    assert await gpu.unique_values(gpu.asarray([5]), size=3).tolist() == [5, 0, 0]
    assert await gpu.unique_values(gpu.zeros(0), size=2, fill_value=4).tolist() == [4, 4]
    with pytest.raises(gpu.errors.UsageError, match="unique_values: size True"):
        gpu.unique_values(x, size=True)


@run_in_pyodide
async def test_isin(selenium_worker):
    import numpy as np
    import pytest
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    rng = np.random.default_rng(3)
    for dtype in ("bool", "int8", "uint16", "int32", "float16", "float32"):
        for shape, size in (((5, 7), 4), ((1000,), 33), ((3,), 1), ((), 5), ((4,), 0), ((0, 2), 3)):
            one = rng.integers(0, 50, shape).astype(dtype)
            two = rng.integers(0, 50, size).astype(dtype)
            if dtype == "float32" and one.ndim and one.size > 9:
                one.reshape(-1)[:3] = np.nan, -0.0, np.inf
                two[:3] = np.nan, 0.0, np.inf
            for invert in (False, True):
                made = gpu.isin(gpu.asarray(one), gpu.asarray(two), invert=invert)
                wanted = np.isin(one, two, invert=invert)
                assert_array_equal(await made.numpy(), wanted, strict=True, err_msg=f"{dtype}")
    x = gpu.arange(4)
    assert await gpu.isin(x, 2).tolist() == [False, False, True, False]
    assert await gpu.isin(2, x).item() is True
    assert await gpu.isin(x, gpu.asarray([[1.0], [2.5]])).tolist() == [False, True, False, False]
    with pytest.raises(gpu.errors.DTypeError, match="isin: "):
        gpu.isin(x, gpu.asarray([1j]))
    with pytest.raises(gpu.errors.UsageError, match="takes arrays and numbers"):
        gpu.isin(x, "a")
