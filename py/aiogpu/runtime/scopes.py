"""GPU errors: from what the device reports to the values that they spoil.

The device reports that a submit failed; one bad dispatch voids all of it. So every version that the
submit wrote carries the error, and so does all that later submits computed from it.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from aiogpu.errors import AioGpuError, DeviceError, KernelError, Origin, OutOfMemoryError

if TYPE_CHECKING:
    import weakref
    from collections.abc import Callable
    from types import CodeType

    from aiogpu.errors import KernelLine
    from aiogpu.gpu.protocol import Failure
    from aiogpu.runtime.pool import Buffer, Pool

    Refusal = tuple[str, KernelLine | None]  # what was said of the user's text, and of which line

Made = tuple["CodeType", int] | None  # where in the user's code: the fields of an `Origin`


class Work(NamedTuple):
    """One command of a submit: who reads and writes what."""

    label: str
    made: Made
    pipeline: int
    reads: tuple[int, ...]  # serials
    writes: tuple[weakref.ref[Buffer], ...]
    written: tuple[int, ...]  # serials


class Ledger:
    """Which work is not known to have succeeded, and which errors nobody has seen."""

    def __init__(self, pool: Pool, refuse: Callable[[int, str], Refusal]) -> None:
        """``refuse`` is told what does not compile, and says what that means to the user."""
        self._pool = pool
        self._refuse = refuse
        self._submits: deque[tuple[int, list[tuple[Any, ...]]]] = deque()
        self._pipelines: dict[int, Refusal] = {}
        self._unseen: list[AioGpuError] = []

    def submitted(self, serial: int, works: list[tuple[Any, ...]]) -> None:
        """Remember a submit, whose works are tuples of the fields, until it has succeeded."""
        self._submits.append((serial, works))

    def confirm(self, serial: int) -> None:
        """Forget the submits up to ``serial``."""
        while self._submits and self._submits[0][0] <= serial:
            self._submits.popleft()

    def blame(self, failures: list[Failure]) -> None:
        """Put the failures on the values that they spoil."""
        # What explains comes before what follows from it.
        order = {"buffer": 0, "pipeline": 1, "write": 2, "submit": 3, "draw": 4, "uncaptured": 5}
        for failure in sorted(failures, key=lambda f: order.get(f.kind, 9)):
            if failure.kind in {"buffer", "write"}:
                self._spoil_buffer(failure)
            elif failure.kind == "pipeline":
                self._pipelines[failure.id] = self._refuse(failure.id, failure.message)
            elif failure.kind == "submit":
                self._spoil_submit(failure)
            else:
                self._unseen.append(DeviceError(f"{failure.kind}: {failure.message}"))

    def _spoil_buffer(self, failure: Failure) -> None:
        holder = self._pool.holder(failure.id)
        error = _error(failure, "allocate" if failure.kind == "buffer" else "upload")
        if holder is not None:
            holder.error = holder.error or error
        self._unseen.append(error)

    def _spoil_submit(self, failure: Failure) -> None:
        spoiled: dict[int, AioGpuError] = {}
        for serial, tuples in self._submits:
            works = [Work(*each) for each in tuples]
            if serial == failure.id:
                cause = _cause(works, self._pipelines)
                for work in works:
                    if (error := cause) is None:
                        text = f" (line {Origin(*work.made)})" if work.made else ""
                        error = _error(failure, f"{work.label}{text}")
                    spoiled.update(dict.fromkeys(work.written, error))
                    _mark(work, error)
                self._unseen.extend({id(e): e for e in spoiled.values()}.values())
            elif serial > failure.id:
                for work in works:
                    source = next((s for s in work.reads if s in spoiled), None)
                    if source is not None:
                        spoiled.update(dict.fromkeys(work.written, spoiled[source]))
                        _mark(work, spoiled[source])

    def report(self, error: AioGpuError) -> None:
        """Keep an error that belongs to no value until somebody synchronizes."""
        self._unseen.append(error)

    def seen(self, error: BaseException) -> None:
        """Somebody awaited ``error``."""
        self._unseen = [e for e in self._unseen if e is not error]

    def take_unseen(self) -> AioGpuError | None:
        """The first error that nobody awaited, with all others forgotten."""
        unseen, self._unseen = self._unseen, []
        return unseen[0] if unseen else None


def _cause(works: list[Work], pipelines: dict[int, Refusal]) -> AioGpuError | None:
    """What explains the failure of a submit better than the submit's own error."""
    for work in works:
        if (refusal := pipelines.get(work.pipeline)) is not None:
            said, line = refusal
            return KernelError(f"{work.label}: the shader does not compile: {said}").at(line)
        for reference in work.writes:
            buffer = reference()
            if buffer is not None and isinstance(buffer.error, AioGpuError):
                return buffer.error
    return None


def _mark(work: Work, error: AioGpuError) -> None:
    for reference in work.writes:
        buffer = reference()
        if buffer is not None:
            buffer.error = buffer.error or error


def _error(failure: Failure, operation: str) -> AioGpuError:
    if failure.type == "GPUOutOfMemoryError":
        return OutOfMemoryError(f"{operation}: the device is out of memory: {failure.message}")
    if failure.kind == "submit":
        return KernelError(f"{operation}: the device refused the submit: {failure.message}")
    return DeviceError(f"{operation}: {failure.message}")
