"""One device of one interpreter: everything that stands on it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from aiogpu.errors import DeviceLostError, HandleError
from aiogpu.runtime.counters import Counters
from aiogpu.runtime.faults import Faults
from aiogpu.runtime.pipelines import Pipelines
from aiogpu.runtime.pool import Buffer, Pool
from aiogpu.runtime.scopes import Ledger
from aiogpu.runtime.stream import Stream
from aiogpu.runtime.transfer import Transfer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from aiogpu.gpu.protocol import AdapterInfo, Recorder
    from aiogpu.limits import Limits
    from aiogpu.program import Launch
    from aiogpu.runtime.scopes import Made


class Runtime:
    """Owns one device, one buffer table, one stream, one pipeline cache.

    Attributes:
        recorder: The device.
        adapter: What its adapter says of itself.
        limits: What shaders and launches must keep to.
        lock: Held while a plan is being recorded, so that plans do not mix.
    """

    def __init__(
        self,
        recorder: Recorder,
        limits: Limits,
        adapter: AdapterInfo,
        memory_limit: int | None = None,
    ) -> None:
        self.recorder = recorder
        self.limits = limits
        self.adapter = adapter
        self.counters = Counters()
        self.pool = Pool(recorder, limits, self.counters, memory_limit)
        self.pipelines = Pipelines(recorder, self.counters)
        self.ledger = Ledger(self.pool, self.pipelines.refuse)
        self.stream = Stream(recorder, limits, self.counters, self.ledger)
        self.transfer = Transfer(recorder, self.pool, self.stream, self.counters)
        self.lock = asyncio.Lock()
        self.faults = Faults(recorder, self.pool, self.stream)
        self.surfaces = 0

    @property
    def lost_reason(self) -> str | None:
        """Why the device was lost, or None."""
        return self.recorder.lost_reason()

    def check_alive(self) -> None:
        """Raise DeviceLostError when the device is known to be lost."""
        if self.stream.is_lost:
            raise DeviceLostError(f"device lost: {self.lost_reason}")

    def check_owner(self, buffer: Buffer, operation: str) -> None:
        """Raise when ``buffer`` belongs to another device, or its bytes are spoiled.

        Raises:
            DeviceLostError: Its device was lost.
            HandleError: Its device is another one.
        """
        if buffer.error is not None:
            raise buffer.error
        if buffer.pool is not self.pool:
            if (reason := buffer.pool.lost_reason) is not None:
                raise DeviceLostError(
                    f"{operation}: the array was on a device that was lost: {reason}"
                )
            raise HandleError(f"{operation}: a buffer of another device")

    def launch(
        self, launch: Launch, params: tuple[int, ...], buffers: Sequence[Buffer], made: Made
    ) -> Iterable[None]:
        """Record a launch.

        Args:
            launch: The launch; its pipeline is compiled by the form that does not wait, if it is
                not there.
            params: Its parameters.
            buffers: What it binds.
            made: Where in the user's code it was made.

        Returns:
            To be iterated to the end: the submits that it fills, each after it went out, so that
            the caller can wait where too many are in flight.
        """
        pipeline = self.pipelines.now(launch)
        stream = self.stream
        is_trusted = launch.is_checked and not self._is_untried(pipeline)
        if is_trusted and isinstance(launch.groups, int) and stream.has_room(launch):
            stream.dispatch(pipeline, launch, params, buffers, None, made)
            if not stream.is_full:
                return ()
            stream.flush()
            return (None,)
        return self._pieces(pipeline, launch, params, buffers, made, is_trusted=is_trusted)

    def _is_untried(self, pipeline: int) -> bool:
        """Whether a pipeline of a user's text may not compile, and would void its submit."""
        untried = self.pipelines.untried
        if pipeline not in untried:
            return False
        first = untried[pipeline]
        if 0 < first <= self.stream.serial - self.stream.unfinished:
            del untried[pipeline]
            return False
        if not first:
            untried[pipeline] = self.stream.serial + 2  # `flush` now, and after it
        return True

    def _pieces(
        self,
        pipeline: int,
        launch: Launch,
        params: tuple[int, ...],
        buffers: Sequence[Buffer],
        made: Made,
        *,
        is_trusted: bool,
    ) -> Iterator[None]:
        stream = self.stream
        if not is_trusted:
            stream.flush()
        for piece in stream.pieces(launch):
            stream.dispatch(pipeline, launch, params, buffers, piece, made)
            if stream.is_full or not is_trusted:
                stream.flush()
                yield

    def memory(self) -> dict[str, int]:
        """See `aiogpu.memory`."""
        return self.pool.memory()

    def counts(self) -> dict[str, int]:
        """See `aiogpu.counters`."""
        self.counters.crossings = self.recorder.crossings
        return self.counters.as_dict()

    def attach(self, canvas: Any) -> tuple[int, str]:  # noqa: ANN401 - a JS canvas
        """Take a canvas for drawing: its number, and "" or why not."""
        self.surfaces += 1
        return self.surfaces, self.recorder.attach(self.surfaces, canvas)
