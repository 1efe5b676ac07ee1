"""Every dtype up, back, in slices and in every other dtype, against NumPy, to the bit."""

from pytest_pyodide import run_in_pyodide


@run_in_pyodide
async def test_every_dtype_comes_back_as_it_went(selenium_worker):
    import numpy as np

    import aiogpu as gpu
    from aiogpu import dtypes

    rng = np.random.default_rng(1)
    for dtype in dtypes.ALL:
        for length in (0, 1, 2, 3, 5, 1000):
            bits = rng.integers(0, 256, length * dtype.itemsize, dtype="u1")
            host = (bits & 1 if dtype.kind == "bool" else bits).view(dtype.name)
            x = gpu.asarray(host)
            assert x.dtype is dtype
            # Chosen by a kernel, which shows NaN as NaN: compared as numbers.
            read, copied, turned = await gpu.read(x, x.copy(), x[::-1].copy())
            assert (read.dtype, read.tobytes()) == (host.dtype, host.tobytes())
            np.testing.assert_array_equal(copied, host, strict=True)
            np.testing.assert_array_equal(turned, host[::-1], strict=True)
            assert repr(await x.tolist()) == repr(host.tolist())
            if length == 1:
                assert repr(await x.item()) == repr(host[0].item())


@run_in_pyodide
async def test_slices_at_odd_offsets(selenium_worker):
    import numpy as np

    import aiogpu as gpu
    from aiogpu import dtypes

    for dtype in dtypes.ALL:
        host = (np.arange(1021) * 91 % 251 - 100).astype("i2").astype(dtype.name)
        if dtype.kind == "complex":
            host = host * np.complex64(1 - 2j)
        x = gpu.asarray(host)
        keys = [slice(a, b, c) for a in (1, 2, 3) for b in (a, a + 1, 6, -3) for c in (1, 2, 5)]
        keys += [slice(None, None, -1), slice(-2, 4, -3), 7, -1]
        reads = await gpu.read(*(x[key].copy() for key in keys), *(x[key] for key in keys))
        for key, read in zip(keys * 2, reads, strict=True):
            np.testing.assert_array_equal(read, host[key], str(key), strict=True)
        grid = host[:1000].reshape(8, 125)
        y = gpu.asarray(grid)
        turned, cut = await gpu.read(y.T.copy(), y[1::3, 3:10:2].copy())
        np.testing.assert_array_equal(turned, grid.T, strict=True)
        np.testing.assert_array_equal(cut, grid[1::3, 3:10:2], strict=True)


@run_in_pyodide
async def test_astype_between_all_pairs(selenium_worker):
    import itertools

    import numpy as np

    import aiogpu as gpu
    from aiogpu import dtypes

    rng = np.random.default_rng(2)
    specials = [
        0, -0.0, 0.5, -0.5, 3.9, -3.9, 127.9, 128, -128.9, -129, 255.9, 256, 32767.5, 32768,
        -32769, 65504, 65519, 65520, 1e10, -1e10, 2.0**31, 2.0**32, 2.0**-14, 2.0**-24, 2.0**-25,
        1.5 * 2.0**-24, 1 + 2.0**-11, 1 + 3 * 2.0**-11, 3e38, np.inf, -np.inf, np.nan,
    ]  # fmt: skip

    def samples(dtype, length):
        if dtype.kind == "bool":
            return rng.integers(0, 2, length).astype(bool)
        if dtype.kind in {"int", "uint"}:
            low, high = dtype.range
            return np.resize([low, high, 0, 1, *rng.integers(low, high, 60)], length).astype(
                dtype.name
            )
        with np.errstate(all="ignore"):
            reals = np.resize([*specials, *rng.normal(size=60) * 300], length)
            if dtype.kind == "float":
                return reals.astype(dtype.name)
            return (reals + 1j * rng.permutation(reals)).astype(dtype.name)

    def expected(host, given, wanted):
        """The rule for floats to integers, where NumPy's cast is not defined; else NumPy's."""
        with np.errstate(all="ignore"):
            if given.kind == "float" and wanted.kind in {"int", "uint"}:
                whole = np.trunc(np.nan_to_num(host.astype("f8"), nan=0.0))
                return np.clip(whole, *wanted.range).astype(wanted.name)
            return host.astype(wanted.name)

    for given, length in itertools.product(dtypes.ALL, (0, 1, 2, 3, 5, 1000)):
        host = samples(given, length)
        x = gpu.asarray(host)
        made, wants = [], []
        for wanted in dtypes.ALL if given.kind != "complex" else (gpu.bool, gpu.complex64):
            made += [x.astype(wanted), x[1::2].astype(wanted)]
            wants += [expected(part, given, wanted) for part in (host, host[1::2])]
        for got, want in zip(await gpu.read(*made), wants, strict=True):
            label = f"{given.name} to {want.dtype} of {length}"
            np.testing.assert_array_equal(got, want, label, strict=True)


