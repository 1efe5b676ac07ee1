"""Conway's Game of Life on a torus."""

import numpy as np

import aiogpu as gpu
import aiogpu.lang as gl


@gpu.kernel(workgroup=(8, 8))
def step(cells: gl.In[bool], after: gl.Out[bool]) -> None:
    y, x = gl.global_id(2)
    h, w = cells.shape
    if y >= h or x >= w:
        return
    around = 0
    for dy, dx in ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)):
        around += int(cells[(y + dy) % h, (x + dx) % w])
    after[y, x] = around == 3 or (around == 2 and cells[y, x])


def reference(cells: np.ndarray) -> np.ndarray:
    """The same in NumPy."""
    around = sum(
        np.roll(cells, (dy, dx), (0, 1)).astype(int)
        for dy in (-1, 0, 1)
        for dx in (-1, 0, 1)
        if (dy, dx) != (0, 0)
    )
    return (around == 3) | ((around == 2) & cells)


async def main() -> None:
    """Play ten generations and compare them with NumPy's."""
    host = np.random.default_rng(0).random((40, 50)) < 0.4
    cells = gpu.asarray(host)
    for _ in range(10):
        cells, host = step(cells), reference(host)
    print((await cells.numpy() == host).all())
