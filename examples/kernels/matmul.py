"""A matrix product, tile by tile through memory that a workgroup shares."""

import numpy as np

import aiogpu as gpu
import aiogpu.lang as gl


@gpu.kernel(workgroup=(16, 16))
def matmul(a: gl.In[gl.f32], b: gl.In[gl.f32], c: gl.Out[gl.f32], tile: gl.const[int] = 16) -> None:
    sa = gl.shared((tile, tile), gl.f32)
    sb = gl.shared((tile, tile), gl.f32)
    ly, lx = gl.local_id(2)
    row, col = gl.global_id(2)
    acc = 0.0
    for t in range(0, a.shape[1], tile):
        sa[ly, lx] = a.get(row, t + lx, 0.0)
        sb[ly, lx] = b.get(t + ly, col, 0.0)
        gl.barrier()
        for k in gl.unroll(tile):
            acc += sa[ly, k] * sb[k, lx]
        gl.barrier()
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = acc


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The same in NumPy."""
    made: np.ndarray = a @ b
    return made


async def main() -> None:
    """Multiply two matrices and compare the product with NumPy's."""
    a = np.random.default_rng(0).random((100, 70), np.float32)
    b = np.random.default_rng(1).random((70, 50), np.float32)
    shape = (a.shape[0], b.shape[1])
    c = matmul(gpu.asarray(a), gpu.asarray(b), out_shape=shape, threads=shape)
    print(np.abs(await c.numpy() - reference(a, b)).max())
