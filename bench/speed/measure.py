"""What `bench/speed.html` runs in its worker: operations on this adapter, checked, then timed."""

import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

import aiogpu as gpu
from aiogpu.array import Array
from aiogpu.graph import blocks

REPEATS = 7
TARGET_S = 0.2  # of one timed batch
WARM_S = 0.3
MAX_LAUNCHES = 200


@dataclass
class Case:
    """An operation: its operands, and what it does in terms that adapters are rated by.

    Attributes:
        name: What the table calls it.
        shapes: Shapes of the operands.
        run: The operation.
        check: The largest error of a result, given it and the operands as NumPy arrays.
        allowed: The largest that is right.
        work: Floating-point operations, or bytes that must move.
        unit: ``FLOP`` or ``B``.
        dtype: The operands' dtype.
    """

    name: str
    shapes: list[tuple[int, ...]]
    run: Callable[..., Array]
    check: Callable[..., float]
    allowed: float
    work: float
    unit: str
    dtype: str = "float32"


def softmax(x: Array) -> Array:
    """Softmax over the last axis."""
    return Array(blocks.along("softmax", x._node, -1))


def layer_norm(x: Array) -> Array:
    """Rows of mean 0 and variance 1."""
    return Array(blocks.along("standardize", x._node, -1, epsilon=1e-5))


def attention(q: Array, k: Array, v: Array) -> Array:
    """Attention of (batch, heads, tokens, width) operands."""
    nodes = [x._node for x in (q, k, v)]
    return Array(blocks.attention(nodes, None, q.shape[-1] ** -0.5, causal=False))


def convolution(x: Array, w: Array) -> Array:
    """A 3x3 convolution that keeps the size."""
    how = blocks.Conv(padding=(1, 1))
    return Array(blocks.conv2d("conv2d", x._node, w._node, x.shape, w.shape, how))


