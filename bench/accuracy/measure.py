"""What `bench/accuracy.html` runs in its worker: each function of the table, on this adapter."""

import numpy as np

import aiogpu as gpu
import trial
import ulp
from aiogpu.kernels.numerics import ACCURACY


async def facts() -> dict[str, object]:
    """The adapter and the browser, and the number of points unless the page wants another."""
    report = await gpu.report()
    adapter = report["adapter"]
    shown = [adapter[key] for key in ("vendor", "architecture", "description") if adapter[key]]
    return {
        "adapter": ", ".join(shown) or adapter["kind"],  # Firefox says nothing
        "through": report["environment"]["user_agent"],
        "points": trial.MEASURED,
    }


def bounds() -> list[tuple[str, float]]:
    """The functions, and what the table allows each of them."""
    return [(name, ulp) for name, (_, _, ulp) in ACCURACY.items()]


async def measure(name: str, points: int) -> ulp.Worst:
    """The worst of a function's results."""
    given = trial.arguments(name, points)
    text, _ = trial.kernel(name)
    kernel = gpu.wgsl(text, name=name)
    bits = await kernel(*map(gpu.asarray, given), out_shape=len(given[0])).numpy()
    return ulp.measured(name, given, bits.view(np.float32))
