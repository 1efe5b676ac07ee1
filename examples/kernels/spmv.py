"""A sparse matrix (compressed rows, CSR) times a vector: one invocation a row."""

import numpy as np

import aiogpu as gpu
import aiogpu.lang as gl


@gpu.kernel(workgroup=64)
def spmv(
    starts: gl.In[gl.i32],
    columns: gl.In[gl.i32],
    values: gl.In[gl.f32],
    x: gl.In[gl.f32],
    y: gl.Out[gl.f32],
) -> None:
    row = gl.global_id(1)
    if row >= len(y):
        return
    total = 0.0
    for at in range(starts[row], starts[row + 1]):
        total += values[at] * x[columns[at]]
    y[row] = total


def reference(
    starts: np.ndarray, columns: np.ndarray, values: np.ndarray, x: np.ndarray
) -> np.ndarray:
    """The same in NumPy."""
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    y = np.zeros(len(starts) - 1, np.float64)
    np.add.at(y, rows, values.astype(np.float64) * x[columns])
    return y.astype(np.float32)


def random_matrix(rows: int, width: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A matrix with a few values in each row: starts, columns, values."""
    rng = np.random.default_rng(seed)
    starts = np.concatenate([[0], rng.integers(0, 9, rows).cumsum()]).astype(np.int32)
    columns = rng.integers(0, width, starts[-1]).astype(np.int32)
    return starts, columns, rng.random(starts[-1], np.float32)


async def main() -> None:
    """Multiply a random matrix and compare the product with NumPy's."""
    matrix = random_matrix(1000, 500, 0)
    x = np.random.default_rng(1).random(500, np.float32)
    y = spmv(*map(gpu.asarray, (*matrix, x)), out_shape=1000)
    print(np.abs(await y.numpy() - reference(*matrix, x)).max())
