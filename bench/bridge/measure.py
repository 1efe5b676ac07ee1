"""What `bench/bridge.html` calls in its worker: as little as can be, and what memory it has."""

import gc

import pyodide_js

import aiogpu as gpu
from aiogpu.server import port


def nothing() -> None:
    """The empty call."""


def echo(data: object) -> object:
    """What came."""
    return data


async def facts() -> dict[str, object]:
    """The adapter and the browser."""
    report = await gpu.report()
    adapter = report["adapter"]
    return {
        "adapter": f"{adapter['vendor']} {adapter['architecture']}: {adapter['kind']}",
        "browser": report["environment"]["user_agent"],
    }


def memory() -> dict[str, int]:
    """What the worker holds: bytes of WebAssembly and of the GPU, and numbers of things."""
    gc.collect()
    (session,) = port._sessions
    on_gpu = gpu.memory()
    return {
        "wasm_bytes": pyodide_js._module.HEAPU8.byteLength,
        "gpu_bytes": on_gpu["in_use"],
        "gpu_buffers": on_gpu["buffers"],
        "python_objects": len(gc.get_objects()),
        "proxies": gpu.counters()["proxies"],
        "handles": len(session._handles),
        "streams": len(session._streams),
        "tasks": len(session._tasks),
    }
