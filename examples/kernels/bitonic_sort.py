"""A bitonic sort of a power of two of numbers: one launch a step of the network."""

import numpy as np

import aiogpu as gpu
import aiogpu.lang as gl


@gpu.kernel(workgroup=64)
def exchange(x: gl.InOut[gl.f32], span: gl.i32, gap: gl.i32) -> None:
    i = gl.global_id(1)
    other = i ^ gap
    if other > i and other < len(x):
        low, high = x[i], x[other]
        if (low > high) == ((i & span) == 0):
            x[i], x[other] = high, low


def bitonic_sort(x: gpu.Array) -> gpu.Array:
    """A vector of 2^n float32, in ascending order."""
    span = 2
    while span <= x.size:
        gap = span // 2
        while gap:
            x = exchange(x, span, gap)
            gap //= 2
        span *= 2
    return x


def reference(x: np.ndarray) -> np.ndarray:
    """The same in NumPy."""
    return np.sort(x)


async def main() -> None:
    """Sort random numbers and compare them with NumPy's."""
    x = np.random.default_rng(0).random(4096, np.float32)
    print((await bitonic_sort(gpu.asarray(x)).numpy() == reference(x)).all())
