"""Counting what was done, so that claims can be tested."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(slots=True)
class Counters:
    """Since the device was opened.

    Attributes:
        dispatches: Launches issued to the device; a long launch that was cut counts once a piece.
        submits: Submits that carried work.
        crossings: Calls from Python into JavaScript.
        reads: Arrays read back.
        uploads: Arrays or pieces of arrays written to the device.
        pipelines: Pipelines compiled.
        buffers: Buffers made.
        proxies: JavaScript promises that are being awaited.
    """

    dispatches: int = 0
    submits: int = 0
    crossings: int = 0
    reads: int = 0
    uploads: int = 0
    pipelines: int = 0
    buffers: int = 0
    proxies: int = 0

    def as_dict(self) -> dict[str, int]:
        """A plain dict."""
        return asdict(self)
