"""Jacobi's method for heat in a plate: each point becomes the mean of its neighbours."""

import numpy as np

import aiogpu as gpu
import aiogpu.lang as gl


@gpu.kernel(workgroup=(8, 16))
def step(u: gl.In[gl.f32], after: gl.Out[gl.f32]) -> None:
    y, x = gl.global_id(2)
    h, w = u.shape
    if y >= h or x >= w:
        return
    if 0 < y < h - 1 and 0 < x < w - 1:
        after[y, x] = 0.25 * (u[y - 1, x] + u[y + 1, x] + u[y, x - 1] + u[y, x + 1])
    else:
        after[y, x] = u[y, x]


def reference(u: np.ndarray) -> np.ndarray:
    """The same in NumPy."""
    after = u.copy()
    after[1:-1, 1:-1] = np.float32(0.25) * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return after


async def main() -> None:
    """Take a hundred steps from a hot edge and compare them with NumPy's."""
    host = np.zeros((60, 80), np.float32)
    host[0] = 100
    u = gpu.asarray(host)
    for _ in range(100):
        u, host = step(u), reference(host)
    print(np.abs(await u.numpy() - host).max())
