"""What `bench/graph.html` runs in its worker: the cost of a chain of operations before the GPU."""

import statistics
import time
from collections.abc import Callable

import aiogpu as gpu
from aiogpu import evaluate
from aiogpu.array import Array
from aiogpu.plan import Planner

LENGTH = 200
REPEATS = 40
# Clocks in browsers are as coarse as 100 us, so a measurement spans several chains.
CHAINS = 5


class Plain:
    """An object like a node with nothing in it: the least that a graph could cost."""

    __slots__ = ("dtype", "inputs", "op", "shape")

    def __init__(self, op: str, inputs: tuple["Plain", ...], shape: tuple[int], dtype: str) -> None:
        self.op = op
        self.inputs = inputs
        self.shape = shape
        self.dtype = dtype


def bare() -> Plain:
    """A chain of plain objects."""
    x = Plain("leaf", (), (1024,), "f")
    for _ in range(LENGTH):
        x = Plain("add", (x, x), x.shape, x.dtype)
    return x


def chain(a: Array, b: Array) -> Array:
    """A chain of operations on arrays and numbers."""
    x = a
    for _ in range(LENGTH // 2):
        x = x * b
        x = x + 1.5
    return x


def cost_us(work: Callable[[], object]) -> float:
    """Median microseconds an operation."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        kept = [work() for _ in range(CHAINS)]
        times.append(time.perf_counter() - start)
        del kept
    return statistics.median(times) * 1e6 / (CHAINS * LENGTH)


async def measure() -> dict[str, object]:
    """The costs, with where they were measured."""
    a, b = gpu.full((1024,), 0.5), gpu.full((1024,), 0.75)
    got = await chain(a.copy(), b.copy()).tolist()
    want = 0.5
    for _ in range(LENGTH // 2):
        want = want * 0.75 + 1.5
    assert max(abs(each - want) for each in got) < 1e-4, "the chain is wrong"
    a, b = a.copy(), b.copy()
    await a.evaluate()
    await b.evaluate()
    runtime = await evaluate.DEFAULT.open()
    planner = Planner()
    pending = chain(a, b)._node

    def plan(with_plans: Planner) -> object:
        return list(with_plans.plan([pending], runtime.limits, fuse=True))

    costs = {
        "a graph of plain objects": cost_us(bare),
        "building": cost_us(lambda: chain(a, b)),
        "scheduling and rendering, the shape was met before": cost_us(lambda: plan(planner)),
        "scheduling and rendering, for the first time": cost_us(lambda: plan(Planner())),
    }
    warm = list(costs.values())
    costs["building and scheduling, warm"] = warm[1] + warm[2]
    report = await gpu.report()
    adapter = report["adapter"]
    return {
        "adapter": f"{adapter['vendor']} {adapter['architecture']}: {adapter['kind']}",
        "browser": report["environment"]["user_agent"],
        "costs_us": costs,
    }
