"""Julia sets: every pixel is a point z; how many turns of z * z + c does it take to escape?"""

import math

import aiogpu as gpu
import aiogpu.lang as gl

TURNS = 160
# How fast red, green and blue come and go, from night outside over indigo and gold inwards.
WAVES = gpu.asarray([0.95, 0.68, 2.0])


@gpu.func
def escape(x: gl.f32, y: gl.f32, cx: gl.f32, cy: gl.f32) -> gl.f32:
    """The number of turns, made continuous; 0 for a point that does not leave."""
    for turn in range(TURNS):
        x, y = x * x - y * y + cx, 2.0 * x * y + cy
        size = x * x + y * y
        if size > 64.0:
            return turn + 3.0 - math.log2(0.5 * math.log2(size))
    return 0.0


@gpu.kernel(workgroup=(8, 8))
def julia(cx: gl.f32, cy: gl.f32, scale: gl.f32, turns: gl.Out[gl.f32]) -> None:
    """One thread a pixel; the origin is in the middle."""
    row, col = gl.global_id(2)
    height, width = turns.shape
    if row < height and col < width:
        x = (float(col) + 0.5 - 0.5 * float(width)) * scale
        y = (0.5 * float(height) - float(row) - 0.5) * scale
        turns[row, col] = escape(x, y, cx, cy)


async def draw(cx: float, cy: float, width: int, height: int) -> float:
    """Show a Julia set on the page's canvas; resolves with the share of points that stay."""
    scale = 2.6 / min(height, width * 0.75)
    turns = julia(cx, cy, scale, out_shape=(height, width))
    with gpu.fast_math():  # colours need no exact cosine
        depth = gpu.maximum(gpu.log(turns + 1.0) - 1.15, 0.0)
        gpu.canvas().show(0.5 - 0.5 * gpu.cos(depth[..., None] * WAVES))
    inside: float = await (turns == 0).mean().item()
    return inside