def product(n: int, dtype: str = "float32") -> Case:
    """A square matrix product; some elements are checked."""

    def check(y: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
        rows = np.random.default_rng(1).integers(0, n, 8)
        want = a[rows].astype("f8") @ b.astype("f8")
        return float(np.abs(y[rows] - want).max() / n**0.5)

    allowed = 2e-5 if dtype == "float32" else 2e-2
    return Case(
        f"matmul {n} {dtype}", [(n, n), (n, n)], lambda a, b: a @ b, check, allowed, 2 * n**3,
        "FLOP", dtype,
    )  # fmt: skip


def cases(scale: str) -> Iterator[Case]:
    """The operations, of sizes for a GPU or for a software adapter."""
    large = scale == "gpu"
    for n in (1024, 2048, 4096) if large else (256, 512):
        yield product(n)
    if large:
        yield product(4096, "float16")
    for n in (1 << 24, 1 << 26) if large else (1 << 18,):
        yield Case(
            f"tanh(a*b+c) {n}", [(n,)] * 3, lambda a, b, c: gpu.tanh(a * b + c),
            lambda y, a, b, c: float(np.abs(y - np.tanh(a * b + c)).max()), 1e-6, 16 * n, "B",
        )  # fmt: skip
        yield Case(
            f"sum {n}", [(n,)], lambda a: a.sum(),
            lambda y, a: abs(float(y) - float(a.sum(dtype="f8"))) / a.size**0.5, 1e-4, 4 * n, "B",
        )  # fmt: skip
    rows = 4096 if large else 256
    yield Case(
        f"softmax {rows}x{rows}", [(rows, rows)], softmax, _softmax_error, 1e-6, 8 * rows**2, "B"
    )
    yield Case(
        f"layer_norm {rows}x{rows}", [(rows, rows)], layer_norm, _norm_error, 2e-6, 8 * rows**2,
        "B",
    )  # fmt: skip
    rows = 8192 if large else 256
    for axis in (0, 1):
        yield Case(
            f"mean axis {axis} {rows}x{rows}", [(rows, rows)], lambda a, at=axis: a.mean(axis=at),
            lambda y, a, at=axis: float(np.abs(y - a.mean(at, dtype="f8")).max()), 1e-6,
            4 * rows**2, "B",
        )  # fmt: skip
    tokens, heads = (1024, 16) if large else (128, 2)
    size = (1, heads, tokens, 64)
    yield Case(
        f"attention {size}", [size] * 3, attention, _attention_error, 1e-5,
        4 * heads * tokens**2 * 64, "FLOP",
    )  # fmt: skip
    channels, side = (128, 56) if large else (16, 28)
    yield Case(
        f"conv 3x3 {channels}x{side}x{side}",
        [(1, channels, side, side), (channels, channels, 3, 3)], convolution, _convolution_error,
        1e-3, 2 * channels**2 * 9 * side**2, "FLOP",
    )  # fmt: skip


def _softmax_error(y: np.ndarray, a: np.ndarray) -> float:
    power = np.exp(a - a.max(-1, keepdims=True))
    return float(np.abs(y - power / power.sum(-1, keepdims=True)).max())


def _norm_error(y: np.ndarray, a: np.ndarray) -> float:
    wide = a.astype("f8")
    off = wide - wide.mean(-1, keepdims=True)
    return float(np.abs(y - off / np.sqrt((off**2).mean(-1, keepdims=True) + 1e-5)).max())


def _attention_error(y: np.ndarray, q: np.ndarray, k: np.ndarray, v: np.ndarray) -> float:
    scores = q[0, 0].astype("f8") @ k[0, 0].T.astype("f8") * q.shape[-1] ** -0.5
    power = np.exp(scores - scores.max(-1, keepdims=True))
    return float(np.abs(y[0, 0] - power / power.sum(-1, keepdims=True) @ v[0, 0]).max())


def _convolution_error(y: np.ndarray, x: np.ndarray, w: np.ndarray) -> float:
    padded = np.pad(x[0].astype("f8"), ((0, 0), (1, 1), (1, 1)))
    want = np.zeros(y.shape[2:])
    for i in range(3):
        for j in range(3):
            part = padded[:, i : i + y.shape[2], j : j + y.shape[3]]
            want += np.tensordot(w[0, :, i, j].astype("f8"), part, 1)
    return float(np.abs(y[0, 0] - want).max())


async def facts() -> dict[str, object]:
    """The adapter and the browser."""
    report = await gpu.report()
    adapter = report["adapter"]
    return {
        "adapter": f"{adapter['vendor']} {adapter['architecture']}: {adapter['kind']}",
        "browser": report["environment"]["user_agent"],
        "scale": "software" if (await gpu.request_adapter()).is_fallback else "gpu",
    }


def names(scale: str) -> list[str]:
    """What there is to measure."""
    return [case.name for case in cases(scale)] + ["200 adds and read", "1 add and read"]


async def measure(scale: str, name: str) -> dict[str, object]:
    """Check an operation and time it.

    Milliseconds of one among many, compiled and by the graph, and of one alone.
    """
    if name.endswith("and read"):
        return await _latency(int(name.split()[0]))
    case = next(case for case in cases(scale) if case.name == name)
    rng = np.random.default_rng(0)
    host = [rng.standard_normal(prod(s), dtype="f4").reshape(s) for s in case.shapes]
    host = [each.astype(case.dtype) for each in host]
    operands = [gpu.asarray(each) for each in host]
    error = case.check(await case.run(*operands).numpy(), *host)
    if not error <= case.allowed:
        return {"error": f"wrong by {error}, {case.allowed} allowed"}

    compiled = gpu.compile(case.run)

    async def batch(count: int) -> None:
        for _ in range(count):
            await compiled(*operands).evaluate()
        await gpu.synchronize()

    async def evaluated(count: int) -> None:
        for _ in range(count):
            await case.run(*operands).evaluate()
        await gpu.synchronize()

    one = await _timed(batch, 3)
    count = max(1, min(MAX_LAUNCHES, round(TARGET_S / (one / 3))))
    started = time.perf_counter()
    while time.perf_counter() - started < WARM_S:  # the checking has let the clocks go down
        await batch(count)
    each_s = statistics.median([await _timed(batch, count) for _ in range(REPEATS)]) / count
    graph_s = statistics.median([await _timed(evaluated, count) for _ in range(REPEATS)]) / count
    alone_s = statistics.median([await _timed(evaluated, 1) for _ in range(REPEATS)])
    return {
        "ms": each_s * 1e3,
        "graph_ms": graph_s * 1e3,
        "alone_ms": alone_s * 1e3,
        "rate": case.work / each_s / 1e12,
        "unit": f"T{case.unit}/s",
    }


async def _timed(batch: Callable[[int], Awaitable[None]], count: int) -> float:
    start = time.perf_counter()
    await batch(count)
    return time.perf_counter() - start


async def _latency(count: int) -> dict[str, object]:
    """A chain of additions of 1024 floats that nothing can fuse, and its result on the host."""
    x = gpu.asarray(np.zeros(1024, "f4"))

    async def once() -> float:
        start = time.perf_counter()
        y = x
        with gpu.eager():
            for _ in range(count):
                y = y + 1.0
            got = await y.numpy()
        took = time.perf_counter() - start
        assert (got == count).all()
        return took

    for _ in range(6):
        await once()
    return {"ms": statistics.median([await once() for _ in range(25)]) * 1e3}
