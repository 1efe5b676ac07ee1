"""Edges of a photograph: luminance, blur, Sobel, normalised to 8 bits; on the GPU, and in NumPy.

The page calls `warm_up` once, then `detect` and `compare` for each photograph. All that waits is
awaited, so the event loop of the worker turns throughout: `Pulse` measures how well.
"""

import asyncio
import time

import numpy as np

import aiogpu as gpu
import aiogpu.lang as gl
from aiogpu.server import progress

STRIP_NELEMS = 1 << 16  # pixels that NumPy works on between two turns of the event loop
# Pyodide 314 sleeps up to 2 ms by messages, which starve timers; longer sleeps are timers.
TURN_S = 0.004
CANVAS_NELEMS = 1 << 21  # pixels of the canvas at most: the screen has no more

BLUR_ROWS = 32


# A kernel of our own: the 5x5 binomial (Gaussian) blur. Each invocation walks down one column and
# keeps the last five rows' horizontal sums. Outside of the image its border goes on, by one pixel
# more than the blur needs: Sobel wants neighbours too.
def across(grey, row, columns):
    """The horizontal sum around a pixel."""
    y = gl.clamp(row, 0, grey.shape[0] - 1)
    outer = grey[y, columns[0]] + grey[y, columns[4]]
    inner = grey[y, columns[1]] + grey[y, columns[3]]
    return outer + inner * 4.0 + grey[y, columns[2]] * 6.0


@gpu.kernel(workgroup=64)
def blur(grey: gl.In[gl.f32], blurred: gl.Out[gl.f32], top: gl.i32):
    """Rows of the blurred image from ``top`` on; a row and a column more on each side."""
    block, at = gl.global_id(2)
    rows, wide = blurred.shape
    if at >= wide:
        return
    start = block * BLUR_ROWS
    last = grey.shape[1] - 1
    columns = (
        gl.clamp(at - 3, 0, last),
        gl.clamp(at - 2, 0, last),
        gl.clamp(at - 1, 0, last),
        gl.clamp(at, 0, last),
        gl.clamp(at + 1, 0, last),
    )
    first = top + start - 1
    a = across(grey, first - 2, columns)
    b = across(grey, first - 1, columns)
    c = across(grey, first, columns)
    d = across(grey, first + 1, columns)
    for row in range(start, min(start + BLUR_ROWS, rows)):
        e = across(grey, top + row + 1, columns)
        blurred[row, at] = (a + e + (b + d) * 4.0 + c * 6.0) / 256.0
        a, b, c, d = b, c, d, e


BAND_NELEMS = 1 << 20  # pixels of one launch, and between two turns of the event loop

kept = {}  # what one call leaves to the next


# The same two functions take arrays of the GPU and of NumPy: `xp` is `gpu` or `np`.


def luminance(red, green, blue):
    """Three arrays from 0 to 255 to one, float32."""
    return red * 0.299 + green * 0.587 + blue * 0.114


def gradient(xp, x):
    """Magnitude of the Sobel gradient: shape (h + 2, w + 2) to (h, w)."""
    nw, n, ne = x[:-2, :-2], x[:-2, 1:-1], x[:-2, 2:]
    w, e = x[1:-1, :-2], x[1:-1, 2:]
    sw, s, se = x[2:, :-2], x[2:, 1:-1], x[2:, 2:]
    across = (ne - nw) + (e - w) * 2.0 + (se - sw)
    down = (sw - nw) + (s - n) * 2.0 + (se - ne)
    return xp.sqrt(xp.square(across) + xp.square(down))


