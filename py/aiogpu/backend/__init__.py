"""The low-level backend: integer handles, explicit sizes, no arrays; for porting numerical engines.

A handle names some bytes; a method makes the next version of them. It is a thin layer on the graph:
what a method enqueues is a node over views of the handles' versions, by the same kernels, the same
stream and the same buffers as arrays. So an operand may be an output too, whoever holds an older
version keeps it, and a store happens in place when nobody does.

float32 unless said; row-major; strides and leading dimensions in elements, sizes and offsets in
bytes. Every argument is checked at the call. Only the methods that are ``async`` wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiogpu import device as devices
from aiogpu import dtypes, surface
from aiogpu.array import Array
from aiogpu.backend.elements import BINARY, REDUCTIONS, UNARY, Elements
from aiogpu.backend.handles import count, known
from aiogpu.backend.linear import PRECISIONS, Linear
from aiogpu.backend.memory import Memory
from aiogpu.backend.networks import Networks
from aiogpu.errors import UsageError
from aiogpu.graph import build, table
from aiogpu.kernels import matmul
from aiogpu.shapes import View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiogpu.device import Adapter, Device

__all__ = ["BINARY", "PRECISIONS", "REDUCTIONS", "UNARY", "Backend"]


class Backend(Memory, Linear, Networks, Elements):
    """The 24 methods of a compute backend, on the default runtime; see the module for the rules."""

    _made: Backend | None = None

    def __init__(self, opened: Device) -> None:
        super().__init__()
        self._device = opened
        self._canvas: surface.Canvas | None = None

    @classmethod
    async def create(cls, device: Device | None = None) -> Backend:
        """The backend of the default device, opened if it is not open yet; always the same one.

        Raises:
            UsageError: ``device`` is not the open device.
            NoWebGPUError: There is no WebGPU here.
            NoAdapterError: There is no adapter.
        """
        opened = await devices.open_device()
        if device is not None and device is not opened:
            raise UsageError("Backend.create: device: is not the device that is open")
        if cls._made is None or cls._made._device is not opened:
            cls._made = cls(opened)
        return cls._made

    @classmethod
    async def init_from_canvas(cls, canvas: Any) -> Backend:  # noqa: ANN401 - a JS canvas
        """The same backend, with a canvas as its output: `present` draws to it."""
        backend = await cls.create()
        backend._canvas = canvas if isinstance(canvas, surface.Canvas) else surface.Canvas(canvas)
        return backend

    @property
    def name(self) -> str:
        """Always ``webgpu``."""
        return "webgpu"

    @property
    def is_initialized(self) -> bool:
        """Whether its device is open; false after a loss."""
        return not self._device.is_lost

    def capabilities(self) -> dict[str, Any]:
        """What the device really has: adapter, features, limits, and what is supported here."""
        adapter, limits = self._device.adapter, self._device.runtime.limits
        return {
            "adapter": {"vendor": adapter.vendor, "architecture": adapter.architecture},
            "is_software": adapter.is_fallback,
            "features": sorted(adapter.features),
            "limits": {
                "max_buffer_nbytes": limits.max_buffer_nbytes,
                "max_binding_nbytes": limits.max_binding_nbytes,
                "max_storage_buffers": limits.max_storage_buffers,
                "max_workgroup_invocations": limits.max_invocations,
                "max_shared_nbytes": limits.max_shared_nbytes,
                "immediate_nbytes": limits.immediate_nbytes,
            },
            "dtypes": [dtype.name for dtype in dtypes.ALL],
            "precisions": ["f32", *PRECISIONS],
            "unary": list(UNARY),
            "binary": list(BINARY),
            "reductions": list(REDUCTIONS),
        }

    async def available_devices(self) -> list[Adapter]:
        """The adapters that the browser gives: two where it tells a fast from a thrifty one."""
        found: list[Adapter] = []
        for preference in ("high-performance", "low-power"):
            adapter = await devices.request_adapter(preference)
            if adapter not in found:
                found.append(adapter)
        return found

    def recommended_tile_for(self, m: int, n: int, k: int) -> tuple[int, int, int]:
        """Rows, columns and depth of the tile that the matrix product of this size uses here."""
        for size in (m, n, k):
            count("recommended_tile_for", size)
        return matmul.tile_for(self._device.runtime.limits)

    async def synchronize(self) -> None:
        """Resolve when all issued work is done; raises the first error that nobody awaited."""
        await surface.synchronize()

    def array(self, handle: int, shape: Sequence[int], dtype: object = None) -> Array:
        """The bytes of a handle, as they are now in the order of issue, as an array.

        Raises:
            HandleError: Unknown or freed.
            UsageError: The bytes do not suffice.
            DTypeError: There is no such dtype.
        """
        kind = dtypes.FLOAT if dtype is None else dtypes.as_dtype(dtype, "array")
        return Array(self._input("array", handle, tuple(shape), kind))

    def handle(self, x: Array) -> int:
        """A new handle for the bytes of an array, which keeps its own value."""
        node = x._node
        if build.view_of(node)[0] is not node or node.op is table.CONSTANT:
            node = build.copy(node)
        words = -(-node.nbytes // 4)
        flat = build.view(node, View((words,), (1,)), dtypes.uint32)
        return self._keep(flat, node.nbytes)

    def present(self, handle: int, width: int, height: int, format: str = "rgba8") -> None:  # noqa: A002
        """Draw a handle's bytes to the canvas of `init_from_canvas`.

        Args:
            handle: Rows from the top.
            width: Pixels of a row.
            height: Rows.
            format: ``rgba8`` or ``gray8`` (bytes), ``rgba32f`` or ``gray32f`` (0 to 1).

        Raises:
            HandleError: Unknown or freed.
            UsageError: No canvas was given, another format, or the bytes do not suffice.
        """
        if self._canvas is None:
            raise UsageError("present: there is no canvas; use Backend.init_from_canvas")
        formats = {
            "rgba8": ((4,), dtypes.uint8), "gray8": ((), dtypes.uint8),
            "rgba32f": ((4,), dtypes.float32), "gray32f": ((), dtypes.float32),
        }  # fmt: skip
        known("present", format, formats)
        channels, dtype = formats[format]
        shape = (count("present", height), count("present", width), *channels)
        self._canvas.show(self.array(handle, shape, dtype))
