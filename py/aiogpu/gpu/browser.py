"""The door to JavaScript: WebGPU through Pyodide's foreign function interface.

One of the two modules that import ``js`` and ``pyodide`` (the other is `aiogpu.server.port`), and
the only one that asks what the surroundings offer. Importable on CPython, where it says what is
missing at first use.
"""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from aiogpu.errors import (
    DeviceError,
    DeviceLostError,
    FeatureError,
    LimitError,
    NoAdapterError,
    NoWebGPUError,
    SyncAccessError,
)
from aiogpu.gpu.protocol import Failure
from aiogpu.limits import WEBGPU_NAMES, Limits

try:
    import js
    from pyodide.ffi import JsException, JsProxy, can_run_sync, run_sync, to_js
except ImportError:  # CPython: only the compile half works
    js = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from array import array
    from collections.abc import Awaitable, Callable

    from aiogpu.program import Launch

_FILES: Final = (
    "waiter.js",
    "scopes.js",
    "programs.js",
    "staging.js",
    "surfaces.js",
    "recorder.js",
)
_COMMANDS: Final = 4096  # words of the JS array that takes a batch, at first
_JS_DTYPES: Final = {
    "Int8Array": "int8",
    "Int16Array": "int16",
    "Int32Array": "int32",
    "Uint8Array": "uint8",
    "Uint8ClampedArray": "uint8",
    "Uint16Array": "uint16",
    "Uint32Array": "uint32",
    "Float32Array": "float32",
    # No dtypes of ours: their elements are converted one by one.
    "Float64Array": "float64",
    "BigInt64Array": "int64",
    "BigUint64Array": "uint64",
}
# What the bytes of a dtype are shown as. complex64 is pairs of floats; float16 stays bits, since
# Pyodide (314) refuses to let a Float16Array into Python, in either direction.
_JS_ARRAYS: Final = {
    "int8": "Int8Array",
    "int16": "Int16Array",
    "int32": "Int32Array",
    "uint16": "Uint16Array",
    "uint32": "Uint32Array",
    "float16": "Uint16Array",
    "float32": "Float32Array",
    "complex64": "Float32Array",
}
_F16: Final = "shader-f16"
_SUBGROUPS: Final = "subgroups"
_LOST: Final = "lost:"


@dataclass(frozen=True, slots=True)
class BrowserAdapter:
    """An adapter's data; see `aiogpu.gpu.protocol.AdapterInfo`."""

    vendor: str
    architecture: str
    description: str
    is_fallback: bool
    features: frozenset[str]
    limits: dict[str, int]


def environment() -> dict[str, Any]:
    """What was found here: a plain dict, see `aiogpu.environment`."""
    if js is None:
        return {"host": "cpython", "webgpu": False, "worker": False, "secure": False}
    is_worker = hasattr(js, "WorkerGlobalScope")
    return {
        "host": "browser" if is_worker or hasattr(js, "document") else "node",
        "webgpu": _gpu() is not None,
        "worker": is_worker,
        "secure": bool(getattr(js, "isSecureContext", False)),
        "cross_origin_isolated": bool(getattr(js, "crossOriginIsolated", False)),
        "run_sync": bool(can_run_sync()),
        "offscreen_canvas": hasattr(js, "OffscreenCanvas"),
        "user_agent": str(js.navigator.userAgent) if hasattr(js, "navigator") else "",
    }


def _gpu() -> Any:  # noqa: ANN401 - navigator.gpu
    return getattr(getattr(js, "navigator", None), "gpu", None) or None


def _require_gpu() -> Any:  # noqa: ANN401 - navigator.gpu
    if js is None:
        raise NoWebGPUError(
            "open_device: CPython: there is no WebGPU outside of a browser; run this in Pyodide: "
            "in a web page, JupyterLite or PyScript"
        )
    gpu = _gpu()
    if gpu is None:
        if not getattr(js, "isSecureContext", True):
            raise NoWebGPUError(
                "open_device: navigator.gpu: missing since this page is not a secure context; "
                "serve it over https or from localhost"
            )
        raise NoWebGPUError(
            "open_device: navigator.gpu: missing; this browser has no WebGPU, or it is turned off: "
            "take Chrome or Edge 113, Firefox 141, Safari 26 or newer, or see chrome://gpu or "
            "dom.webgpu.enabled in about:config"
        )
    return gpu


