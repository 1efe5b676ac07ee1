"""a * x + y: one invocation an element."""

import numpy as np

import aiogpu as gpu
import aiogpu.lang as gl


@gpu.kernel(workgroup=64)
def saxpy(a: gl.f32, x: gl.In[gl.f32], y: gl.In[gl.f32], out: gl.Out[gl.f32]) -> None:
    i = gl.global_id(1)
    if i < len(out):
        out[i] = a * x[i] + y[i]


def reference(a: float, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The same in NumPy."""
    made: np.ndarray = np.float32(a) * x + y
    return made


async def main() -> None:
    """Compute some numbers and compare them with NumPy's."""
    x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
    z = saxpy(2.0, gpu.asarray(x), gpu.asarray(y))
    print(np.abs(await z.numpy() - reference(2.0, x, y)).max())
