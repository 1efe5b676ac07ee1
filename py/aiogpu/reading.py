"""Reading several arrays at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiogpu import evaluate, hostdata
from aiogpu.awaited import Read

if TYPE_CHECKING:
    from aiogpu.array import Array


def read(*arrays: Array) -> Read:
    """Read several arrays by one submit: ``await gpu.read(x, y)``.

    Returns:
        A list, when awaited: NumPy arrays where NumPy is installed, else memoryviews.

    Raises (when awaited):
        AioGpuError: The first of the arrays' errors.
        DeviceLostError: The device was lost.
    """

    async def start() -> list[Any]:
        asked = [x._asked() for x in arrays]
        fetched = iter(await evaluate.DEFAULT.read([node for nodes, _ in asked for node in nodes]))
        show = hostdata.as_numpy if hostdata.has_numpy() else hostdata.as_memoryview
        return [
            show(*shown([next(fetched) for _ in nodes]), x.dtype)
            for x, (nodes, shown) in zip(arrays, asked, strict=True)
        ]

    return Read("read", start, "gpu.read(...)")
