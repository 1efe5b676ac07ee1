"""Kernels of examples/kernels beside the same ones written in WGSL by hand: checked, then timed.

Both run in turn, batch after batch, in one run on one adapter, and each turn gives a ratio; the
figure is their median, the quartiles say how sure it is. `bench/kernels.html` runs it there.
"""

import importlib.util
import inspect
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gallery_cases
import heat
import histogram
import matmul
import numpy as np

import aiogpu as gpu
from aiogpu import evaluate
from aiogpu.array import Array

BATCHES = 15
TARGET_S = 0.2  # of one timed batch
COMPILES = 5


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


HISTOGRAM = """
override size: u32 = 1u;
@group(0) @binding(0) var<storage, read> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>>;
var<workgroup> own: array<atomic<u32>, 256>;
@compute @workgroup_size(256)
fn histogram(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) l: u32,
             @builtin(num_workgroups) n: vec3u) {
  for (var at = id.x; at < size; at += n.x * 256u) {
    atomicAdd(&own[(data[at / 4u] >> (8u * (at % 4u))) & 255u], 1u);
  }
  workgroupBarrier();
  atomicAdd(&counts[l], atomicLoad(&own[l]));
}
"""


STENCIL = """
override h: u32 = 1u;
override w: u32 = 1u;
@group(0) @binding(0) var<storage, read> u: array<f32>;
@group(0) @binding(1) var<storage, read_write> after: array<f32>;
@compute @workgroup_size(16, 8)
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
        is_checked_by_hand: Whether that can be said of the one written in WGSL.
    """

    name: str
    python: Callable[[], Array]
    wgsl: Callable[[], Array]
    check: Callable[[np.ndarray], bool]
    is_checked_by_hand: bool = True


async def pairs(scale: str) -> list[Pair]:
    """The kernels, on arrays of sizes for a GPU or for a software adapter."""
    return [pair async for pair in _pairs(large=scale == "gpu")]


async def _pairs(*, large: bool) -> Any:  # noqa: ANN401 - an async generator
    rng = np.random.default_rng(0)
    n = 2048 if large else 128
    a, b = rng.random((n, n), "f4"), rng.random((n, n), "f4")
    x, y = gpu.asarray(a), gpu.asarray(b)
    shape = (n, n)
    by_hand = gpu.wgsl(MATMUL)
    rows = a[:4].astype("f8") @ b
    yield Pair(
        f"matmul {n}",
        lambda: matmul.matmul(x, y, out_shape=shape, threads=shape),
        lambda: by_hand(x, y, out_shape=shape, threads=shape, m=n, n=n, k=n),
        lambda c: bool(np.allclose(c[:4], rows, rtol=1e-4)),
    )
    size = (1 << 26) if large else (1 << 20)
    data = rng.integers(0, 256, size, dtype="u1")
    groups = 1024 if large else 64
    given = gpu.asarray(data)
    wanted = histogram.reference(data)
    counted = gpu.wgsl(HISTOGRAM)
    # Both count into what was there: new zeros each time would be another launch.
    into = gpu.zeros(256, dtype="uint32")
    await into.evaluate()
    yield Pair(
        f"histogram {size}",
        lambda: histogram.histogram(given, into, workgroups=groups),
        lambda: counted(given, out_shape=256, workgroups=groups, size=size),
        lambda c: bool((c == wanted).all()),
        is_checked_by_hand=False,  # its counts begin undefined there
    )
    side = 8192 if large else 1024
    plate = rng.random((side, side), "f4")
    u = gpu.asarray(plate)
    after = heat.reference(plate)
    stepped = gpu.wgsl(STENCIL)
    yield Pair(
        f"stencil {side}",
        lambda: heat.step(u),
        lambda: stepped(u, out_shape=(side, side), threads=(side, side), h=side, w=side),
        lambda c: bool(np.allclose(c, after, rtol=1e-5)),
    )


async def measure(scale: str) -> dict[str, dict[str, Any]]:
    """Each kernel's milliseconds in both languages, the ratio, its quartiles, and what is right."""
    runtime = await evaluate.DEFAULT.open()
    # Kernels in Python are cut into short submits where the adapter is slow, raw WGSL cannot be:
    # what is compared here are the kernels.
    runtime.stream._budget = 1 << 40
    return {pair.name: await _measured(pair) for pair in await pairs(scale)}


async def _measured(pair: Pair) -> dict[str, Any]:
    right = pair.check(await pair.python().numpy())
    if pair.is_checked_by_hand:
        right = right and pair.check(await pair.wgsl().numpy())
    runs = {"python": pair.python, "wgsl": pair.wgsl}
    for run in runs.values():
        await _time(run, 1)
    count = max(1, round(TARGET_S / await _time(pair.python, 1)))
    times: dict[str, list[float]] = {"python": [], "wgsl": []}
    for turn in range(BATCHES):
        # Each is first in every other turn: what drifts is no advantage.
        for name in sorted(runs, reverse=turn % 2 == 1):
            times[name].append(await _time(runs[name], count) / count)
    ratios = [one / other for one, other in zip(times["python"], times["wgsl"], strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    return {
        "python_ms": 1000 * statistics.median(times["python"]),
        "wgsl_ms": 1000 * statistics.median(times["wgsl"]),
        "ratio": middle,
        "quartiles": [low, high],
        "ratio_of_best": min(times["python"]) / min(times["wgsl"]),
        "right": right,
    }


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
        "compile_ms": await compile_times(),
    }


async def compile_times() -> dict[str, float]:
    """Milliseconds from Python to WGSL of each kernel of the gallery: the median of some turns.

    Of the first call of a kernel that was just defined, with what reading its module took.
    """
    times: dict[str, float] = {}
    for name, case in inspect.getmembers(gallery_cases, inspect.iscoroutinefunction):
        for called, (args, more) in (await _first_calls(name, case)).items():
            turns = [_compile_s(name, called, args, more) for _ in range(COMPILES)]
            times[f"{name}.{called}"] = 1000 * statistics.median(turns)
    return times


async def _first_calls(name: str, case: Any) -> dict[str, tuple[list[Any], dict[str, Any]]]:  # noqa: ANN401 - a case of the gallery
    """The arguments of each kernel's first call, by its name."""
    found: dict[str, tuple[list[Any], dict[str, Any]]] = {}

    async def run(kernel: Any, *args: Any, **more: Any) -> Any:  # noqa: ANN401 - as the cases call it
        given = [gpu.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
        found.setdefault(kernel.__name__, (given, more))
        return kernel.simulate(*args, **more)

    await case(importlib.import_module(name), run)
    return found


def _compile_s(name: str, called: str, args: list[Any], more: dict[str, Any]) -> float:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    start = time.perf_counter()
    spec.loader.exec_module(module)
    getattr(module, called).wgsl(*args, **more)
    return time.perf_counter() - start
