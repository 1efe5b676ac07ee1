"""An activation function of neural networks, and a function with two results."""

import math

import numpy as np

import aiogpu as gpu
import aiogpu.lang as gl


@gpu.elementwise
def gelu(x: gl.f32) -> gl.f32:
    return 0.5 * x * (1 + math.tanh(0.79788456 * (x + 0.044715 * x**3)))


@gpu.elementwise
def polar(x: gl.f32, y: gl.f32) -> tuple[gl.f32, gl.f32]:
    return math.hypot(x, y), math.atan2(y, x)


def reference(x: np.ndarray) -> np.ndarray:
    """`gelu` in NumPy."""
    inner = np.float32(0.79788456) * (x + np.float32(0.044715) * x**3)
    made: np.ndarray = np.float32(0.5) * x * (1 + np.tanh(inner))
    return made


async def main() -> None:
    """Compute some values and compare them with NumPy's."""
    x = np.linspace(-5, 5, 1000, dtype=np.float32)
    print(np.abs(await gelu(gpu.asarray(x)).numpy() - reference(x)).max())