async def edges_on_gpu(photo):
    """Shape (h, w, 3 or 4), uint8, to (h, w), uint8. Nothing is computed before a read."""
    height, width = photo.shape[:2]
    rows = max(1, BAND_NELEMS // width)
    bands = []
    for first in range(0, height, rows):
        band = gpu.asarray(photo[first : first + rows])  # a copy: some megabytes, then a turn
        bands.append(luminance(band[..., 0], band[..., 1], band[..., 2]))
        await asyncio.sleep(TURN_S)
    grey = joined(bands)
    bands = []
    for first in range(0, height + 2, rows):
        count = min(rows, height + 2 - first)
        threads = (-(-count // BLUR_ROWS), width + 2)
        bands.append(blur(grey, first, out_shape=(count, width + 2), threads=threads))
    blurred = joined(bands)
    del bands
    magnitude = gradient(gpu, blurred)
    scale = 255.0 / gpu.maximum(magnitude.max(), 1.0)
    return (magnitude * scale + 0.5).astype(gpu.uint8)


def joined(bands):
    """Bands of rows below each other; they are computed where they belong, not moved there."""
    return gpu.concat(bands) if len(bands) > 1 else bands[0]


async def edges_in_numpy(photo):
    """The same in NumPy, strip by strip.

    Returns:
        The edges, and how long NumPy worked, in ms, without the pauses.
    """
    height, width = photo.shape[:2]
    rows = max(1, STRIP_NELEMS // width)
    magnitude = np.empty((height, width), np.float32)
    peak = np.float32(1)
    stopwatch = Stopwatch()
    for top in range(0, height, rows):
        with stopwatch:
            bottom = min(top + rows, height)
            around = photo[max(top - 3, 0) : bottom + 3]
            grey = luminance(*(around[..., channel].astype(np.float32) for channel in range(3)))
            above, below = max(3 - top, 0), max(bottom + 3 - height, 0)
            grey = np.pad(grey, ((above, below), (3, 3)), mode="edge")
            magnitude[top:bottom] = gradient(np, blur_in_numpy(grey))
            peak = max(peak, magnitude[top:bottom].max())
        progress(bottom, height, "NumPy")
        await asyncio.sleep(TURN_S)
    scale = np.float32(255) / peak
    edges = np.empty((height, width), np.uint8)
    for top in range(0, height, 4 * rows):
        with stopwatch:
            strip = slice(top, top + 4 * rows)
            edges[strip] = magnitude[strip] * scale + np.float32(0.5)
        await asyncio.sleep(TURN_S)
    return edges, stopwatch.ms


def blur_in_numpy(x):
    """What the kernel does: shape (h + 6, w + 6) to (h + 2, w + 2)."""
    x = x[:, :-4] + x[:, 4:] + (x[:, 1:-3] + x[:, 3:-1]) * 4 + x[:, 2:-2] * 6
    x = x[:-4] + x[4:] + (x[1:-3] + x[3:-1]) * 4 + x[2:-2] * 6
    return x / 256


class Stopwatch:
    """Adds up the time spent in its ``with`` blocks: ``ms``."""

    def __init__(self):
        self.ms = 0.0
        self._started = 0.0

    def __enter__(self):
        self._started = time.perf_counter()

    def __exit__(self, *error):
        self.ms += 1e3 * (time.perf_counter() - self._started)


class Pulse:
    """A timer of 5 ms beside the work: ``longest_ms`` is how late it ever was."""

    def __init__(self):
        self.longest_ms = 0.0
        self._task = None

    async def __aenter__(self):
        self._task = asyncio.create_task(self._beat())
        return self

    async def __aexit__(self, *error):
        self._task.cancel()

    async def _beat(self):
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.005)
            late = 1e3 * (time.perf_counter() - before) - 5
            self.longest_ms = max(self.longest_ms, late)


async def warm_up():
    """Open the device and compile every shader, on a picture of noise.

    Returns:
        The adapter, whether it is software, and how long it took.
    """
    started = time.perf_counter()
    device = await gpu.open_device()
    gpu.pace("interactive")
    noise = np.random.default_rng(0).integers(0, 256, (160, 160, 4), np.uint8)
    await (await edges_on_gpu(noise)).evaluate()
    await gpu.synchronize()
    adapter = device.adapter
    return {
        "adapter": " ".join(
            filter(None, [adapter.vendor, adapter.architecture, adapter.description])
        ),
        "software": adapter.is_fallback,
        "ms": 1e3 * (time.perf_counter() - started),
    }


async def idle(seconds):
    """The control: how late the worker's timer is when there is nothing to do."""
    async with Pulse() as pulse:
        await asyncio.sleep(seconds)
    return pulse.longest_ms


def attach(canvas):
    """Draw to this canvas; for a page without a worker. A worker has the one given to `connect`."""
    kept["canvas"] = gpu.Canvas(canvas)


async def detect(pixels, width, height):
    """Find the edges on the GPU, draw them to the canvas, and read them back once.

    Args:
        pixels: Red, green, blue (and alpha) of one pixel after the other, uint8.
        width: Of the photograph.
        height: Of the photograph.
    """
    if hasattr(pixels, "to_py"):  # a typed array of the page, where there is no worker
        pixels = pixels.to_py()
    photo = np.asarray(pixels, np.uint8).reshape(height, width, -1)
    canvas = kept.get("canvas") or gpu.canvas("canvas")
    before = gpu.counters()
    async with Pulse() as pulse:
        started = time.perf_counter()
        edges = await edges_on_gpu(photo)
        every = 1
        while edges.size > CANVAS_NELEMS * every**2:
            every += 1
        canvas.show(edges[::every, ::every] if every > 1 else edges)
        values = await edges.numpy()
        ms = 1e3 * (time.perf_counter() - started)
        await gpu.synchronize()
    after = gpu.counters()
    kept["photo"], kept["edges"] = photo, values
    return {
        "edges": values,
        "every": every,
        "ms": ms,
        "lag_ms": pulse.longest_ms,
        "counters": {name: after[name] - before[name] for name in after},
        "memory": gpu.memory(),
    }


async def compare():
    """Find the edges of the last photograph once more, in NumPy.

    Returns:
        The largest difference to the GPU's, in grey levels, and how long NumPy took.
    """
    photo, values = kept["photo"], kept["edges"]
    async with Pulse() as pulse:
        expected, ms = await edges_in_numpy(photo)
    largest = 0
    for top in range(0, len(expected), 256):
        strip = slice(top, top + 256)
        wide = expected[strip].astype(np.int16) - values[strip]
        largest = max(largest, int(abs(wide).max()))
        await asyncio.sleep(TURN_S)
    return {"largest": largest, "ms": ms, "lag_ms": pulse.longest_ms}
