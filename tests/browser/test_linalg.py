"""The linalg extension against NumPy in double precision: shapes, dtypes, faults of the data.

Tolerances: factorisations are backward stable, so what counts is the residual against the norm of
the operand. A few units of float32's 6e-8 for each of the n operations that an element meets:
1e-6 times the root of n holds ten times over on both software adapters for LU, QR and Cholesky;
Jacobi's rotations meet each element some ten times as often.
"""

import pytest
from pytest_pyodide import run_in_pyodide


@pytest.mark.driver_timeout(180)
@run_in_pyodide
async def test_systems_and_factors_of_every_size(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    rng = np.random.default_rng(1)
    norm = np.linalg.norm

    def adjoint(m):
        return np.conj(m.swapaxes(-1, -2))

    for shape in ((1, 1), (2, 2), (5, 3, 3), (31, 31), (2, 33, 33), (100, 100), (2, 3, 8, 8)):
        n = shape[-1]
        bound = 1e-6 * n**0.5
        for dtype in ("f4", "c8"):
            a = (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype("c8")
            a = (a if dtype == "c8" else a.real).astype(dtype)
            right = a[..., :, :1] + a[..., :, -1:] * 3
            positive = (a @ adjoint(a) + n * np.eye(n)).astype(dtype)
            x = gpu.asarray(a)
            lower = gpu.linalg.cholesky(gpu.asarray(positive))
            upper = gpu.linalg.cholesky(gpu.asarray(positive), upper=True)
            before = gpu.counters()["reads"]
            pending = [
                gpu.linalg.solve(x, gpu.asarray(right)), gpu.linalg.inv(x), lower, upper,
                *gpu.linalg.slogdet(x),
            ]  # fmt: skip
            assert gpu.counters()["reads"] == before
            solved, inverse, low, high, sign, logs = await gpu.read(*pending)
            assert norm(a @ solved - right) <= bound * norm(a) * norm(solved)
            assert norm(a @ inverse - np.eye(n)) <= bound * norm(a) * norm(inverse)
            assert norm(low @ adjoint(low) - positive) <= bound * norm(positive)
            assert norm(adjoint(high) @ high - positive) <= bound * norm(positive)
            assert not np.triu(low, 1).any()
            assert not np.tril(high, -1).any()
            wanted = np.linalg.slogdet(a.astype("c16"))
            # Errors of pivots relative to the smallest singular value.
            worst = bound * norm(a) * norm(inverse)
            np.testing.assert_allclose(logs, wanted.logabsdet, atol=worst, rtol=1e-5)
            np.testing.assert_allclose(sign, wanted.sign, atol=worst)


@pytest.mark.driver_timeout(180)
@run_in_pyodide
async def test_reflections(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    rng = np.random.default_rng(2)
    norm = np.linalg.norm
    for shape in ((1, 1), (5, 3), (3, 5), (2, 40, 35), (35, 70), (70, 33), (3, 2, 6, 6), (4, 1)):
        for dtype in ("f4", "c8"):
            a = (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype("c8")
            a = (a if dtype == "c8" else a.real).astype(dtype)
            for rank in ("full", "deficient"):
                if rank == "deficient":
                    a[..., -1] = a[..., 0]
                for mode in ("reduced", "complete"):
                    q, r = await gpu.read(*gpu.linalg.qr(gpu.asarray(a), mode=mode))
                    wanted = np.linalg.qr(a, mode=mode)
                    assert (q.shape, r.shape) == (wanted[0].shape, wanted[1].shape)
                    bound = 1e-6 * max(shape[-2:]) ** 0.5
                    assert norm(q @ r - a) <= bound * norm(a)
                    square = np.conj(q.swapaxes(-1, -2)) @ q
                    assert abs(square - np.eye(q.shape[-1])).max() <= bound
                    assert not np.tril(r, -1).any()


@pytest.mark.driver_timeout(240)
@run_in_pyodide
async def test_eigenvalues_and_vectors(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    rng = np.random.default_rng(3)
    for shape in ((1, 1), (2, 2), (3, 5, 5), (32, 32), (2, 33, 33), (2, 2, 8, 8)):
        n = shape[-1]
        for kind in ("real", "complex", "clustered", "graded", "ones", "zeros"):
            a = rng.normal(size=shape) + 1j * rng.normal(size=shape) * (kind == "complex")
            q = np.linalg.qr(a)[0]
            spectrum = {
                "clustered": np.where(np.arange(n) % 2, 1.0, -1.0), "graded": 0.1 ** np.arange(n),
            }.get(kind)  # fmt: skip
            if spectrum is not None:
                a = (q * spectrum) @ np.conj(q.swapaxes(-1, -2))
            if kind in {"ones", "zeros"}:
                a = np.full(shape, float(kind == "ones"))
            a = (a + np.conj(a.swapaxes(-1, -2))) / 2
            a = (a if kind == "complex" else a.real).astype("c8" if kind == "complex" else "f4")
            lower = gpu.asarray(np.tril(a))  # all that is looked at
            values, vectors = await gpu.read(*gpu.linalg.eigh(lower))
            alone = await gpu.linalg.eigvalsh(lower).numpy()
            size = np.linalg.norm(a, 2, axis=(-2, -1)).max()
            bound = 2e-6 * n**0.5
            wanted = np.linalg.eigvalsh(a.astype("c16"))
            assert values.dtype == alone.dtype == "f4"
            assert vectors.dtype == a.dtype
            assert (np.diff(values) >= 0).all()
            np.testing.assert_allclose(values, wanted, atol=bound * size)
            np.testing.assert_allclose(alone, wanted, atol=bound * size)
            residual = a @ vectors - vectors * values[..., None, :]
            assert np.linalg.norm(residual, axis=(-2, -1)).max() <= 2 * bound * size
            square = np.conj(vectors.swapaxes(-1, -2)) @ vectors
            assert abs(square - np.eye(n)).max() <= bound


@pytest.mark.driver_timeout(240)
@run_in_pyodide
async def test_singular_values_and_vectors(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    rng = np.random.default_rng(4)
    for shape in ((1, 1), (5, 3), (3, 5), (2, 21, 18), (20, 40), (3, 2, 6, 6), (100, 7)):
        m, n = shape[-2:]
        k = min(m, n)
        for dtype in ("f4", "c8"):
            for rank in (k, max(1, k // 2), 0):
                parts = [
                    rng.normal(size=(*shape[:-2], *size)) + 1j * rng.normal(size=size)
                    for size in ((m, rank), (rank, n))
                ]
                if dtype == "f4":
                    parts = [part.real for part in parts]
                a = (parts[0] @ parts[1]).astype(dtype)
                for full in (True, False):
                    made = gpu.linalg.svd(gpu.asarray(a), full_matrices=full)
                    u, s, vh = await gpu.read(*made)
                    wanted = np.linalg.svd(a.astype("c16"), full_matrices=full)
                    assert (u.shape, s.shape, vh.shape) == tuple(w.shape for w in wanted)
                    bound = 2e-6 * max(m, n) ** 0.5
                    size = wanted.S.max()
                    np.testing.assert_allclose(s, wanted.S, atol=bound * size)
                    again = (u[..., :k] * s[..., None, :]) @ vh[..., :k, :]
                    assert abs(again - a).max() <= bound * max(size, 1e-30)
                    for q in (np.conj(u.swapaxes(-1, -2)), vh):
                        square = q @ np.conj(q.swapaxes(-1, -2))
                        assert abs(square - np.eye(square.shape[-1])).max() <= bound
                alone = await gpu.linalg.svdvals(gpu.asarray(a)).numpy()
                np.testing.assert_allclose(alone, s, atol=bound * size)
                assert (
                    await gpu.linalg.matrix_rank(gpu.asarray(a)).tolist()
                    == np.full(shape[:-2], rank).tolist()
                )
                pseudo = await gpu.linalg.pinv(gpu.asarray(a)).numpy()
                assert abs(a @ pseudo @ a - a).max() <= 20 * bound * max(size, 1e-30)


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_determinants_powers_norms_and_products(selenium_worker):
    import numpy as np
    from numpy.testing import assert_allclose

    import aiogpu as gpu

    rng = np.random.default_rng(5)
    xl = gpu.linalg
    for dtype in ("f4", "c8"):
        a = (rng.normal(size=(2, 6, 6)) + 1j * rng.normal(size=(2, 6, 6))).astype("c8")
        a = (a if dtype == "c8" else a.real).astype(dtype)
        x, wide = gpu.asarray(a), a.astype("c16" if dtype == "c8" else "f8")
        pairs = [
            (xl.det(x), np.linalg.det(wide)),
            *[(xl.matrix_power(x, n), np.linalg.matrix_power(wide, n)) for n in (0, 1, 3, 6, -2)],
            (xl.trace(x, offset=1), np.trace(wide, 1, 1, 2)),
            *[(xl.diagonal(x, offset=k), np.diagonal(wide, k, 1, 2)) for k in (0, 2, -3, 6, -9)],
            (xl.outer(x[0, 0], x[1, 0]), np.outer(wide[0, 0], wide[1, 0])),
            (xl.cross(x[:, :3], x[0, :3], axis=-2), np.cross(wide[:, :3], wide[0, :3], axis=-2)),
            (xl.cross(x[..., :3], x[..., 3:]), np.cross(wide[..., :3], wide[..., 3:])),
            (xl.matrix_norm(x, keepdims=True), np.linalg.norm(wide, axis=(1, 2), keepdims=True)),
            *[
                (xl.matrix_norm(x, ord=o), np.linalg.norm(wide, o, axis=(1, 2)))
                for o in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)
            ],
            *[
                (xl.vector_norm(x, ord=o, axis=1), np.linalg.norm(wide, o, axis=1))
                for o in (0, 1, 2, 3, -1, -2, 0.5, np.inf, -np.inf)
            ],
            (xl.vector_norm(x), np.linalg.norm(wide.ravel())),
            (xl.vector_norm(x, axis=(0, 2), keepdims=True), (abs(wide) ** 2).sum(
                (0, 2), keepdims=True) ** 0.5),
            (xl.solve(x[0], x), np.linalg.solve(wide[0], wide)),
            (xl.solve(x, x[0, 0]), np.stack([np.linalg.solve(w, wide[0, 0]) for w in wide])),
        ]  # fmt: skip
        for at, (read, (_, wanted)) in enumerate(
            zip(await gpu.read(*(made for made, _ in pairs)), pairs, strict=True)
        ):
            assert read.shape == wanted.shape, at
            # Conditions of some tens, and powers up to the sixth.
            atol = 1e-4 * max(1, abs(wanted).max(initial=0))
            assert_allclose(read, wanted, atol=atol, err_msg=str(at))
    count = gpu.asarray(np.arange(9, dtype="i4").reshape(3, 3))
    assert await xl.trace(count).item() == 12
    assert await xl.det(count).item() == 0
    assert (await xl.solve(gpu.asarray([[2, 0], [0, 4]]), gpu.asarray([2, 2])).tolist()) == [1, 0.5]


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_workgroups_do_what_single_invocations_do(selenium_worker):
    """The kernels that hardware gets: a workgroup for a matrix, with barriers."""
    from dataclasses import replace

    import numpy as np

    import aiogpu as gpu
    from aiogpu import evaluate

    await gpu.open_device()
    runtime = evaluate.DEFAULT.runtime
    usual = runtime.limits
    rng = np.random.default_rng(6)
    try:
        for is_fallback in (False, True):
            runtime.limits = replace(usual, is_fallback=is_fallback, immediate_nbytes=0)
            for dtype in ("f4", "c8"):
                a = (rng.normal(size=(2, 37, 37)) + 1j * rng.normal(size=(2, 37, 37))).astype("c8")
                a = (a if dtype == "c8" else a.real).astype(dtype)
                turned = np.conj(a.swapaxes(1, 2))
                positive = (a @ turned + 37 * np.eye(37)).astype(dtype)
                x = gpu.asarray(a)
                inverse, factor, q, r, u, s, vh = await gpu.read(
                    gpu.linalg.inv(x), gpu.linalg.cholesky(gpu.asarray(positive)),
                    *gpu.linalg.qr(x), *gpu.linalg.svd(x[..., :20]),
                )  # fmt: skip
                # As in the other tests: backward stable, and norms of about 10.
                np.testing.assert_allclose(
                    a @ inverse, np.broadcast_to(np.eye(37), a.shape), atol=1e-3
                )
                np.testing.assert_allclose(
                    factor @ np.conj(factor.swapaxes(1, 2)), positive, atol=1e-4
                )
                np.testing.assert_allclose(q @ r, a, atol=1e-4)
                again = (u[..., :20] * s[..., None, :]) @ vh
                np.testing.assert_allclose(again, a[..., :20], atol=1e-4)
                singular = gpu.linalg.solve(gpu.zeros((3, 3)), gpu.ones(3))
                try:
                    await singular.numpy()
                except gpu.errors.UsageError:
                    continue
                raise AssertionError("a singular matrix was not reported")
    finally:
        runtime.limits = usual


@run_in_pyodide
async def test_what_only_the_data_show_is_raised_by_the_next_read(selenium_worker):
    import numpy as np
    import pytest

    import aiogpu as gpu

    singular = gpu.asarray(np.ones((3, 3), "f4"))
    inverse = gpu.linalg.inv(singular)
    with pytest.raises(gpu.errors.UsageError, match=r"lu_solve .*: a matrix is singular"):
        await inverse.numpy()
    gpu.linalg.solve(gpu.asarray(np.zeros((2, 40, 40), "f4")), gpu.ones((40,)))
    solution = gpu.linalg.solve(gpu.asarray(np.zeros((2, 40, 40), "f4")), gpu.ones((40,)))
    with pytest.raises(gpu.errors.UsageError, match="singular"):
        await gpu.synchronize()
    del solution
    for bad in (-np.eye(40), np.full((2, 2), np.nan), np.array([[1.0, 2.0], [2.0, 1.0]])):
        factor = gpu.linalg.cholesky(gpu.asarray(bad.astype("f4")))
        with pytest.raises(gpu.errors.UsageError, match=r"cholesky .*: .* not positive definite"):
            await factor.numpy()
    assert await gpu.ones(3).sum().item() == 3
    assert await gpu.linalg.det(singular).item() == 0
    sign, logs = await gpu.read(*gpu.linalg.slogdet(singular))
    assert (sign, logs) == (0, -np.inf)


@run_in_pyodide
async def test_empty_arrays_extremes_and_errors(selenium_worker):
    import numpy as np
    import pytest

    import aiogpu as gpu

    xl = gpu.linalg
    empty = gpu.zeros((2, 0, 0))
    assert await xl.det(empty).tolist() == [1, 1]
    assert (await xl.inv(empty).numpy()).shape == (2, 0, 0)
    assert [part.shape for part in xl.svd(gpu.zeros((3, 0)))] == [(3, 3), (0,), (0, 0)]
    assert [part.shape for part in xl.qr(gpu.zeros((0, 3)))] == [(0, 0), (0, 3)]
    assert [part.shape for part in xl.eigh(gpu.zeros((0, 4, 4)))] == [(0, 4), (0, 4, 4)]
    assert xl.pinv(gpu.zeros((3, 0))).shape == (0, 3)
    assert await xl.matrix_rank(gpu.zeros((2, 3, 0))).tolist() == [0, 0]
    # Squares of these would overflow, or vanish.
    for size in (1e30, 1e-30):
        made = await xl.svdvals(gpu.asarray(np.diag([1, 2, 3.0]).astype("f4") * size)).numpy()
        np.testing.assert_allclose(made, np.array([3, 2, 1]) * np.float32(size), rtol=1e-6)
        q, r = await gpu.read(*xl.qr(gpu.full((3, 2), size)))
        np.testing.assert_allclose(q @ r, np.full((3, 2), np.float32(size)), rtol=1e-5)
    nans = await xl.eigvalsh(gpu.asarray(np.full((3, 3), np.nan, "f4"))).numpy()
    assert np.isnan(nans).all()
    x = gpu.zeros((3, 4))
    for call in (
        lambda: xl.inv(x), lambda: xl.cholesky(x), lambda: xl.det(gpu.ones(3)),
        lambda: xl.solve(gpu.ones((3, 3)), gpu.ones((4,))), lambda: xl.eigh(x),
        lambda: xl.outer(x, x), lambda: xl.cross(x, x), lambda: xl.trace(gpu.ones(3)),
        lambda: xl.solve(gpu.ones((2, 3, 3)), gpu.ones((3, 3, 1))),
    ):  # fmt: skip
        with pytest.raises(gpu.errors.ShapeError):
            call()
    for call in (lambda: xl.qr(x, mode="raw"), lambda: xl.matrix_norm(x, ord=3)):
        with pytest.raises(gpu.errors.UsageError):
            call()
    with pytest.raises(gpu.errors.DTypeError):
        xl.svd(x.astype("bool"))


@run_in_pyodide
async def test_columns_of_which_rounding_errors_are_left_are_reflected_exactly(selenium_worker):
    """Of a matrix of rank 2 the third column is 1e-8, the next 1e-16, and their squares vanish."""
    import numpy as np

    import aiogpu as gpu

    for dtype in ("f4", "c8"):
        a = np.resize(np.array([0.25, 0, 0.125, 0.125, 0, 0], dtype), (2, 31, 31))
        if dtype == "c8":
            a = a * (1 + 2j)
        q, r = await gpu.read(*gpu.linalg.qr(gpu.asarray(a.astype(dtype))))
        square = np.conj(q.swapaxes(1, 2)) @ q
        assert abs(square - np.eye(31)).max() <= 5.6e-6
        assert abs(q @ r - a).max() <= 5.6e-6
