"""Views, indexing and assignment against NumPy: a view costs no launch until it is needed."""

import pytest
from pytest_pyodide import run_in_pyodide


@run_in_pyodide
async def test_keys_of_every_kind(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    keys = [
        0, -1, 2, ..., None, slice(None), slice(1, None), slice(None, -1), slice(None, None, 2),
        slice(None, None, -1), slice(3, 0, -2), slice(-2, None), slice(10, 20), slice(2, 2),
        slice(0, 100, 3), slice(None, None, -3),
        (1, 2), (0, ..., 1), (..., 0), (..., slice(None, None, -1)), (None, 1), (slice(None), None),
        (slice(1, 3), slice(None, None, -2)), (1, None, slice(0, 2), None, -1), (..., None),
        (slice(None), slice(None), 2), (-1, -1, -1), (slice(None, None, 3), ..., slice(1, 4, 2)),
        (None, ..., None), (), (slice(0, 0), ...), np.int32(1), (np.int8(1), slice(1, 2)),
    ]  # fmt: skip
    for dtype in ("f4", "i4", "u1", "?"):
        host = (np.arange(4 * 5 * 6) * 37 % 251).reshape(4, 5, 6).astype(dtype)
        x = gpu.asarray(host)
        reads = await gpu.read(*(x[key] for key in keys))
        for key, read in zip(keys, reads, strict=True):
            assert_array_equal(read, host[key], strict=True, err_msg=str(key))
        more = await gpu.read(*(x[key] == x[key] for key in keys[6:30:3]))
        assert all(equal.all() for equal in more)


@run_in_pyodide
async def test_views_of_views(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    rng = np.random.default_rng(10)

    # Each is drawn once, and then done by aiogpu and by NumPy, whose names are the same.
    forms = (
        lambda xp, v, order, axis, key: xp.permute_dims(v, order),
        lambda xp, v, order, axis, key: xp.flip(v, axis=axis),
        lambda xp, v, order, axis, key: v[key],
        lambda xp, v, order, axis, key: v[key],
        lambda xp, v, order, axis, key: v.reshape(-1),
        lambda xp, v, order, axis, key: xp.expand_dims(v, axis=axis),
        lambda xp, v, order, axis, key: xp.broadcast_to(v, (2, *v.shape)),
    )
    pairs = []
    for dtype in ("f4", "u1") * 60:
        host = rng.integers(0, 250, rng.integers(1, 6, rng.integers(1, 4))).astype(dtype)
        x = gpu.asarray(host)
        for _ in range(4):
            rank = host.ndim
            steps = [int(rng.choice([1, 2, -1, -2])) for _ in range(rank)]
            key = tuple(slice(int(rng.integers(0, 2)), None, step) for step in steps)
            order = tuple(int(axis) for axis in rng.permutation(rank))
            form = forms[rng.integers(len(forms) if rank < 6 else 5)]
            drawn = order, int(rng.integers(rank)), key
            x, host = form(gpu, x, *drawn), form(np, host, *drawn)
        pairs.append((x, host))
    for read, (_, host) in zip(await gpu.read(*(x for x, _ in pairs)), pairs, strict=True):
        assert_array_equal(read, host, strict=True)
    sums = await gpu.read(*(x + x for x, _ in pairs))
    for read, (_, host) in zip(sums, pairs, strict=True):
        assert_array_equal(read, host + host, strict=True)


@run_in_pyodide
async def test_named_manipulations(selenium_worker):
    import numpy as np
    import pytest
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    host = np.arange(24, dtype="i4").reshape(2, 3, 4)
    x = gpu.asarray(host)
    pairs = [
        (x[0].T, host[0].T), (x.mT, host.swapaxes(1, 2)), (gpu.matrix_transpose(x), host.mT),
        (gpu.moveaxis(x, 0, -1), np.moveaxis(host, 0, -1)),
        (gpu.moveaxis(x, -1, 0), np.moveaxis(host, -1, 0)),
        (gpu.flip(x), np.flip(host)), (gpu.flip(x, axis=(0, -1)), np.flip(host, (0, -1))),
        (gpu.squeeze(x[:, :1], 1), host[:, 0]),
        (gpu.reshape(x, (4, -1)), host.reshape(4, -1)), (x.reshape(6, 4), host.reshape(6, 4)),
        (x.mT.reshape(-1), host.swapaxes(1, 2).reshape(-1)),
        (x[:, ::2].reshape(2, -1), host[:, ::2].reshape(2, -1)),
        (gpu.broadcast_to(x[0, 0], (3, 2, 4)), np.broadcast_to(host[0, 0], (3, 2, 4))),
        (gpu.broadcast_arrays(x, x[0, 0])[1], np.broadcast_to(host[0, 0], host.shape)),
        (gpu.expand_dims(x, axis=-1), host[..., None]), (x.copy(), host),
        (x[0, True], host[0, True]), (x[0, False], host[0, False]),
    ]  # fmt: skip
    for read, (_, wanted) in zip(await gpu.read(*(a for a, _ in pairs)), pairs, strict=True):
        assert_array_equal(read, wanted, strict=True)
    assert [await row.tolist() for row in x[0]] == host[0].tolist()
    assert (len(x), x.ndim, x.size, x.nbytes) == (2, 3, 24, 96)
    scalar = gpu.asarray(5)
    assert await (scalar + 1).item() == 6
    assert (scalar.reshape(1, 1).shape, scalar[None].shape, scalar[...].shape) == ((1, 1), (1,), ())
    for wrong in (
        lambda: x.T, lambda: x.reshape(5, 5), lambda: x.reshape(-1, -1), lambda: x[0, 0, 0, 0],
        lambda: x[2], lambda: x[..., ...], lambda: x[1.5],
        lambda: gpu.squeeze(x, 0), lambda: gpu.permute_dims(x, (0, 1)), lambda: gpu.flip(x, axis=3),
        lambda: gpu.broadcast_to(x, (2, 3, 5)), lambda: gpu.broadcast_to(x, (4,)),
        lambda: gpu.zeros((1,) * 9), lambda: iter(scalar), lambda: len(scalar),
        lambda: gpu.zeros(-1),
    ):  # fmt: skip
        with pytest.raises(gpu.errors.UsageError):
            wrong()
    with pytest.raises(IndexError):
        x[0, 3]


@run_in_pyodide
async def test_nothing_broadcasts_with_nothing(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    total = gpu.zeros((2, 0)) + gpu.zeros((2, 1))
    assert (await total.numpy()).shape == (2, 0)
    assert (await (gpu.zeros((0, 3)).sum(0)).tolist()) == [0, 0, 0]
    assert (await gpu.zeros((3, 0, 2))[:, :, 1].numpy()).shape == (3, 0)
    assert (await gpu.zeros((0,))[::-1].numpy()).shape == (0,)
    assert (await gpu.zeros((0, 4)).reshape(2, 0).astype("uint8").numpy()).dtype == np.uint8


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_assignment_to_every_kind_of_region(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    keys = [
        0, -1, ..., slice(None), slice(1, 3), slice(None, None, 2), slice(None, None, -1),
        slice(3, 0, -2), slice(2, 2), (1, 2), (0, ..., 1), (..., 0), (..., slice(None, None, -2)),
        (None, 1), (slice(1, 3), slice(None, None, -2)), (1, None, slice(0, 2)), (-1, -1, -1), (),
    ]  # fmt: skip
    rng = np.random.default_rng(11)
    for dtype in ("f4", "i4", "u1", "?"):
        base = rng.integers(0, 200, (4, 5, 6)).astype(dtype)
        made, wanted = [], []
        for key in keys:
            region = base[key].shape
            for given in (7, rng.integers(0, 200, region), rng.integers(0, 200, region[-1:])):
                fresh = np.asarray(given).astype(dtype)
                host = base.copy()
                x = gpu.asarray(host)
                host[key] = fresh
                x[key] = gpu.asarray(fresh) if fresh.ndim else fresh.item()
                made.append(x)
                wanted.append(host)
        for read, host in zip(await gpu.read(*made), wanted, strict=True):
            assert_array_equal(read, host, strict=True)


@run_in_pyodide
async def test_bytes_written_in_the_middle_leave_their_neighbours(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    made, wanted = [], []
    for dtype in ("u1", "?"):
        for start in range(5):
            for length in (1, 2, 3, 5, 24):
                host = (np.arange(41) * 7 % 2 + 0).astype(dtype)
                fresh = (np.arange(length) % 3 == 0).astype(dtype)
                x = gpu.asarray(host)
                x[start : start + length] = gpu.asarray(fresh)
                host[start : start + length] = fresh
                made.append(x)
                wanted.append(host)
    for read, host in zip(await gpu.read(*made), wanted, strict=True):
        assert_array_equal(read, host, strict=True)


@run_in_pyodide
async def test_assignment_rebinds_and_older_values_stay(selenium_worker):
    import numpy as np
    import pytest

    import aiogpu as gpu

    x = gpu.arange(6).reshape(2, 3).copy()
    alias = x
    row, doubled, old = x[0], x * 2, x.copy()
    x[0, 1] = 50
    x[1] = x[0]
    assert (await x.tolist()) == [[0, 50, 2], [0, 50, 2]]
    assert (await row.tolist()) == [0, 1, 2]
    assert (await doubled.tolist()) == [[0, 2, 4], [6, 8, 10]]
    assert (await old.tolist()) == [[0, 1, 2], [3, 4, 5]]
    assert alias is x
    y = before = gpu.ones(3)
    y += 1
    assert (await y.tolist(), await before.tolist()) == ([2, 2, 2], [1, 1, 1])
    grid = gpu.broadcast_to(gpu.arange(3), (2, 3)).copy()
    grid[0, 0] = 9
    assert (await grid.tolist()) == [[9, 1, 2], [0, 1, 2]]
    z = gpu.zeros(3, dtype="uint8")
    z[1] = 30
    z[2:] = gpu.asarray([2.9])
    z[:1] = np.array([7], "u1")
    assert (await z.tolist()) == [7, 30, 2]
    with pytest.raises(gpu.errors.ShapeError):
        x[0] = gpu.ones(4)
    with pytest.raises(gpu.errors.AxisError):
        x[2] = 1


@run_in_pyodide
async def test_assignment_to_a_cut_names_the_right_spelling(selenium_worker):
    import pytest

    import aiogpu as gpu

    x = gpu.zeros((3, 3))
    with pytest.raises(gpu.errors.UsageError, match=r"x\[0, 1\] = "):
        x[0][1] = 5
    with pytest.raises(gpu.errors.UsageError, match=r"copy"):
        x.T[0] = 5
    with pytest.raises(gpu.errors.UsageError, match=r"x\[1:, 0\] = "):
        x[1:][0] = 5
    with pytest.raises(gpu.errors.UsageError):
        x.mT[0] = 5
    own = x[0].copy()
    own[1] = 5
    computed = x[0] + 1
    computed[1] = 7
    assert await own.tolist() == [0, 5, 0]
    assert await computed.tolist() == [1, 7, 1]
    assert await x.tolist() == [[0] * 3] * 3


@run_in_pyodide
async def test_views_cost_no_launch(selenium_worker):
    import aiogpu as gpu

    x = await gpu.arange(24).reshape(4, 6).copy().evaluate()
    before = gpu.counters()["dispatches"]
    assert await (x[1:, ::2].T + x.reshape(6, 4)[::2, :3]).sum().item() >= 0
    assert gpu.counters()["dispatches"] == before + 1
    # A view of the beginning is the same memory; nothing is launched at all.
    assert await x[:2].reshape(3, 4).tolist() == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    assert gpu.counters()["dispatches"] == before + 1
