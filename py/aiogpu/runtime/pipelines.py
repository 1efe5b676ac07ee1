"""The pipeline cache: one pipeline for each shader text, compiled once however many ask."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from aiogpu.errors import KernelError

if TYPE_CHECKING:
    from aiogpu.errors import KernelLine
    from aiogpu.gpu.protocol import Recorder
    from aiogpu.program import Launch
    from aiogpu.runtime.counters import Counters

MAX_MET: Final = 4096
Key = tuple[str, str, tuple[tuple[str, float], ...], int]


class Pipelines:
    """Pipelines of one device, by shader, entry point and override constants.

    Attributes:
        untried: Those of users' texts that were compiled without a wait, and the first submit that
            uses each, 0 before there is one: nobody knows yet whether they compile.
    """

    def __init__(self, recorder: Recorder, counters: Counters) -> None:
        self._recorder = recorder
        self._counters = counters
        self._ready: dict[Key, int] = {}
        self._refused: dict[Key, str] = {}
        self._flights: dict[Key, asyncio.Future[None]] = {}
        self._origins: dict[int, Launch] = {}  # what was compiled without a wait, of users' texts
        self._next = 0
        self.untried: dict[int, int] = {}
        # The launches of plans that are kept come again and again: by identity, without hashing
        # their texts.
        self._met: dict[int, tuple[Launch, int]] = {}

    def has(self, launch: Launch) -> bool:
        """Whether the pipeline of ``launch`` is there."""
        return id(launch) in self._met or _key(launch) in self._ready

    def ready(self, launch: Launch) -> int | None:
        """The pipeline of ``launch``, or None while it is not compiled.

        Raises:
            KernelError: The shader does not compile.
        """
        key = _key(launch)
        if (said := self._refused.get(key)) is not None:
            # The same text may come from several places of the user's.
            said, line = _explained(launch, said)
            raise KernelError(f"{launch.label}: the shader does not compile: {said}").at(line)
        return self._ready.get(key)

    async def prepare(self, launches: list[Launch]) -> None:
        """Compile, side by side, what is not compiled yet. Refusals are raised by `ready`.

        Raises:
            DeviceLostError: The device was lost meanwhile.
        """
        flights: dict[Key, asyncio.Future[None]] = {}
        for launch in launches:
            key = _key(launch)
            if key in self._ready or key in self._refused or key in flights:
                continue
            flight = self._flights.get(key)
            if flight is None:
                flight = self._flights[key] = asyncio.ensure_future(self._compile(key, launch))
                flight.add_done_callback(_retrieve)
            flights[key] = flight
            del flight
        try:
            while flights:
                # Shielded: another task may wait for the same flight.
                await asyncio.shield(flights.popitem()[1])
        finally:
            flights.clear()  # an error's traceback refers to this frame, and a flight to its error

    def now(self, launch: Launch) -> int:
        """The pipeline of ``launch``, compiled by the form that does not wait where it must be.

        Raises:
            KernelError: The shader is known not to compile.
        """
        met = self._met.get(id(launch))
        if met is not None and met[0] is launch:
            return met[1]
        number = self.ready(launch)
        if number is None:
            number = self._ready[_key(launch)] = self._number()
            if launch.origin is not None:
                self._origins[number] = launch
                self.untried[number] = 0
            self._recorder.compile_now(number, launch)
        if len(self._met) >= MAX_MET:
            self._met.clear()
        self._met[id(launch)] = launch, number
        return number

    def refuse(self, pipeline: int, said: str) -> tuple[str, KernelLine | None]:
        """Note that a pipeline does not compile; what was said to the user, of which line."""
        launch = self._origins.get(pipeline)
        if launch is None:
            return said, None
        self._refused[_key(launch)] = said
        self._met.clear()  # other launches may have the same text
        return _explained(launch, said)

    def _number(self) -> int:
        self._next += 1
        self._counters.pipelines += 1
        return self._next

    async def _compile(self, key: Key, launch: Launch) -> None:
        number = self._number()
        self._counters.proxies += 1
        try:
            said = await self._recorder.compile(number, launch)
        finally:
            self._counters.proxies -= 1
            self._flights.pop(key, None)
        if said:
            self._refused[key] = said
        else:
            self._ready.setdefault(key, number)


def _key(launch: Launch) -> Key:
    return launch.wgsl, launch.entry, launch.constants, launch.writes


def _explained(launch: Launch, said: str) -> tuple[str, KernelLine | None]:
    if launch.origin is None:
        return said, None
    return launch.origin.explain(launch.wgsl, said), launch.origin.blamed(launch.wgsl, said)


def _retrieve(flight: asyncio.Future[None]) -> None:
    """Who waits for a flight sees its error; when nobody does any more, it is no news."""
    if not flight.cancelled():
        flight.exception()
