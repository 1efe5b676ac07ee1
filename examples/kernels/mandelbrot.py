"""The Mandelbrot set: how many turns each point takes to leave a circle."""

import numpy as np

import aiogpu as gpu
import aiogpu.lang as gl


@gpu.func
def escapes(re: gl.f32, im: gl.f32, most: gl.i32) -> gl.i32:
    x = y = 0.0
    for turn in range(most):
        x, y = x * x - y * y + re, 2.0 * x * y + im
        if x * x + y * y > 4.0:
            return turn
    return most


@gpu.kernel(workgroup=(8, 8))
def mandelbrot(
    left: gl.f32, top: gl.f32, scale: gl.f32, most: gl.i32, turns: gl.Out[gl.i32]
) -> None:
    row, col = gl.global_id(2)
    turns[row, col] = escapes(left + scale * col, top + scale * row, most)


def reference(
    left: float, top: float, scale: float, most: int, shape: tuple[int, int]
) -> np.ndarray:
    """The same in NumPy."""
    rows, cols = np.indices(shape).astype(np.float32)
    re = np.float32(left) + np.float32(scale) * cols
    im = np.float32(top) + np.float32(scale) * rows
    x, y = np.zeros_like(re), np.zeros_like(re)
    turns = np.full(shape, most, np.int32)
    with np.errstate(all="ignore"):
        for turn in range(most):
            x, y = x * x - y * y + re, np.float32(2) * x * y + im
            turns[(turns == most) & (x * x + y * y > 4)] = turn
    return turns


async def main() -> None:
    """Compute a small picture and print it in letters."""
    turns = mandelbrot(-2.2, -1.2, 0.05, 30, out_shape=(48, 64))
    for row in await turns.numpy():
        print("".join(" .:-=+*#%@"[min(turn // 3, 9)] for turn in row))
