"""Canvases: arrays on the screen, without a read."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from aiogpu import dtypes, evaluate, picture
from aiogpu.errors import AioGpuError, DeviceError, UsageError
from aiogpu.notebook import Output
from aiogpu.runtime.pool import Buffer

if TYPE_CHECKING:
    from aiogpu.array import Array
    from aiogpu.graph.node import Node
    from aiogpu.runtime.runtime import Runtime

_CHANNELS = {
    1: 0,
    3: 2,
    4: 4,
}  # what surfaces.js calls grey, RGB and RGBA of float32; of uint8 one more


class Canvas:
    """A canvas that shows arrays: an OffscreenCanvas in a worker, or a canvas of the page.

    Where it is the last expression of a notebook's cell, the cell shows it too, and follows it.

    Args:
        canvas: The JavaScript canvas. It must not have a context of another kind. None makes one
            for notebooks only, and for `png`.
    """

    def __init__(self, canvas: Any = None) -> None:  # noqa: ANN401 - a JS canvas
        self._canvas = canvas
        self._output: Output | None = None
        self._attached: tuple[Runtime, int] | None = None
        self._latest: tuple[Node, int, int, int] | None = None
        self._drawing: asyncio.Task[None] | None = None
        self._shown: Array | None = None

    def show(self, x: Array) -> None:
        """Draw ``x``; returns at once, and the drawing follows the computing of ``x`` on the GPU.

        The canvas takes the size of the array. Only the latest array is drawn when several are
        shown before one could be. An error is raised by the next `synchronize`.

        Args:
            x: Shape ``(h, w)`` for grey, ``(h, w, 3)`` or ``(h, w, 4)`` for colours (alpha is
                ignored); float32 from 0 to 1, or uint8.

        Raises:
            UsageError: Another shape or dtype, or no event loop is running.
        """
        channels = _CHANNELS[picture.check(x.shape, x.dtype, "show")]
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise UsageError("show: no event loop is running; call it from a coroutine") from None
        self._drop()
        self._shown = x
        x._node.hold()
        self._latest = x._node, x.shape[1], x.shape[0], channels + (x.dtype is dtypes.uint8)
        if self._drawing is None:
            self._drawing = loop.create_task(self._draw())
            SURFACES.drawing.add(self._drawing)

    @property
    def shown(self) -> Array | None:
        """The array that was shown last, or None."""
        return self._shown

    async def png(self) -> picture.Picture:
        """What is shown, as the bytes of a PNG file; a notebook shows them as an image.

        Raises:
            UsageError: Nothing was shown yet.
            AioGpuError: The work that makes the array failed.
        """
        if self._shown is None:
            raise UsageError("png: nothing was shown on this canvas yet: show(x) first")
        return await picture.read(self._shown._node)

    def _ipython_display_(self) -> None:
        self._output = Output({"text/plain": "<aiogpu.Canvas: nothing is shown on it yet>"})
        if self._shown is not None:
            self.show(self._shown)

    def _drop(self) -> None:
        """Let go of the array that was shown last."""
        if self._latest is not None:
            self._latest[0].release()
            self._latest = None

    async def _draw(self) -> None:
        try:
            while self._latest is not None:
                node, width, height, form = self._latest
                self._latest = None
                try:
                    await self._present(node, width, height, form)
                finally:
                    node.release()
        finally:
            if self._drawing is not None:
                SURFACES.drawing.discard(self._drawing)
            self._drawing = None

    async def _present(self, node: Node, width: int, height: int, form: int) -> None:
        runtime = await evaluate.DEFAULT.open()
        try:
            await evaluate.DEFAULT.finish([node])
            if self._output is not None:
                made = await picture.read(node)
                self._output.update({"image/png": bytes(made), "text/plain": repr(made)})
            if self._canvas is None:
                return
            number = self._attach(runtime)
            assert isinstance(node.value, Buffer)
            runtime.check_owner(node.value, "show")
            runtime.stream.draw(number, node.value, width, height, form)
            runtime.stream.flush()
        except AioGpuError as error:
            runtime.ledger.report(error)

    def _attach(self, runtime: Runtime) -> int:
        if self._attached is None or self._attached[0] is not runtime:
            number, refusal = runtime.attach(self._canvas)
            if refusal:
                raise DeviceError(f"show: {refusal}")
            runtime.stream.set_pace("interactive")
            self._attached = runtime, number
        return self._attached[1]


class Surfaces:
    """The canvases that have names, and the drawing that is under way."""

    def __init__(self) -> None:
        self.named: dict[str, Canvas] = {}
        self.drawing: set[asyncio.Task[None]] = set()

    async def settle(self) -> None:
        """Resolve once everything that was shown is drawn, or has failed."""
        while self.drawing:
            await asyncio.wait(set(self.drawing))


SURFACES = Surfaces()


def attach(name: str, canvas: Any) -> Canvas:  # noqa: ANN401 - a JS canvas
    """Name a JavaScript canvas, so that `canvas` finds it."""
    SURFACES.named[name] = made = Canvas(canvas)
    return made


def canvas(name: str = "canvas") -> Canvas:
    """The canvas that the page attached under ``name``.

    Raises:
        UsageError: There is none of this name.
    """
    try:
        return SURFACES.named[name]
    except KeyError:
        known = ", ".join(SURFACES.named) or "none"
        raise UsageError(f"canvas: {name!r}: not attached; there are: {known}") from None


async def synchronize() -> None:
    """Resolve when all issued work is done and everything that was shown is drawn.

    Arrays that are still referenced and not computed yet are computed; those that nobody holds
    never run. Cancelling stops the waiting only.

    Raises:
        AioGpuError: The first error that nobody awaited.
        DeviceLostError: The device was lost.
    """
    await SURFACES.settle()
    await evaluate.DEFAULT.synchronize()
