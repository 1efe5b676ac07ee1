"""A worker of PyScript: what the page calls is exported by name."""

import json

import acceptance
from acceptance import glow, mandelbrot

import aiogpu as gpu
import aiogpu.lang as gl

# PyScript gives a script no file name, so Python cannot find the text of a kernel that is written
# here: write it in a module (acceptance.py), or as `source=`.
doubled = gpu.kernel(
    source="""
def doubled(x: gl.In[gl.f32], y: gl.Out[gl.f32]):
    at = gl.global_id(1)
    y[at] = x[at] + x[at]
""",
    namespace={"gl": gl},
)


async def accept() -> str:
    """Everything that a host must be able to do, as JSON."""
    return json.dumps(await acceptance.main())


async def inline() -> str:
    """What is said of a kernel that is written in the script itself, and of one by `source=`."""
    try:

        @gpu.elementwise
        def tripled(x: gl.f32) -> gl.f32:
            return x * 3.0

        said = f"it runs: {await tripled(gpu.ones(2)).evaluate()}"
    except gpu.errors.KernelError as error:
        said = str(error)
    return json.dumps([said, await doubled(gpu.ones(2), out_shape=2).tolist()])


async def picture(zoom: float) -> bytes:
    """The fractal, as a PNG."""
    scale = 0.01 * 0.9**zoom
    turns = mandelbrot(
        -0.7436 - 160 * scale, 0.1318 - 120 * scale, scale, 200, out_shape=(240, 320)
    )
    canvas = gpu.Canvas()
    canvas.show(glow(turns, 200))
    return await canvas.png()


__export__ = ["accept", "inline", "picture"]
