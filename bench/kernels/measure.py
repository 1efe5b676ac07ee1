"""Kernels written in Python beside the same ones written in WGSL by hand: checked, then timed.

Both run in turn, batch after batch, in one run on one adapter; the figure is the ratio of their
shortest times, and that of their medians shows how much else the machine did. `bench/kernels.html`
runs it in its worker.
"""

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import aiogpu as gpu
import aiogpu.lang as gl
from aiogpu import evaluate
from aiogpu.array import Array

BATCHES = 9
TARGET_S = 0.25  # of one timed batch


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


MATMUL = """
override m: u32 = 1u;
override n: u32 = 1u;
override k: u32 = 1u;
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
var<workgroup> sa: array<f32, 256>;
var<workgroup> sb: array<f32, 256>;
@compute @workgroup_size(16, 16)
fn matmul(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_id) l: vec3u) {
  var acc = 0.0;
  for (var t = 0u; t < k; t += 16u) {
    var x = 0.0;
    if (id.y < m && t + l.x < k) { x = a[id.y * k + t + l.x]; }
    var y = 0.0;
    if (t + l.y < k && id.x < n) { y = b[(t + l.y) * n + id.x]; }
    sa[l.y * 16u + l.x] = x;
    sb[l.y * 16u + l.x] = y;
    workgroupBarrier();
    for (var i = 0u; i < 16u; i++) { acc += sa[l.y * 16u + i] * sb[i * 16u + l.x]; }
    workgroupBarrier();
  }
  if (id.y < m && id.x < n) { c[id.y * n + id.x] = acc; }
}
"""


@gpu.kernel(workgroup=256)
def histogram(data: gl.In[gl.u32], counts: gl.InOut[gl.u32]) -> None:
    own = gl.shared(256, gl.u32)
    step = gl.num_groups(1) * 256
    for at in range(gl.global_id(1), len(data), step):
        word = data[at]
        for part in gl.unroll(4):
            gl.atomic_add(own, (word >> (8 * part)) & 255, 1)
    gl.barrier()
    gl.atomic_add(counts, gl.local_index(), own[gl.local_index()])


HISTOGRAM = """
override size: u32 = 1u;
@group(0) @binding(0) var<storage, read> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>>;
var<workgroup> own: array<atomic<u32>, 256>;
@compute @workgroup_size(256)
fn histogram(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) l: u32,
             @builtin(num_workgroups) n: vec3u) {
  for (var at = id.x; at < size; at += n.x * 256u) {
    let word = data[at];
    for (var part = 0u; part < 4u; part++) {
      atomicAdd(&own[(word >> (8u * part)) & 255u], 1u);
    }
  }
  workgroupBarrier();
  atomicAdd(&counts[l], atomicLoad(&own[l]));
}
"""


@gpu.kernel(workgroup=(8, 32))
def stencil(u: gl.In[gl.f32], after: gl.Out[gl.f32]) -> None:
    y, x = gl.global_id(2)
    h, w = u.shape
    if y >= h or x >= w:
        return
    if 0 < y < h - 1 and 0 < x < w - 1:
        after[y, x] = 0.25 * (u[y - 1, x] + u[y + 1, x] + u[y, x - 1] + u[y, x + 1])
    else:
        after[y, x] = u[y, x]


STENCIL = """
override h: u32 = 1u;
override w: u32 = 1u;
@group(0) @binding(0) var<storage, read> u: array<f32>;
@group(0) @binding(1) var<storage, read_write> after: array<f32>;
@compute @workgroup_size(32, 8)
fn stencil(@builtin(global_invocation_id) id: vec3u) {
  let x = id.x;
  let y = id.y;
  if (y >= h || x >= w) { return; }
  let at = y * w + x;
  if (y > 0u && y < h - 1u && x > 0u && x < w - 1u) {
    after[at] = 0.25 * (u[at - w] + u[at + w] + u[at - 1u] + u[at + 1u]);
  } else {
    after[at] = u[at];
  }
}
"""


@dataclass
class Pair:
    """A kernel in both languages.

    Attributes:
        name: What the table calls it.
        python: The kernel written in Python, on its arrays.
        wgsl: The one written in WGSL.
        check: Whether a result is right.
    """

    name: str
    python: Callable[[], Array]
    wgsl: Callable[[], Array]
    check: Callable[[np.ndarray], bool]


async def pairs(scale: str) -> list[Pair]:
    """The kernels, on arrays of sizes for a GPU or for a software adapter."""
    return [pair async for pair in _pairs(large=scale == "gpu")]


