"""What is there and what was done: plain dicts."""

from __future__ import annotations

from importlib import metadata
from typing import Any

from aiogpu import device, evaluate
from aiogpu.errors import AioGpuError, UsageError
from aiogpu.gpu import browser
from aiogpu.runtime.counters import Counters
from aiogpu.switch import SyncReads


def version() -> str:
    """The version of the installed package; ``"uninstalled"`` where it runs from its sources."""
    try:
        return metadata.version("aiogpu")
    except metadata.PackageNotFoundError:
        return "uninstalled"


def environment() -> dict[str, Any]:
    """What the surroundings offer; touches no GPU.

    Keys: ``host`` (browser, node or cpython), ``webgpu``, ``worker``, ``secure`` (context),
    ``cross_origin_isolated``, ``run_sync`` (stack switching is possible), ``offscreen_canvas``,
    ``user_agent``, ``sync_reads``.
    """
    return {**browser.environment(), "sync_reads": SyncReads.is_on}


def memory() -> dict[str, int]:
    """Bytes of device memory: ``in_use``, ``reserved``, ``peak``, ``padding``; and ``buffers``.

    All zero before a device is open.
    """
    runtime = evaluate.DEFAULT.runtime
    return (
        runtime.memory()
        if runtime
        else dict.fromkeys(("in_use", "reserved", "peak", "padding", "buffers"), 0)
    )


def counters() -> dict[str, int]:
    """What was done since the device was opened, by the names of `aiogpu.runtime.counters`.

    All zero before a device is open.
    """
    runtime = evaluate.DEFAULT.runtime
    return runtime.counts() if runtime else Counters().as_dict()


async def report() -> dict[str, Any]:
    """One JSON-able dict for a bug report: version, surroundings, adapter, counters, memory.

    ``adapter`` is that of the open device, else the one that would be asked; it says plainly when
    it is software, and ``error`` why there is none. Opens no device.
    """
    result: dict[str, Any] = {"aiogpu": version(), "environment": environment()}
    try:
        opened = device.DEFAULT.current
        adapter = await device.request_adapter() if opened is None else opened.adapter
    except AioGpuError as error:
        result["error"] = {"code": error.code, "message": str(error)}
    else:
        kind = (
            "software (results are right, speed is not that of a GPU)"
            if adapter.is_fallback
            else "hardware"
        )
        result["adapter"] = {
            "vendor": adapter.vendor,
            "architecture": adapter.architecture,
            "description": adapter.description,
            "kind": kind,
            "features": sorted(adapter.features),
            "limits": dict(adapter.limits),
        }
    return {**result, "counters": counters(), "memory": memory()}


def pace(mode: str) -> None:
    """How much work one submit may hold: ``"interactive"`` leaves frames their turns.

    ``"throughput"``, the default where no canvas is attached, does not.

    Raises:
        UsageError: Another mode, or no device is open yet.
    """
    if mode not in {"interactive", "throughput"}:
        raise UsageError(f"pace: {mode!r}: interactive or throughput")
    runtime = evaluate.DEFAULT.runtime
    if runtime is None:
        raise UsageError("pace: no device is open yet; await open_device() first")
    runtime.stream.set_pace(mode)


async def close() -> None:
    """Destroy the device, if one is open; the next use opens another. Arrays on it are lost."""
    device.DEFAULT.close()
