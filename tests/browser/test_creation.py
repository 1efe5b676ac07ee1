"""Arrays from host data and from nothing: dtypes, layouts, lengths that do not fill a word."""

from pytest_pyodide import run_in_pyodide


@run_in_pyodide
async def test_lengths_that_do_not_fill_a_word(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    for dtype, lengths in (
        ("uint8", (0, 1, 2, 3, 4, 5, 257)),
        ("int16", (1, 3, 131)),
        ("bool", (0, 1, 3, 7, 129)),
    ):
        for length in lengths:
            host = (np.arange(length) * 91 % 251).astype(dtype)
            x = gpu.asarray(host)
            read, inverted, doubled = await gpu.read(x, ~x, gpu.where(x == x, x, x))
            assert_array_equal(read, host, strict=True)
            assert_array_equal(inverted, ~host, strict=True)
            assert_array_equal(doubled, host, strict=True)
            assert await x.tolist() == host.tolist()


@run_in_pyodide
async def test_uploads_of_every_layout_and_dtype(selenium_worker):
    import array

    import js
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    grid = np.arange(24, dtype="f4").reshape(4, 6) - 7.5
    hosts = [
        grid[::2], grid[:, ::-1], grid.T, np.asfortranarray(grid), grid[1:3, 1:5], grid[::-2, ::3],
        np.array(3.5, "f4"), np.float32(3.5), grid.astype("f8"),
        grid.astype(">f4"), grid.astype(">f8")[::2], np.broadcast_to(grid[0], (3, 6)),
    ]  # fmt: skip
    for host in hosts:
        made = await gpu.asarray(host).numpy()
        assert_array_equal(made, np.ascontiguousarray(host, "f4").reshape(np.shape(host)))
        assert made.dtype == np.float32
        assert made.shape == np.shape(host)
    whole = np.arange(-6, 6).reshape(3, 4)
    for given, wanted in (
        ("i1", "i1"), ("i2", "i2"), (">i2", "i2"), ("i4", "i4"), (">i4", "i4"), ("i8", "i4"),
        (">i8", "i4"), ("f2", "f2"), (">f2", "f2"), ("c8", "c8"), (">c8", "c8"), ("c16", "c8"),
    ):  # fmt: skip
        made = await gpu.asarray(whole.astype(given).T).numpy()
        assert_array_equal(made, whole.T.astype(wanted), strict=True)
    for given, wanted in (
        ("u1", "u1"), ("u2", "u2"), (">u2", "u2"), ("u4", "u4"), (">u4", "u4"), ("u8", "u4"),
        ("?", "?"),
    ):  # fmt: skip
        host = (whole + 6).astype(given)
        made = await gpu.asarray(host[:, 1:]).numpy()
        assert_array_equal(made, host[:, 1:].astype(wanted), strict=True)
    for host, wanted in (
        (b"\x01\x02\xff", np.array([1, 2, 255], "u1")),
        (bytearray(b"\x07"), np.array([7], "u1")),
        (memoryview(grid)[1:3], grid[1:3]),
        (array.array("d", [1.5, -2]), np.array([1.5, -2], "f4")),
        (array.array("h", [-5, 3, 9]), np.array([-5, 3, 9], "i2")),
        (memoryview(grid.astype("c8"))[::3], grid.astype("c8")[::3]),
        (array.array("q", [-5, 2**31 - 1]), np.array([-5, 2**31 - 1], "i4")),
        (js.Float32Array.of(1.5, 2, -3), np.array([1.5, 2, -3], "f4")),
        (js.Uint8Array.of(1, 2, 3, 4, 255).subarray(1), np.array([2, 3, 4, 255], "u1")),
        (js.Uint8ClampedArray.of(300, 2), np.array([255, 2], "u1")),
        (js.Int32Array.of(-1), np.array([-1], "i4")),
        (js.Uint32Array.of(2**32 - 1, 3), np.array([2**32 - 1, 3], "u4")),
        (js.Uint8Array.of(9, 8, 7).buffer, np.array([9, 8, 7], "u1")),
        (js.Float64Array.of(0.1, 2), np.array([0.1, 2], "f4")),
        (js.Int16Array.of(-7, 2), np.array([-7, 2], "i2")),
        (js.BigInt64Array.of(js.BigInt(-3)), np.array([-3], "i4")),
        (js.Float32Array.new(0), np.zeros(0, "f4")),
    ):
        assert_array_equal(await gpu.asarray(host).numpy(), wanted, strict=True)
    cast = await gpu.asarray(js.Uint8Array.of(1, 2), dtype=gpu.float32).numpy()
    assert_array_equal(cast, np.array([1, 2], "f4"), strict=True)


@run_in_pyodide
async def test_upload_is_a_copy_of_the_moment(selenium_worker):
    import js
    import numpy as np

    import aiogpu as gpu

    host = np.arange(5, dtype="f4")
    typed = js.Float32Array.of(1, 2, 3)
    numbers = [1, 2, 3]
    made = gpu.asarray(host), gpu.asarray(typed), gpu.asarray(numbers)
    host[:] = 99
    typed.fill(99)
    numbers[0] = 99
    assert [x.tolist() for x in await gpu.read(*made)] == [[0, 1, 2, 3, 4], [1, 2, 3], [1, 2, 3]]


@run_in_pyodide
async def test_python_numbers_and_lists(selenium_worker):
    import numpy as np
    import pytest
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    for given, wanted in (
        (3, np.array(3, "i4")),
        (2.5, np.array(2.5, "f4")),
        (True, np.array(True)),
        ([], np.zeros(0, "f4")),
        ([[], []], np.zeros((2, 0), "f4")),
        ([[1, 2], [3, 4]], np.array([[1, 2], [3, 4]], "i4")),
        ([1, 2.5], np.array([1, 2.5], "f4")),
        (3j, np.array(3j, "c8")),
        ([[1, 2.5], [True, 1 - 3j]], np.array([[1, 2.5], [1, 1 - 3j]], "c8")),
        ([True, False, True], np.array([True, False, True])),
        ((1, True), np.array([1, 1], "i4")),
        ([1e300, -1e300, float("nan")], np.array([np.inf, -np.inf, np.nan], "f4")),
        ([1 + 2**-24 + 2**-40], np.array([1 + 2**-23], "f4")),
    ):
        assert_array_equal(await gpu.array(given).numpy(), wanted, strict=True)
        assert repr(await gpu.array(given).tolist()) == repr(wanted.tolist())
    assert_array_equal(
        await gpu.array([3.9, -3.9, float("nan"), 1e20], dtype=gpu.int32).numpy(),
        np.array([3, -3, 0, 2**31 - 1], "i4"),
        strict=True,
    )
    for given, dtype, shown in (
        ([2**40], None, str(2**40)),
        (np.array([2**40], "i8"), None, str(2**40)),
        (np.array([2**32], "u8"), "uint32", str(2**32)),
        ([-1], "uint32", "-1"),
        ([256], "uint8", "256"),
        (np.array([-129], "i2"), "uint8", "-129"),
        (np.array([-129], "i2"), "int8", "-129"),
        (np.array([2**16], "i4"), "uint16", "65536"),
    ):
        with pytest.raises(gpu.errors.IntegerOverflowError, match=shown) as caught:
            gpu.array(given, dtype=dtype)
        assert (dtype or ("int32")) in str(caught.value)
    with pytest.raises(gpu.errors.DTypeError, match="float64"):
        gpu.array([1.0], dtype="float64")
    with pytest.raises(gpu.errors.DTypeError, match="complex64 to float32"):
        gpu.array(np.zeros(2, "c8"), dtype="float32")
    with pytest.raises(gpu.errors.ShapeError, match="uneven"):
        gpu.array([[1, 2], [3]])
    for wrong in ("text", {"a": 1}, None, object(), [[1], None]):
        with pytest.raises(gpu.errors.UsageError):
            gpu.array(wrong)


@run_in_pyodide
async def test_arrays_from_nothing(selenium_worker):
    import numpy as np
    from numpy.testing import assert_allclose, assert_array_equal

    import aiogpu as gpu

    pairs = [
        (gpu.zeros((2, 3)), np.zeros((2, 3), "f4")),
        (gpu.ones(4, dtype="uint8"), np.ones(4, "u1")),
        (gpu.zeros(()), np.zeros((), "f4")),
        (gpu.ones((2, 0, 3), dtype=bool), np.ones((2, 0, 3), "?")),
        (gpu.full((3,), 7), np.full(3, 7, "i4")),
        (gpu.full((2, 2), True), np.full((2, 2), True)),
        (gpu.full((2,), 2**32 - 1, dtype="uint32"), np.full(2, 2**32 - 1, "u4")),
        (gpu.full((2,), float("-inf")), np.full(2, -np.inf, "f4")),
        (gpu.full_like(gpu.ones(3, dtype="int32"), 5), np.full(3, 5, "i4")),
        (gpu.zeros_like(gpu.ones((2, 1), dtype="bool")), np.zeros((2, 1), "?")),
        (gpu.ones_like(gpu.zeros(2), dtype="uint32"), np.ones(2, "u4")),
        (gpu.arange(10), np.arange(10, dtype="i4")),
        (gpu.arange(3, 20, 4), np.arange(3, 20, 4, dtype="i4")),
        (gpu.arange(5, -6, -3), np.arange(5, -6, -3, dtype="i4")),
        (gpu.arange(5, 2), np.zeros(0, "i4")),
        (gpu.arange(250, dtype="uint8"), np.arange(250, dtype="u1")),
        (gpu.arange(7, 0, -1, dtype="uint8"), np.arange(7, 0, -1, dtype="u1")),
        (gpu.arange(4, dtype="float32"), np.arange(4, dtype="f4")),
        (gpu.eye(3), np.eye(3, dtype="f4")),
        (gpu.eye(3, 5, k=1, dtype="int32"), np.eye(3, 5, k=1, dtype="i4")),
        (gpu.eye(4, 2, k=-2, dtype="bool"), np.eye(4, 2, k=-2, dtype="?")),
        (gpu.full((2, 1), 1 - 2j), np.full((2, 1), 1 - 2j, "c8")),
        (gpu.full(3, 1 / 3, dtype="float16"), np.full(3, 1 / 3, "f2")),
        (gpu.full(5, -100, dtype="int8"), np.full(5, -100, "i1")),
        (gpu.zeros(3, dtype="int16"), np.zeros(3, "i2")),
        (gpu.ones((3, 3), dtype="complex64"), np.ones((3, 3), "c8")),
        (gpu.arange(-100, 101, 7, dtype="int8"), np.arange(-100, 101, 7, dtype="i1")),
        (gpu.arange(60000, 65536, 5, dtype="uint16"), np.arange(60000, 65536, 5, dtype="u2")),
        (gpu.arange(5, -6, -3, dtype="int16"), np.arange(5, -6, -3, dtype="i2")),
        (gpu.arange(0, 3000, dtype="float16"), np.arange(0, 3000, dtype="f2")),
        (gpu.eye(3, 4, k=-1, dtype="float16"), np.eye(3, 4, k=-1, dtype="f2")),
        (gpu.eye(3, dtype="complex64"), np.eye(3, dtype="c8")),
        (gpu.linspace(0, 1, 7, dtype="float16"), np.linspace(0, 1, 7, dtype="f2")),
        (gpu.linspace(0, 1 - 4j, 5), np.linspace(0, 1 - 4j, 5, dtype="c8")),
        (gpu.linspace(0, 1, 5), np.linspace(0, 1, 5, dtype="f4")),
        (gpu.linspace(2, -1, 4, endpoint=False), np.linspace(2, -1, 4, False, dtype="f4")),
        (gpu.linspace(3, 9, 1), np.linspace(3, 9, 1, dtype="f4")),
    ]
    for read, (_, wanted) in zip(await gpu.read(*(x for x, _ in pairs)), pairs, strict=True):
        assert_array_equal(read, wanted, strict=True)
    # start + i * step rounds twice in float32.
    assert_allclose(await gpu.arange(0, 1, 0.1).numpy(), np.arange(0, 1, 0.1), rtol=2e-7)
    assert gpu.empty((2, 2)).shape == (2, 2)


@run_in_pyodide
async def test_data_needs_no_numpy(selenium_worker):
    import aiogpu as gpu

    view = await gpu.array([[1, 2, 3], [4, 5, 6]]).data()
    assert (view.format, view.shape, view.tolist()) == ("i", (2, 3), [[1, 2, 3], [4, 5, 6]])
    flags = await gpu.array([True, False, True]).data()
    assert (flags.format, flags.tolist()) == ("?", [True, False, True])
    empty = await gpu.zeros((2, 0, 3)).data()
    assert (empty.nbytes, empty.ndim) == (0, 1)
    assert (await gpu.full((), 2.5).data()).tolist() == 2.5
    assert await gpu.zeros((2, 0, 3)).tolist() == [[], []]


@run_in_pyodide
async def test_reads_give_memory_of_their_own(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    x = gpu.arange(4)
    first = await x.numpy()
    first[:] = 9
    assert (await x.numpy()).tolist() == [0, 1, 2, 3]
    assert first.flags.owndata or first.base is not None
    assert isinstance(first, np.ndarray)