async def _pairs(*, large: bool) -> Any:  # noqa: ANN401 - an async generator
    rng = np.random.default_rng(0)
    n = 2048 if large else 256
    a, b = rng.random((n, n), "f4"), rng.random((n, n), "f4")
    x, y = gpu.asarray(a), gpu.asarray(b)
    shape = (n, n)
    by_hand = gpu.wgsl(MATMUL)
    rows = a[:4].astype("f8") @ b
    yield Pair(
        f"matmul {n}",
        lambda: matmul(x, y, out_shape=shape, threads=shape),
        lambda: by_hand(x, y, out_shape=shape, threads=shape, m=n, n=n, k=n),
        lambda c: bool(np.allclose(c[:4], rows, rtol=1e-4)),
    )
    size = (1 << 24) if large else (1 << 18)
    words = rng.integers(0, 2**32, size, dtype="u4")
    groups = 1024 if large else 64
    data = gpu.asarray(words)
    wanted = np.bincount(words.view("u1"), minlength=256)
    counted = gpu.wgsl(HISTOGRAM)
    # Both count into what was there: new zeros each time would be another launch.
    into = gpu.zeros(256, dtype="uint32")
    await into.evaluate()
    yield Pair(
        f"histogram {4 * size}",
        lambda: histogram(data, into, workgroups=groups),
        lambda: counted(data, out_shape=256, workgroups=groups, size=size),
        lambda c: bool((c == wanted).all()),
    )
    side = 8192 if large else 1024
    plate = rng.random((side, side), "f4")
    u = gpu.asarray(plate)
    inner = 0.25 * (plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:])
    stepped = gpu.wgsl(STENCIL)
    yield Pair(
        f"stencil {side}",
        lambda: stencil(u),
        lambda: stepped(u, out_shape=(side, side), threads=(side, side), h=side, w=side),
        lambda c: bool(np.allclose(c[1:-1, 1:-1], inner, rtol=1e-5)),
    )


async def measure(scale: str) -> dict[str, dict[str, float | bool]]:
    """Each kernel's milliseconds in both languages, the ratio, and whether both are right."""
    results: dict[str, dict[str, float | bool]] = {}
    runtime = await evaluate.DEFAULT.open()
    # Kernels in Python are cut into short submits where the adapter is slow, raw WGSL cannot be:
    # what is compared here are the kernels.
    runtime.stream._budget = 1 << 40
    for pair in await pairs(scale):
        made = await pair.python().numpy()
        right = pair.check(made)
        if not pair.name.startswith("histogram"):  # its counts begin undefined by hand
            right = right and pair.check(await pair.wgsl().numpy())
        alone = await _time(pair.python, 1)
        count = max(1, round(TARGET_S / alone))
        times: dict[str, list[float]] = {"python": [], "wgsl": []}
        for _ in range(BATCHES):
            for name, run in (("python", pair.python), ("wgsl", pair.wgsl)):
                times[name].append(await _time(run, count) / count)
        best = {name: min(each) for name, each in times.items()}
        middle = {name: statistics.median(each) for name, each in times.items()}
        results[pair.name] = {
            "python_ms": 1000 * best["python"],
            "wgsl_ms": 1000 * best["wgsl"],
            "ratio": best["python"] / best["wgsl"],
            "ratio_of_medians": middle["python"] / middle["wgsl"],
            "right": right,
        }
    return results


async def _time(run: Callable[[], Array], count: int) -> float:
    """Seconds of some launches, issued one after another and waited for together."""
    await gpu.synchronize()
    start = time.perf_counter()
    made = [run() for _ in range(count)]
    for each in made:
        await each.evaluate()
    await gpu.synchronize()
    del made
    return time.perf_counter() - start


async def facts() -> dict[str, object]:
    """The adapter, the browser, what sizes suit them, and what compiling here takes."""
    report = await gpu.report()
    adapter = report["adapter"]
    return {
        "adapter": f"{adapter['vendor']} {adapter['architecture']}: {adapter['kind']}",
        "browser": report["environment"]["user_agent"],
        "scale": "software" if (await gpu.request_adapter()).is_fallback else "gpu",
        "compile_ms": dict(compile_times()),
    }


def compile_times() -> Iterator[tuple[str, float]]:
    """Milliseconds from Python to WGSL of each kernel here, the first time."""
    for kernel, args in (
        (matmul, (gpu.ones((16, 16)), gpu.ones((16, 16)))),
        (histogram, (gpu.zeros(9, dtype="uint32"), gpu.zeros(256, dtype="uint32"))),
        (stencil, (gpu.ones((16, 16)),)),
    ):
        start = time.perf_counter()
        kernel.wgsl(*args)
        yield kernel.function.__name__, 1000 * (time.perf_counter() - start)
