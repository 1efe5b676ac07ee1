"""What every host must be able to do; `make hosts` runs this in each. Needs no NumPy."""

import math
import time

import aiogpu as gpu
import aiogpu.lang as gl

BROKEN = """
@group(0) @binding(0) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(1) fn main() { y[0] = nothing; }
"""


@gpu.elementwise
def glow(turns: gl.i32, most: gl.i32) -> gl.f32:
    return 0.0 if turns == most else 0.5 - 0.5 * math.cos(0.25 * gl.f32(turns))


@gpu.kernel(workgroup=(8, 8))
def mandelbrot(
    left: gl.f32, top: gl.f32, scale: gl.f32, most: gl.i32, turns: gl.Out[gl.i32]
) -> None:
    row, col = gl.global_id(2)
    x = y = 0.0
    count = 0
    while count < most and x * x + y * y <= 4.0:
        x, y = (
            x * x - y * y + left + scale * gl.f32(col),
            2.0 * x * y + top + scale * gl.f32(row),
        )
        count += 1
    turns[row, col] = count


async def compute() -> list[list[float]]:
    """Create and compute: a matrix product of small whole numbers, so all digits are known."""
    x = gpu.arange(6, dtype=gpu.float32).reshape(2, 3)
    made: list[list[float]] = await (x @ x.T + 1).tolist()
    return made


async def draw(canvas: gpu.Canvas, frames: int) -> bytes:
    """Zoom into a fractal on a canvas, with a progress bar; the last picture as PNG."""
    async for frame in gpu.track(range(frames), message="zooming"):
        scale = 0.01 * 0.9**frame
        turns = mandelbrot(
            -0.7436 - 160 * scale, 0.1318 - 120 * scale, scale, 200, out_shape=(240, 320)
        )
        canvas.show(glow(turns, 200))
        await gpu.synchronize()
    return await canvas.png()


async def fail() -> dict[str, str]:
    """Three mistakes, and what is said of them."""
    said = {}
    try:
        gpu.ones((2, 3)) + gpu.ones(4)
    except gpu.errors.ShapeError as error:
        said["shape"] = str(error)
    broken = gpu.wgsl(BROKEN)
    try:
        made = broken(out_shape=1)
        assert isinstance(made, gpu.Array)  # for type checkers: kernels may have several results
        await made.numpy()
    except gpu.errors.KernelError as error:
        said["kernel"] = str(error)
    try:
        float(gpu.ones(3).sum())
    except gpu.errors.SyncAccessError as error:
        said["await"] = str(error)
    return said


async def wait() -> float:
    """How many milliseconds a small read takes, in the middle of nine."""
    taken = []
    x = gpu.ones(16)
    for _ in range(9):
        start = time.perf_counter()
        await (x + 1).tolist()
        taken.append(1000 * (time.perf_counter() - start))
    return sorted(taken)[4]


async def main(canvas: gpu.Canvas | None = None) -> dict[str, object]:
    """All of it; JSON-able."""
    start = time.perf_counter()
    computed = await compute()
    first_s = time.perf_counter() - start
    picture = await draw(canvas or gpu.Canvas(), 5)
    return {
        "computed": computed,
        "first_result_s": first_s,
        "read_ms": await wait(),
        "picture_nbytes": len(picture),
        "said": await fail(),
        "report": await gpu.report(),
    }
