"""Fourier transforms against NumPy's in complex128: lengths, axes, padding, norms, errors.

Tolerance: the norm of the error against that of the result. Every pass rounds twice and its roots
are right within 1.2e-7, and errors of passes add as a random walk: 2e-6 times the root of log2 n
is some ten times what is measured, on both software adapters.
"""

import pytest
from pytest_pyodide import run_in_pyodide


@pytest.mark.driver_timeout(180)
@run_in_pyodide
async def test_every_function_at_every_kind_of_length(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    rng = np.random.default_rng(1)
    for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 49, 97, 121, 1000, 1001, 1024, 4096, 65536):
        z = (rng.normal(size=n) + 1j * rng.normal(size=n)).astype("c8")
        real, half = z.real.copy(), z[: n // 2 + 1]
        x, y, h = gpu.asarray(z), gpu.asarray(real), gpu.asarray(half)
        wide, wide_half = z.astype("c16"), half.astype("c16")
        pairs = (
            ("fft", gpu.fft.fft(x), np.fft.fft(wide)),
            ("ifft", gpu.fft.ifft(x), np.fft.ifft(wide)),
            ("fft of reals", gpu.fft.fft(y), np.fft.fft(real.astype("f8"))),
            ("rfft", gpu.fft.rfft(y), np.fft.rfft(real.astype("f8"))),
            ("irfft", gpu.fft.irfft(h, n=n), np.fft.irfft(wide_half, n)),
            ("hfft", gpu.fft.hfft(h, n=n), np.fft.hfft(wide_half, n)),
            ("ihfft", gpu.fft.ihfft(y), np.fft.ihfft(real.astype("f8"))),
        )
        before = gpu.counters()["reads"]
        made = await gpu.read(*(array for _, array, _ in pairs))
        assert gpu.counters()["reads"] == before + len(pairs)
        for (name, _, wanted), got in zip(pairs, made, strict=True):
            assert got.shape == wanted.shape, name
            assert got.dtype == ("f4" if wanted.dtype == "f8" else "c8"), name
            error = np.linalg.norm(got - wanted) / np.linalg.norm(wanted)
            assert error <= 2e-6 * max(1, np.log2(n)) ** 0.5, (name, n, error)


@pytest.mark.driver_timeout(180)
@run_in_pyodide
async def test_a_million_and_three_is_a_prime(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    n = 1_000_003
    rng = np.random.default_rng(2)
    z = (rng.normal(size=n) + 1j * rng.normal(size=n)).astype("c8")
    got = await gpu.fft.fft(gpu.asarray(z)).numpy()
    wanted = np.fft.fft(z.astype("c16"))
    assert np.linalg.norm(got - wanted) <= 9e-6 * np.linalg.norm(wanted)


@pytest.mark.driver_timeout(180)
@run_in_pyodide
async def test_axes_padding_norms_and_views(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    rng = np.random.default_rng(3)
    pairs = []
    for shape, axis in (((3, 8, 5), 1), ((5, 12), 0), ((2, 3, 11), -1), ((4, 6), 1)):
        z = (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype("c8")
        x, wide = gpu.asarray(z), z.astype("c16")
        for n in (None, 5, 16, 22):
            for norm in ("backward", "ortho", "forward"):
                for name in ("fft", "ifft", "irfft", "hfft"):
                    how = {"n": n, "axis": axis, "norm": norm}
                    got = getattr(gpu.fft, name)(x[::-1] * 2, **how) + 1
                    wanted = getattr(np.fft, name)(wide[::-1] * 2, **how) + 1
                    pairs.append((name, shape, how, got, wanted))
                for name in ("rfft", "ihfft"):
                    how = {"n": n, "axis": axis, "norm": norm}
                    got = getattr(gpu.fft, name)(gpu.asarray(z.real), **how)
                    wanted = getattr(np.fft, name)(z.real.astype("f8"), **how)
                    pairs.append((name, shape, how, got, wanted))
    for start in range(0, len(pairs), 60):
        part = pairs[start : start + 60]
        made = await gpu.read(*(pair[3] for pair in part))
        for (name, shape, how, _, wanted), got in zip(part, made, strict=True):
            assert got.shape == wanted.shape, (name, shape, how)
            error = np.linalg.norm(got - wanted) / np.linalg.norm(wanted)
            assert error <= 5e-6, (name, shape, how, error)


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_several_axes(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    rng = np.random.default_rng(4)
    z = (rng.normal(size=(6, 7, 8)) + 1j * rng.normal(size=(6, 7, 8))).astype("c8")
    x, wide = gpu.asarray(z), z.astype("c16")
    for name in ("fftn", "ifftn", "irfftn", "rfftn"):
        given, data = (x, wide) if name != "rfftn" else (gpu.asarray(z.real), z.real.astype("f8"))
        for how in ({}, {"axes": (0, 2)}, {"s": (4, 9), "axes": (1, 0)}, {"s": (8, 7, 5)}):
            axes = how.get("axes", (0, 1, 2))
            got = await getattr(gpu.fft, name)(given, **how).numpy()
            wanted = getattr(np.fft, name)(data, **how | {"axes": axes})
            assert got.shape == wanted.shape
            error = np.linalg.norm(got - wanted) / np.linalg.norm(wanted)
            assert error <= 5e-6, (name, how, error)
    back = await gpu.fft.irfftn(gpu.fft.rfftn(gpu.asarray(z.real))).numpy()
    np.testing.assert_allclose(back, z.real, atol=1e-5)


@run_in_pyodide
async def test_frequencies_and_shifts(selenium_worker):
    import numpy as np
    from numpy.testing import assert_allclose, assert_array_equal

    import aiogpu as gpu

    for n in (1, 2, 7, 8, 1001):
        # The product n * d and the quotient are rounded once each.
        for name in ("fftfreq", "rfftfreq"):
            got = await getattr(gpu.fft, name)(n, d=0.3).numpy()
            wanted = getattr(np.fft, name)(n, d=0.3)
            assert got.dtype == "f4"
            assert_allclose(got, wanted, rtol=2e-7)
        a = np.arange(3 * n).reshape(n, 3).astype("i4")
        for axes in (None, 0, (1,), (0, 1)):
            for name in ("fftshift", "ifftshift"):
                got = await getattr(gpu.fft, name)(gpu.asarray(a), axes=axes).numpy()
                assert_array_equal(got, getattr(np.fft, name)(a, axes=axes))


@run_in_pyodide
async def test_dtypes_empty_arrays_and_errors(selenium_worker):
    import numpy as np
    import pytest
    from numpy.testing import assert_allclose

    import aiogpu as gpu

    a = np.arange(12).reshape(3, 4)
    for dtype in ("i4", "u1", "f2", "?"):
        got = await gpu.fft.fft(gpu.asarray(a.astype(dtype))).numpy()
        assert got.dtype == "c8"
        assert_allclose(got, np.fft.fft(a.astype(dtype).astype("f8")), atol=1e-5)
    assert (await gpu.fft.fft(gpu.zeros((0, 4))).numpy()).shape == (0, 4)
    assert (await gpu.fft.rfft(gpu.zeros((4, 0)), n=3).numpy()).shape == (4, 2)
    x = gpu.zeros((3, 4))
    for call in (
        lambda: gpu.fft.fft(gpu.zeros((3, 0))), lambda: gpu.fft.fft(x, n=0),
        lambda: gpu.fft.fft(x, norm="both"), lambda: gpu.fft.fftn(x, axes=(0, 0)),
        lambda: gpu.fft.fftn(x, s=(3,), axes=(0, 1)), lambda: gpu.fft.irfft(gpu.zeros((1,))),
        lambda: gpu.fft.fftfreq(0), lambda: gpu.fft.rfftn(gpu.zeros(())),
    ):  # fmt: skip
        with pytest.raises(gpu.errors.UsageError):
            call()
    with pytest.raises(gpu.errors.AxisError):
        gpu.fft.fft(x, axis=2)
    with pytest.raises(gpu.errors.DTypeError, match="rfft: complex64"):
        gpu.fft.rfft(x.astype("complex64"))
    with pytest.raises(gpu.errors.LimitError):
        gpu.fft.fft(gpu.zeros((2,)), n=1 << 28)
