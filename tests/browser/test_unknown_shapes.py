"""Arrays whose length depends on data, and masks as indices."""

import pytest
from pytest_pyodide import run_in_pyodide


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_masks_choose_what_numpy_chooses(selenium_worker):
    import numpy as np
    import pytest
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    rng = np.random.default_rng(1)
    for dtype in ("bool", "uint8", "int16", "int32", "float16", "float32", "complex64"):
        for shape in ((1,), (33,), (257,), (6, 7), (3, 4, 5), (0, 3), (4, 0)):
            host = rng.integers(0, 99, shape).astype(dtype)
            x = gpu.asarray(host)
            for rank in range(len(shape) + 1):
                mask = rng.integers(0, 2, shape[:rank]).astype(bool)
                wanted = host[mask]
                made = await gpu.read(x[gpu.asarray(mask)], x[mask])
                assert_array_equal(made[0], wanted, strict=True, err_msg=f"{dtype} {shape} {rank}")
                assert_array_equal(made[1], wanted, strict=True)
    host = rng.normal(0, 1, (40, 50)).astype("f4")
    x = gpu.asarray(host)
    pairs = [
        (x[x > 0.5], host[host > 0.5]), (x.T[x.T > 1], host.T[host.T > 1]),
        (x[::-2][(x > 0)[::2, 3]], host[::-2][(host > 0)[::2, 3]]), (x[x > 99], host[host > 99]),
        (x[True], host[True]), (x[False], host[False]), (x[(x > 0,)], host[host > 0]),
    ]  # fmt: skip
    for ours, theirs in pairs:
        assert_array_equal(await ours.numpy(), theirs, strict=True)
    # The standard allows a size of 0 in the place of any other.
    empty = x[gpu.zeros((0,), dtype="bool")]
    assert (await empty.numpy()).shape == (0, 50)
    with pytest.raises(gpu.errors.AxisError, match=r"a mask of shape \(50, 40\)"):
        x[x.T > 0]
    with pytest.raises(IndexError, match="mask"):
        x[np.ones(3, bool)]


@run_in_pyodide
async def test_assigning_where_a_mask_chooses(selenium_worker):
    import numpy as np
    import pytest
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    rng = np.random.default_rng(2)
    for dtype in ("uint8", "int32", "float16", "float32", "complex64"):
        host = rng.integers(0, 99, (6, 7)).astype(dtype)
        for mask in (host.real > 40, host[:, 0].real > 40, np.zeros((6, 7), bool), np.array(True)):
            rest = host.shape[mask.ndim :]
            values = [5, rng.integers(0, 9, (1, *rest)).astype(dtype)]
            values += [np.arange(rest[-1]).astype(dtype)] if rest else []
            for value in values:
                x = gpu.asarray(host)
                old, kept = x, x[0]
                x[gpu.asarray(mask)] = value if isinstance(value, int) else gpu.asarray(value)
                wanted = host.copy()
                wanted[mask] = value
                assert_array_equal(await x.numpy(), wanted, strict=True)
                assert_array_equal(await kept.numpy(), host[0])
                assert old is x
    x = gpu.zeros((3, 2))
    with pytest.raises(gpu.errors.ShapeError, match=r"broadcast to \(2,\), or to \(None, 2\)"):
        x[gpu.asarray([True, True, False])] = gpu.zeros((1, 2, 2))
    with pytest.raises(gpu.errors.ShapeError):
        x[gpu.asarray([True, True, False])] = gpu.arange(3)


@run_in_pyodide
async def test_assigning_to_each_that_a_mask_chooses(selenium_worker):
    import numpy as np
    import pytest
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    rng = np.random.default_rng(3)
    for dtype in ("uint8", "float32", "complex64", "bool"):
        host = rng.integers(0, 99, (6, 7)).astype(dtype)
        rows = np.array([True, False, True, True, False, False])
        none, one = np.zeros((6, 7), bool), np.zeros((6, 7), bool)
        one[4, 5] = True
        for mask in (host.real > 40, rows, none, one, ~none):
            values = rng.integers(0, 99, host[mask].shape).astype(dtype)
            for given in (values, values[..., :1] if values.ndim == 2 else values[::-1]):
                x = gpu.asarray(host)
                x[gpu.asarray(mask)] = gpu.asarray(given)
                wanted = host.copy()
                wanted[mask] = given
                assert_array_equal(await x.numpy(), wanted, strict=True)
    host = rng.normal(size=(4, 5, 3)).astype("f4")
    mask, plane = np.array([True, False, False, True, True]), rng.random((4, 5)) < 0.5
    for key in (
        (slice(None), mask), (slice(None), mask, 1), (..., mask, slice(None)), (2, mask),
        (plane, 0), (plane, slice(None, None, 2)), (plane, ...), (None, plane), (1, mask, -1),
        (slice(1, 3), mask, slice(2)),
    ):  # fmt: skip
        wanted, x = host.copy(), gpu.asarray(host)
        wanted[key] = 9
        x[tuple(gpu.asarray(part) if isinstance(part, np.ndarray) else part for part in key)] = 9
        assert_array_equal(await x.numpy(), wanted)
        leads = key[0] is plane or key[0] in (1, 2)
        if leads:
            assert_array_equal(await gpu.asarray(host)[key].numpy(), host[key])
        else:
            with pytest.raises(gpu.errors.UsageError, match="must be the first"):
                x[key]
            with pytest.raises(gpu.errors.ShapeError, match="one number"):
                x[key] = [1.0, 2.0]
    x = gpu.asarray(host)
    x[plane, 1] = gpu.asarray(np.arange(plane.sum()))
    wanted = host.copy()
    wanted[plane, 1] = np.arange(plane.sum())
    assert_array_equal(await x.numpy(), wanted)

    x = gpu.asarray(np.arange(5))
    assert await x[[True, False, True, False, False]].tolist() == [0, 2]
    x[x > 2] = [10, 20]
    assert await x.tolist() == [0, 1, 2, 10, 20]
    for count in (0, 2, 4):
        y = gpu.arange(5)
        y[gpu.asarray([True, False, True, True, False])] = gpu.zeros(count, dtype="int32")
        with pytest.raises(ValueError, match=f"setitem: {count} values: the mask chooses another"):
            await y.numpy()
    assert await x.tolist() == [0, 1, 2, 10, 20]


