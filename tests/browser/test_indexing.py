"""Arrays of integers as indices, against NumPy."""

import pytest
from pytest_pyodide import run_in_pyodide


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex64", "float16"])
@run_in_pyodide
async def test_elements_are_chosen_and_replaced_as_numpy_does(selenium_worker, dtype):
    import random

    import numpy as np

    import aiogpu as gpu

    rng, numbers = random.Random(dtype), np.random.default_rng(11)

    def index(size, broadcast):
        shape = rng.choice([broadcast, broadcast[-1:], (1,) * len(broadcast), ()])
        return numbers.integers(-size, size, shape).astype(rng.choice(["i4", "i1", "u1"]))

    def key(shape):
        rank = rng.randint(1, len(shape))
        broadcast = rng.choice([(3,), (2, 3), (4, 1), (0,)])
        parts = [
            rng.choice(
                [
                    slice(None), slice(1, None), slice(None, None, -2), rng.randrange(size),
                    index(size, broadcast), index(size, broadcast),
                ]
            )
            for size in shape[:rank]
        ]  # fmt: skip
        parts[rng.randrange(rank)] = index(shape[0], broadcast)
        at = rng.randrange(rank)
        parts[at] = index(shape[at], broadcast)
        for at, part in enumerate(parts):  # no index may exceed its own axis
            if isinstance(part, np.ndarray):
                parts[at] = part % shape[at] if part.dtype.kind == "u" else np.clip(
                    part, -shape[at], shape[at] - 1
                )  # fmt: skip
        if rng.random() < 0.3:
            parts.insert(rng.randint(0, rank), None)
        elif rng.random() < 0.3:
            parts.append(Ellipsis)
        return tuple(parts)

    def ours(parts):
        return tuple(gpu.asarray(p) if isinstance(p, np.ndarray) else p for p in parts)

    for _ in range(60):
        shape = tuple(rng.randint(1, 6) for _ in range(rng.randint(1, 4)))
        a = (numbers.normal(size=shape) * 9).astype(dtype)
        k = key(shape)
        x = gpu.asarray(a)
        np.testing.assert_array_equal(await x[ours(k)].numpy(), a[k], err_msg=f"{shape} {k}")
        # Every chosen element gets the same value: which of two stays is not said.
        x[ours(k)] = True
        a_new = a.copy()
        a_new[k] = True
        np.testing.assert_array_equal(await x.numpy(), a_new, err_msg=f"set {shape} {k}")


@run_in_pyodide
async def test_what_cannot_be_an_index_is_refused(selenium_worker):
    import numpy as np
    import pytest

    import aiogpu as gpu

    x = gpu.asarray(np.arange(12, dtype="f4").reshape(3, 4))
    assert await x[[2, 0]].tolist() == [[8, 9, 10, 11], [0, 1, 2, 3]]
    assert await x[[]].tolist() == []
    assert await x[np.array([1, 2]), [3, 0]].tolist() == [7, 8]
    values = gpu.asarray(np.array([50.0, 60.0], "f4"))
    x[[0, 2], [1, 3]] = values
    assert await x[[0, 2], [1, 3]].tolist() == [50, 60]
    with pytest.raises(gpu.errors.DTypeError, match="float32 array"):
        x[gpu.asarray([0.5])]
    with pytest.raises(gpu.errors.UsageError, match="a mask must be the only array"):
        x[[0, 1], gpu.asarray([True, False, True, True])]
    with pytest.raises(gpu.errors.AxisError, match="3 indices; the array has 2"):
        x[[0], [0], [0]]
    with pytest.raises(gpu.errors.AxisError, match="outside of axis 1"):
        x[[0], 4]
    with pytest.raises(gpu.errors.ShapeError, match="broadcast"):
        x[[0, 1], [0, 1, 2]]
    with pytest.raises(gpu.errors.AxisError, match="out of range"):
        await x[[0, 3]].numpy()
    with pytest.raises(gpu.errors.AxisError, match="out of range"):
        await x[[0, 1], [-5, 0]].numpy()
    far = gpu.asarray([2**32 - 1], dtype="uint32")  # as int32 it would count from the end
    for chosen in (x[far], x[0, far], gpu.take(x, far, axis=0)):
        with pytest.raises(gpu.errors.AxisError, match="out of range"):
            await chosen.numpy()
    assert await gpu.take_along_axis(x[0], far, axis=0).tolist() == [3]
    before = gpu.counters()["reads"]
    _ = x[[0, 1]][:, [1, 2]] + 1
    assert gpu.counters()["reads"] == before
