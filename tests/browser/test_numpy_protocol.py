"""NumPy's functions and operators on our arrays stay on the GPU, or raise."""

from pytest_pyodide import run_in_pyodide


@run_in_pyodide
async def test_ufuncs_and_operators_give_our_arrays(selenium_worker):
    import numpy as np
    from numpy.testing import assert_allclose, assert_array_equal

    import aiogpu as gpu

    host = np.linspace(0.5, 2, 12, dtype="f4").reshape(3, 4)
    other = np.arange(4, dtype="f4") + 1
    x = gpu.asarray(host)
    reads = gpu.counters()["reads"]
    pairs = [
        (np.sin(x), np.sin(host)), (np.arctan(x), np.arctan(host)), (np.absolute(x), host),
        (np.add(x, other), host + other), (np.power(x, 2), host**2), (other + x, other + host),
        (other - x, other - host), (other / x, other / host), (np.float32(3) * x, 3 * host),
        (x - other, host - other), (np.maximum(other, x), np.maximum(other, host)),
        (other**x, other**host), (np.matmul(x, other), host @ other), (other @ x.T, other @ host.T),
        (np.negative(x), -host), (np.hypot(x, other), np.hypot(host, other)),
    ]  # fmt: skip
    for ours, _ in pairs:
        assert type(ours) is gpu.Array
    tests = [(other > x, other > host), (np.isnan(x), np.isnan(host)), (other == x, other == host)]
    assert gpu.counters()["reads"] == reads
    for ours, theirs in pairs:
        assert_allclose(await ours.numpy(), theirs, rtol=1e-6)
    for ours, theirs in tests:
        assert_array_equal(await ours.numpy(), theirs, strict=True)


@run_in_pyodide
async def test_functions_give_our_arrays(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    host = np.arange(12, dtype="i4").reshape(3, 4)
    x = gpu.asarray(host)
    pairs = [
        (np.concatenate([x, x]), np.concatenate([host, host])),
        (np.concatenate([x, host], axis=1), np.concatenate([host, host], axis=1)),
        (np.stack((host, x)), np.stack((host, host))), (np.sum(x), np.sum(host, dtype="i4")),
        (np.sum(x, axis=0), np.sum(host, axis=0, dtype="i4")),
        (np.max(x, axis=1), np.max(host, axis=1)), (np.amax(x), np.amax(host)),
        (np.where(x > 5, x, host), host), (np.reshape(x, (4, 3)), host.reshape(4, 3)),
        (np.transpose(x, (1, 0)), host.T), (np.squeeze(x[None], 0), host),
        (np.tensordot(x, host, axes=2), np.tensordot(host, host, axes=2)),
        (np.argsort(-x), np.argsort(-host).astype("i4")), (np.roll(x, 1), np.roll(host, 1)),
        (np.broadcast_to(x, (2, 3, 4)), np.broadcast_to(host, (2, 3, 4))),
        (np.take(x, [0, 2], axis=1), np.take(host, [0, 2], axis=1)),
        (np.clip(x, 2, 7), np.clip(host, 2, 7)), (np.zeros_like(x), np.zeros_like(host)),
        (np.searchsorted(x[0], host[0]), np.arange(4, dtype="i4")),
        (np.sum(x, 0), np.sum(host, 0, dtype="i4")), (np.max(x, 1), np.max(host, 1)),
        (np.concatenate([x, host], 1), np.concatenate([host, host], 1)),
        (np.transpose(x), host.T), (np.swapaxes(x[None], 0, 2), np.swapaxes(host[None], 0, 2)),
        (np.cumsum(x), np.cumsum(host, dtype="i4")), (np.ravel(x), np.ravel(host)),
        (np.flip(x, 1), np.flip(host, 1)), (np.mod(x, 5), host % 5), (np.invert(x), ~host),
    ]  # fmt: skip
    for ours, theirs in pairs:
        assert type(ours) is gpu.Array
        assert_array_equal(await ours.numpy(), theirs, strict=True)
    square = gpu.asarray(host[:, :3] + 9 * np.eye(3, dtype="f4"))
    near = [
        (np.linalg.inv(square), np.linalg.inv(host[:, :3] + 9 * np.eye(3))),
        (np.fft.rfft(x, None, 0), np.fft.rfft(host, axis=0)),
        (np.fft.ifft(x, n=8), np.fft.ifft(host, n=8)),
    ]
    for ours, theirs in near:
        assert type(ours) is gpu.Array
        np.testing.assert_allclose(await ours.numpy(), theirs, rtol=1e-5, atol=1e-5)
    assert np.shape(x) == (3, 4)
    assert np.ndim(x) == 2
    assert np.size(x) == 12


@run_in_pyodide
async def test_what_has_no_counterpart_raises_and_says_what_to_write(selenium_worker):
    import numpy as np
    import pytest

    import aiogpu as gpu

    x = gpu.asarray([1.0, 2.0])
    host = np.ones(2, "f4")
    for wrong, message in (
        (lambda: np.median(x), r"np\.median: not for arrays on the GPU, or `await x\.numpy\(\)`"),
        (lambda: np.hstack([x, x]), r"np\.hstack: not for arrays on the GPU: write gpu\.concat"),
        (lambda: np.fmod(x, 2), r"write gpu\.remainder"),
        (lambda: np.argwhere(x), r"write gpu\.nonzero"),
        (lambda: np.mean(x, where=host > 0), r"np\.mean: .*'where': write gpu\.mean\(x"),
        (lambda: np.sum(x, 0, None, host), r"np\.sum: .*'out'"),
        (lambda: np.round(x, 2), r"np\.round: .*'decimals'"),
        (lambda: np.degrees(x), r"write x \* \(180 / gpu\.pi\)"),
        (lambda: np.add(x, host, out=host), r"np\.add\(out\): not for arrays"),
        (lambda: np.add(host, host, out=x), r"np\.add"),
        (lambda: np.add.reduce(x), r"np\.add\.reduce\(.*\): not for arrays on the GPU"),
        (lambda: np.sin(x, where=host > 0), r"np\.sin\(where\)"),
        (lambda: np.spacing(x), r"np\.spacing: not for arrays on the GPU"),
        (lambda: np.linalg.lstsq(x, x), r"np\.linalg\.lstsq: not for arrays"),
        (lambda: np.linalg.matrix_rank(x, 1.0), r"np\.linalg\.matrix_rank: .*'tol'"),
    ):
        with pytest.raises(gpu.errors.UsageError, match=message):
            wrong()
    for wrong in (lambda: np.asarray(x), lambda: np.array([x, x]), lambda: host.__iadd__(x)):
        with pytest.raises((gpu.errors.SyncAccessError, gpu.errors.UsageError)):
            wrong()
    assert host.tolist() == [1, 1]
    grown = host
    with pytest.raises(gpu.errors.UsageError, match="out"):
        grown += x