def _object(data: dict[str, Any]) -> Any:  # noqa: ANN401 - a plain JS object
    return to_js(data, dict_converter=js.Object.fromEntries)


async def request_adapter(power_preference: str | None) -> tuple[BrowserAdapter, Any]:
    """An adapter's data, and the GPUAdapter.

    Raises:
        NoWebGPUError: There is no ``navigator.gpu``.
        NoAdapterError: ``requestAdapter`` gave null.
    """
    gpu = _require_gpu()
    options = {} if power_preference is None else {"powerPreference": power_preference}
    try:
        adapter = await gpu.requestAdapter(_object(options))
    except JsException as error:
        raise NoAdapterError(f"request_adapter: requestAdapter: {error}") from error
    if not adapter:  # JS null arrives as jsnull, which is falsy and is not None
        raise NoAdapterError(
            "request_adapter: requestAdapter gave null: no GPU that this browser is willing to "
            "use; chrome://gpu or about:support says why"
        )
    return _describe(adapter.info, adapter), adapter


def _describe(info: Any, owner: Any) -> BrowserAdapter:  # noqa: ANN401 - GPUAdapterInfo; GPUAdapter or GPUDevice
    vendor, architecture, description = (
        str(getattr(info, name, "") or "") for name in ("vendor", "architecture", "description")
    )
    flag = getattr(info, "isFallbackAdapter", None)
    software = ("swiftshader", "llvmpipe", "lavapipe", "basic render")
    named = f"{vendor} {architecture} {description}".lower()
    return BrowserAdapter(
        vendor=vendor,
        architecture=architecture,
        description=description,
        is_fallback=bool(flag) or any(name in named for name in software),
        features=frozenset(str(name) for name in owner.features.keys()),  # noqa: SIM118 - a JS set, not a dict
        limits={
            **{name: int(getattr(owner.limits, name)) for name in WEBGPU_NAMES.values()},
            "maxImmediateSize": int(getattr(owner.limits, "maxImmediateSize", 0) or 0),
        },
    )


async def request_device(
    adapter: Any,  # noqa: ANN401 - a GPUAdapter
    features: list[str],
    limits: dict[str, int],
) -> tuple[BrowserRecorder, Limits, Any]:
    """A device of ``adapter``, what it allows, and the GPUDevice.

    Raises:
        FeatureError: The adapter lacks one of ``features``.
        LimitError: The adapter does not allow one of ``limits``.
        DeviceError: The browser refused for another reason.
    """
    have = _describe(adapter.info, adapter)
    if missing := [name for name in features if name not in have.features]:
        raise FeatureError(
            f"open_device: features {missing}: the adapter has only {sorted(have.features)}"
        )
    asked_for = {*features, *({_F16, _SUBGROUPS} & have.features)}
    wanted = {**have.limits, **limits}
    for name, asked in limits.items():
        allowed = have.limits.get(name, getattr(adapter.limits, name, None))
        if allowed is None:
            raise LimitError(f"open_device: limits: {name}: no such limit")
        if asked > allowed:
            raise LimitError(f"open_device: limits: {name} {asked}: the adapter allows {allowed}")
    if not wanted["maxImmediateSize"]:
        del wanted["maxImmediateSize"]
    try:
        device = await adapter.requestDevice(
            _object({"requiredFeatures": sorted(asked_for), "requiredLimits": wanted})
        )
    except JsException as error:
        raise DeviceError(f"open_device: requestDevice: {error}") from error
    return (
        await _record(device),
        _limits(device, is_fallback=have.is_fallback),
        device,
    )


async def adopt_device(device: Any) -> tuple[BrowserRecorder, Limits, BrowserAdapter]:  # noqa: ANN401 - a GPUDevice
    """A recorder on a GPUDevice that somebody else opened, and what is known of its adapter."""
    info = _describe(device.adapterInfo, device)
    recorder = await _record(device)
    return recorder, _limits(device, is_fallback=info.is_fallback), info


