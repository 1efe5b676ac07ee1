"""What a user would write, for tests/unit/test_typing.py to check; it is never run.

``reveal_type`` says what a type checker takes each for.
"""

from typing import assert_type

import aiogpu as gpu
from aiogpu import Array, DType


def loss(x: Array, target: Array, weights: dict[str, Array]) -> Array:
    hidden = gpu.nn.relu(x @ weights["in"] + weights["bias"])
    out = gpu.nn.softmax(hidden @ weights["out"], axis=-1)
    return gpu.mean((out - target) ** 2) + 1e-3 * sum_of_squares(weights)


def sum_of_squares(weights: dict[str, Array]) -> Array:
    total = gpu.zeros(())
    for each in weights.values():
        total += gpu.sum(gpu.square(each))
    return total


def shapes(x: Array) -> None:
    assert_type(x.shape, tuple[int, ...])
    assert_type(x.ndim, int)
    assert_type(x.dtype, DType)
    assert_type(x.T, Array)
    assert_type(x[0, ..., ::2, None], Array)
    assert_type(x[x > 0], Array)
    assert_type(x.reshape(2, -1), Array)
    assert_type(x.sum(axis=0).mean().astype(gpu.float16), Array)
    assert_type([row.max() for row in x], list[Array])
    x[0, :2] = 5
    x[x < 0] = 0.0
    x += 1
    assert_type(1 - x, Array)
    assert_type(2.0 / x, Array)
    assert_type(-x // 2 % 3, Array)
    assert_type((x >= 0) & ~(x == 1), Array)


def functions(x: Array) -> None:
    assert_type(gpu.concat([x, x], axis=0), Array)
    assert_type(gpu.where(x > 0, x, 0), Array)
    assert_type(gpu.clip(x, 0, 1), Array)
    assert_type(gpu.permute_dims(x, (1, 0)), Array)
    assert_type(gpu.linspace(0, 1, 5, dtype="float16"), Array)
    assert_type(gpu.arange(10, dtype=gpu.uint8), Array)
    assert_type(gpu.unstack(x), tuple[Array, ...])
    assert_type(gpu.meshgrid(x, x), list[Array])
    values, places = gpu.top_k(x, 3)
    assert_type((values, places), tuple[Array, Array])
    assert_type(gpu.unique_counts(x).counts, Array)
    assert_type(gpu.nonzero(x, size=4)[0], Array)
    assert_type(gpu.result_type(x, gpu.float16), DType)
    assert_type(gpu.finfo(gpu.float32).eps, float)
    assert_type(gpu.explain(x), str)
    with gpu.fast_math(), gpu.eager():
        assert_type(gpu.exp(x), Array)
    assert_type(gpu.nn.conv2d(x, x, padding=1, stride=(2, 2)), Array)
    assert_type(gpu.nn.attention(x, x, x, causal=True), Array)


def random(seed: int | None) -> None:
    rng = gpu.random.default_rng(seed)
    assert_type(rng, gpu.random.Generator)
    assert_type(rng.normal(0, 1, (3, 4)), Array)
    assert_type(rng.integers(0, 10, 5, dtype="uint8"), Array)
    assert_type(rng.permutation(rng.random((3, 4), dtype=gpu.float16)), Array)
    assert_type(rng.choice(5, (2, 2), p=[0.2] * 5), Array)
    assert_type(gpu.random.default_rng([1, [2, 3]]).uniform(-1, 1), Array)


async def main() -> None:
    if not await gpu.is_available():
        return
    device = await gpu.open_device(memory_limit=1 << 30)
    assert_type(device, gpu.Device)
    x = gpu.asarray([[1.0, 2.0], [3.0, 4.0]])
    number: float = await loss(x, x, {"in": x, "out": x, "bias": x[0]}).item()
    text: list[list[float]] = await x.tolist()
    data: memoryview = await x.data()
    first, second = await gpu.read(x, x + 1)
    assert_type(await x.evaluate(), Array)
    print(number, text, data, first, second, gpu.counters()["dispatches"])
    with gpu.sync_reads():
        assert_type(float(x.sum()), float)
    try:
        x @ gpu.ones(3)
    except gpu.errors.ShapeError as error:
        print(error.code)
    await gpu.synchronize()
    await gpu.close()