@run_in_pyodide
async def test_what_is_known_before_and_after(selenium_worker):
    import numpy as np
    import pytest

    import aiogpu as gpu

    x = gpu.asarray(np.arange(12, dtype="f4").reshape(6, 2))
    before = gpu.counters()["reads"]
    y = x[x[:, 0] > 5]
    assert (y.shape, y.ndim, y.size, y.dtype) == ((None, 2), 2, None, gpu.float32)
    assert "shape=(None, 2)" in repr(y)
    for name, wrong in (
        ("add", lambda: y + 1), ("add|radd", lambda: 1 + y), ("sum", lambda: gpu.sum(y)),
        ("tanh", lambda: gpu.tanh(y)), ("getitem", lambda: y[0]), ("len", lambda: len(y)),
        ("iter", lambda: list(y)), ("setitem", lambda: y.__setitem__(0, 1)), ("add", lambda: x + y),
        ("where", lambda: gpu.where(x, y, 0)), ("reshape", lambda: y.reshape(-1)),
        ("concat", lambda: gpu.concat([x, y])), ("nbytes", lambda: y.nbytes), ("T", lambda: y.T),
        ("stack", lambda: gpu.stack([y, y])), ("squeeze", lambda: gpu.squeeze(y, 0)),
        ("zeros_like", lambda: gpu.zeros_like(y)), ("top_k", lambda: gpu.top_k(y, 1)),
        ("broadcast_arrays", lambda: gpu.broadcast_arrays(y, x)),
    ):  # fmt: skip
        with pytest.raises(
            gpu.errors.UsageError, match=rf"^({name}): .*await x\.evaluate\(\).*size="
        ):
            wrong()
    assert gpu.counters()["reads"] == before
    assert await y.tolist() == [[6, 7], [8, 9], [10, 11]]
    assert gpu.counters()["reads"] == before + 2
    assert y.shape == (None, 2), "a read made the shape known for one reader only"
    assert await y.evaluate() is y
    assert (y.shape, y.size, len(y), type(y)) == ((3, 2), 6, 3, gpu.Array)
    assert await (y + 1).sum().item() == 57
    y[0] = 0
    assert await y.tolist() == [[0, 0], [8, 9], [10, 11]]
    assert await (await x[x > 99].evaluate()).tolist() == []
    assert (await y.data()).tolist()[0] == [0, 0]


@run_in_pyodide
async def test_one_element_and_none(selenium_worker):
    import pytest

    import aiogpu as gpu

    x = gpu.arange(5)
    assert await x[x == 3].item() == 3
    with pytest.raises(gpu.errors.UsageError, match=r"item: shape \(2,\)"):
        await x[x > 2].item()
    assert (await x[x > 9].data()).tolist() == []
    values = await gpu.read(x, x[x > 2], gpu.unique_values(x % 2))
    assert [each.tolist() for each in values] == [[0, 1, 2, 3, 4], [3, 4], [0, 1]]


@run_in_pyodide
async def test_memory_is_given_back(selenium_worker):
    import asyncio

    import aiogpu as gpu

    x = await (gpu.arange(100_000) % 1000).copy().evaluate()
    await gpu.synchronize()
    used = gpu.memory()["in_use"]
    y = x[x == 7]
    one, two = await asyncio.gather(y.evaluate(), y.evaluate())
    assert one is two is y
    await gpu.synchronize()
    assert (y.shape, gpu.memory()["in_use"] - used < 4096) == ((100,), True)
    del y, one, two
    z = x[x == 8]
    w = gpu.unique_counts(x)
    del z, w
    await gpu.synchronize()
    assert gpu.memory()["in_use"] == used


@run_in_pyodide
async def test_under_sync_reads_asking_evaluates(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    x = gpu.arange(10)
    with gpu.sync_reads():
        y = x[x > 6]
        assert y.shape == (3,)
        assert type(y) is gpu.Array
        assert len(x[x > 7]) == 2
        assert int((x[x > 6] + 1).sum()) == 27
        assert x[x > 6].size == 3
        assert np.asarray(gpu.unique_values(x % 3)).tolist() == [0, 1, 2]
        assert [int(each) for each in x[x < 2]] == [0, 1]


@run_in_pyodide
async def test_errors_of_the_work_reach_the_reader(selenium_worker):
    import pytest

    import aiogpu as gpu

    broken = gpu.wgsl(
        """
        @group(0) @binding(0) var<storage, read_write> y: array<f32>;
        @compute @workgroup_size(1) fn main() { y[0] = undefined_name; }
        """
    )
    x = gpu.arange(4)
    mask = broken(out_shape=4) > 0
    for y in (x[mask], gpu.unique_values(broken(out_shape=4))):
        with pytest.raises(gpu.errors.KernelError, match="undefined_name"):
            await y.evaluate()
        with pytest.raises(gpu.errors.KernelError, match="undefined_name"):
            await y.numpy()
