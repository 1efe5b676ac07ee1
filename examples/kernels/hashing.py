"""An integer hash, element by element: PCG (O'Neill 2014; Jarzynski and Olano 2020)."""

import numpy as np

import aiogpu as gpu
import aiogpu.lang as gl


@gpu.elementwise
def pcg(x: gl.u32) -> gl.u32:
    state = x * 747796405 + 2891336453
    word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737
    return (word >> 22) ^ word


def reference(x: np.ndarray) -> np.ndarray:
    """The same in NumPy."""
    with np.errstate(over="ignore"):
        state = x * np.uint32(747796405) + np.uint32(2891336453)
        word = ((state >> ((state >> np.uint32(28)) + np.uint32(4))) ^ state) * np.uint32(277803737)
        made: np.ndarray = (word >> np.uint32(22)) ^ word
    return made


async def main() -> None:
    """Hash some numbers and compare them with NumPy's."""
    x = np.arange(100_000, dtype=np.uint32)
    print((await pcg(gpu.asarray(x)).numpy() == reference(x)).all())
