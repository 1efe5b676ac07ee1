"""Code that is written for the Array API, by way of array_api_compat, takes our arrays."""

from pytest_pyodide import run_in_pyodide


@run_in_pyodide(packages=["array_api_compat"])
async def test_helpers_know_our_arrays(selenium_worker):
    import array_api_compat as compat
    import numpy as np
    import pytest

    import aiogpu as gpu

    x = gpu.asarray(np.arange(6, dtype="f4").reshape(2, 3))
    assert compat.is_array_api_obj(x)
    assert not compat.is_numpy_array(x)
    xp = compat.array_namespace(x, gpu.asarray(1), 2.0)
    assert xp is gpu
    assert compat.array_namespace(x, api_version="2024.12") is gpu
    assert compat.size(x) == 6
    assert compat.size(x[x > 2]) is None
    assert compat.device(x) == x.device
    assert compat.to_device(x, x.device) is x
    with pytest.raises(TypeError, match="Multiple namespaces"):
        compat.array_namespace(x, np.ones(3))


@run_in_pyodide(packages=["array_api_compat"])
async def test_generic_functions_give_numpys_results(selenium_worker):
    import array_api_compat as compat
    import numpy as np
    from numpy.testing import assert_allclose

    import aiogpu as gpu

    def standardized(x):
        xp = compat.array_namespace(x)
        return (x - xp.mean(x, axis=0)) / xp.std(x, axis=0, correction=1)

    def softmax(x):
        xp = compat.array_namespace(x)
        powers = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
        return powers / xp.sum(powers, axis=-1, keepdims=True)

    def distances(x, y):
        xp = compat.array_namespace(x, y)
        return xp.linalg.vector_norm(x[:, None, :] - y[None, :, :], axis=-1)

    def power_spectrum(x):
        xp = compat.array_namespace(x)
        return xp.abs(xp.fft.rfft(x, axis=0)) ** 2

    def clipped(x):
        xp = compat.array_namespace(x)
        info = xp.__array_namespace_info__()
        assert info.dtypes(kind="real floating").keys() >= {"float32"}
        zeros = xp.zeros(x.shape, dtype=x.dtype, device=compat.device(x))
        return xp.where(x < 0, zeros, xp.clip(x, max=1))

    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(40, 7)).astype("f4"), rng.normal(size=(30, 7)).astype("f4")
    for function, *given in (
        (standardized, x), (softmax, x), (distances, x, y), (power_spectrum, x), (clipped, x)
    ):  # fmt: skip
        made = await function(*map(gpu.asarray, given)).numpy()
        assert_allclose(made, function(*given), rtol=2e-5, atol=2e-5, err_msg=function.__name__)