@run_in_pyodide
async def test_astype_keeps_imaginary_parts(selenium_worker):
    import pytest

    import aiogpu as gpu
    from aiogpu import dtypes

    x = gpu.asarray([1 - 2j, 0])
    for wanted in dtypes.ALL:
        if wanted.kind not in {"complex", "bool"}:
            with pytest.raises(gpu.errors.DTypeError, match=f"complex64 to {wanted.name}"):
                x.astype(wanted)
    assert await x.astype(bool).tolist() == [True, False]


@run_in_pyodide
async def test_float16_rounds_to_even_and_keeps_what_is_subnormal(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    halves = np.arange(1 << 16, dtype="u2").view("f2")
    finite = halves[np.isfinite(halves)].astype("f4")
    steps = [np.nextafter(finite, np.float32(end)) for end in (-np.inf, np.inf)]
    wide = np.sort(finite)
    ties = (wide[1:].astype("f8") + wide[:-1]) / 2
    for host in (finite, *steps, ties.astype("f4"), np.array([65519.996, 65520, -7e4, 1e-8], "f4")):
        got = await gpu.asarray(host).astype(gpu.float16).numpy()
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(got.view("u2"), host.astype("f2").view("u2"))
    np.testing.assert_array_equal(
        await gpu.asarray(halves).astype("float32").numpy(), halves.astype("f4")
    )


@run_in_pyodide
async def test_views_of_bytes_without_numpy(selenium_worker):
    import numpy as np

    import aiogpu as gpu
    from aiogpu import dtypes

    for dtype in dtypes.ALL:
        host = (np.arange(6) % 5).astype(dtype.name).reshape(2, 3)
        if dtype.kind == "complex":
            host = host * np.complex64(1 - 2j)
        data = await gpu.asarray(host).data()
        parts = host.view("f4").reshape(2, 3, 2) if dtype.kind == "complex" else host
        assert (data.format, data.shape) == (dtype.format.removeprefix("Z"), parts.shape)
        assert data.tolist() == parts.tolist()


@run_in_pyodide
async def test_typed_arrays_of_the_page(selenium_worker):
    import js
    import numpy as np
    import pytest

    import aiogpu as gpu
    from aiogpu import evaluate

    pairs = [
        (js.Int8Array.of(-128, 127, 3), "i1"), (js.Uint8Array.of(255, 0, 1), "u1"),
        (js.Int16Array.of(-32768, 5, 7), "i2"), (js.Uint16Array.of(65535, 2, 3), "u2"),
        (js.Int32Array.of(-5), "i4"), (js.Uint32Array.of(2**32 - 1), "u4"),
        (js.Float32Array.of(0.5, -2), "f4"),
    ]  # fmt: skip
    for given, name in pairs:
        host = np.array(given.to_py(), name)
        x = gpu.asarray(given)
        np.testing.assert_array_equal(await x.numpy(), host, strict=True)
        part = await gpu.asarray(given.subarray(1)).numpy()
        np.testing.assert_array_equal(part, host[1:], strict=True)
        wide = await gpu.asarray(given, dtype="complex64").numpy()
        np.testing.assert_array_equal(wide, host.astype("c8"), strict=True)
        (back,) = await evaluate.DEFAULT.read_js([x._node])
        assert back.constructor.name == given.constructor.name
        assert back.to_py().tolist() == host.tolist()
    with pytest.raises(RuntimeError, match="Float16Array"):  # of Pyodide's: its bits are shown
        js.Float16Array.of(0.5)
    halves = np.array([0.5, -65504, 2.0**-24, np.inf], "f2")
    (back,) = await evaluate.DEFAULT.read_js([gpu.asarray(halves)._node])
    assert (back.constructor.name, list(back)) == ("Uint16Array", halves.view("u2").tolist())
    pairs = np.array([1 - 2j, 3j], "c8")
    (back,) = await evaluate.DEFAULT.read_js([gpu.asarray(pairs)._node])
    assert (back.constructor.name, list(back)) == ("Float32Array", [1, -2, 0, 3])


@run_in_pyodide
async def test_shader_f16_is_asked_for_where_the_adapter_has_it(selenium_worker):
    import aiogpu as gpu

    device = await gpu.open_device()
    adapter = await gpu.request_adapter()
    has = "shader-f16" in adapter.features
    assert device.runtime.limits.has_f16 is has
    assert bool(device.gpu_device.features.has("shader-f16")) is has