def _limits(device: Any, *, is_fallback: bool) -> Limits:  # noqa: ANN401 - a GPUDevice
    values = {ours: int(getattr(device.limits, theirs)) for ours, theirs in WEBGPU_NAMES.items()}
    gpu = _gpu()
    language = getattr(gpu, "wgslLanguageFeatures", None)
    immediate = language is not None and language.has("immediate_address_space")
    allowed = int(getattr(device.limits, "maxImmediateSize", 0) or 0)
    return Limits(
        **values,
        immediate_nbytes=min(allowed, 64) if immediate else 0,
        is_fallback=is_fallback,
        has_f16=bool(device.features.has(_F16)),
        has_subgroups=bool(device.features.has(_SUBGROUPS)),
    )


async def _record(device: Any) -> BrowserRecorder:  # noqa: ANN401 - a GPUDevice
    try:  # our worker.js registers the files as one module
        parts = importlib.import_module("_aiogpu_recorder")
    except ImportError:
        modules = [await _import(name) for name in _FILES]
        parts = js.Object.assign(js.Object.new(), *modules)
    return BrowserRecorder(parts.assemble(device, _gpu(), parts))


async def _import(name: str) -> Any:  # noqa: ANN401 - a JS module
    """Import one of our JS files, which the wheel carries, from a blob URL; in Node a data URL."""
    from pyodide.code import run_js

    load = run_js("(url) => import(url)")
    text = resources.files("aiogpu.gpu").joinpath(name).read_text(encoding="utf-8")
    if environment()["host"] == "node":  # which imports no blobs (20)
        return await load(f"data:text/javascript,{quote(text)}")
    blob = js.Blob.new(to_js([text]), _object({"type": "text/javascript"}))
    url = js.URL.createObjectURL(blob)
    try:
        return await load(url)
    finally:
        js.URL.revokeObjectURL(url)


def allows_run_sync() -> bool:
    """Whether a wait may suspend the Python stack here and now (JSPI)."""
    return js is not None and bool(can_run_sync())


def wait_sync(start: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ANN401 - the awaitable's value
    """The value of what ``start`` gives; suspends this Python stack while the event loop runs on.

    Raises:
        SyncAccessError: Stack switching is not available here.
    """
    if not allows_run_sync():
        raise SyncAccessError(
            "sync_reads: stacks cannot be switched in this browser or this call; use await"
        )
    # Not through the promise: on the way -0.0 would become the integer 0.
    given: list[Any] = []

    async def keep() -> None:
        given.append(await start())

    run_sync(keep())
    return given[0]


def capture(given: object) -> tuple[Any, str, int] | None:
    """A copy of a JS typed array, its dtype's name and its length; None for all else."""
    if js is None or not isinstance(given, JsProxy):
        return None
    name = str(getattr(getattr(given, "constructor", None), "name", ""))
    if name == "ArrayBuffer":
        copied = js.Uint8Array.new(given).slice()
        return copied, "uint8", int(copied.length)
    if name not in _JS_DTYPES:
        return None
    copied = given.slice()
    return copied, _JS_DTYPES[name], int(copied.length)


class BrowserRecorder:
    """`aiogpu.gpu.protocol.Recorder` through recorder.js: one call into JavaScript each."""

    def __init__(self, recorder: Any) -> None:  # noqa: ANN401 - a JS object
        self._js = recorder
        self._waiter = recorder.waiter
        self._commands = recorder.commands
        self._zeros = bytes(4 * _COMMANDS)
        # Bound once: every attribute access on a JS object makes a proxy (1.3 to 3 µs).
        self._create, self._destroy = recorder.createBuffer, recorder.destroyBuffer
        self._write, self._submit = recorder.write, recorder.submit
        self._wait, self._drain = recorder.wait, recorder.drain
        self._turn = recorder.waiter.turn
        staging = recorder.staging
        self._view, self._release = staging.view, staging.release
        self._copy_out = recorder.copyOut
        self._attach = recorder.surfaces.attach
        self.crossings = 0

    def create_buffer(self, buffer: int, nbytes: int) -> None:
        """Make a storage buffer."""
        self.crossings += 1
        self._create(buffer, nbytes)

    def destroy_buffer(self, buffer: int) -> None:
        """Give a buffer's memory back once the work that uses it is done."""
        self.crossings += 1
        self._destroy(buffer)

    def write(self, buffer: int, offset: int, data: Any, start: int, nbytes: int) -> None:  # noqa: ANN401 - see protocol
        """Copy bytes into a buffer."""
        self.crossings += 1
        self._write(buffer, offset, data, start, nbytes)

    async def compile(self, pipeline: int, launch: Launch) -> str:
        """Compile a launch's pipeline. Gives "" or what the compiler said."""
        return str(await self._guard(self._compile(pipeline, launch, now=False)))

    def compile_now(self, pipeline: int, launch: Launch) -> None:
        """The same without waiting."""
        self._compile(pipeline, launch, now=True)

    def _compile(self, pipeline: int, launch: Launch, *, now: bool) -> Any:  # noqa: ANN401 - a promise
        self.crossings += 1
        return self._js.programs.compile(
            pipeline,
            launch.wgsl,
            launch.entry,
            launch.label,
            len(launch.bindings),
            launch.writes,
            launch.param_space,
            json.dumps(dict(launch.constants)),
            now,
        )

    def submit(self, words: array[int]) -> int:
        """Encode and submit commands as one submit. Gives the status."""
        self.crossings += 2
        count = len(words)
        if 4 * count > len(self._zeros):
            self.crossings += 1
            self._commands = self._js.reserve(count)
            self._zeros = bytes(4 * self._commands.length)
        # assign() takes only as many bytes as the array has; a cheap memcpy beats a new proxy.
        words.frombytes(self._zeros[4 * count :])
        self._commands.assign(words)
        return int(self._submit(count))

    async def wait(self, read: int) -> int:
        """Resolve when the bytes of a READ are there, or something failed."""
        self.crossings += 1
        return int(await self._guard(self._wait(read)))

    def fetch_into(self, read: int, target: memoryview) -> None:
        """Copy a finished read's bytes to host memory."""
        self.crossings += 2
        self._view(read).assign_to(target)

    def new_js(self, nbytes: int) -> Any:  # noqa: ANN401 - a JS Uint8Array
        """A new JS array of bytes."""
        self.crossings += 1
        return js.Uint8Array.new(nbytes)

    def fetch_into_js(self, read: int, target: Any, offset: int, nbytes: int) -> None:  # noqa: ANN401 - a JS Uint8Array
        """Copy the first bytes of a finished read to ``offset`` in a JS array."""
        self.crossings += 1
        self._copy_out(read, target, offset, nbytes)

    def typed_js(self, target: Any, dtype: str) -> Any:  # noqa: ANN401 - a JS typed array
        """The bytes of a JS array as the typed array of a dtype."""
        self.crossings += 1
        name = _JS_ARRAYS.get(dtype)
        return target if name is None else getattr(js, name).new(target.buffer)

    def release(self, read: int) -> None:
        """Give a read's staging buffer back, finished or not."""
        self.crossings += 1
        self._release(read)

    async def turn(self) -> None:
        """Give the event loop a turn, timers included.

        Not by ``asyncio.sleep(0)``: in Pyodide 314 that comes back before timers that are due, and
        in a loop of 8 ms of work each they came 170 ms late; by setTimeout 20 ms.
        """
        self.crossings += 1
        await self._turn()

    async def drain(self, most: int) -> int:
        """Resolve when at most ``most`` submits are unfinished."""
        self.crossings += 1
        return int(await self._guard(self._drain(most)))

    def failures(self) -> list[Failure]:
        """What failed since the last call."""
        self.crossings += 1
        return [Failure(**failure) for failure in json.loads(self._js.failures())]

    def attach(self, surface: int, canvas: Any) -> str:  # noqa: ANN401 - a JS canvas
        """Take a canvas for drawing. Gives "" or why not."""
        self.crossings += 1
        return str(self._attach(surface, canvas))

    def lost_reason(self) -> str | None:
        """Why the device was lost, or None."""
        reason = self._waiter.lost
        return str(reason) if isinstance(reason, str) else None

    def destroy(self) -> None:
        """Destroy the device."""
        self._js.destroy()

    async def _guard(self, promise: Any) -> Any:  # noqa: ANN401 - a JS promise and its value
        """The value of a promise that passed the guard of waiter.js."""
        try:
            return await promise
        except JsException as error:
            message = str(error.message)
            if message.startswith(_LOST):
                raise DeviceLostError(f"device lost: {message.removeprefix(_LOST)}") from None
            raise DeviceError(message) from error
