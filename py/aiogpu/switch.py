"""The switch that lets host conversions wait."""

from __future__ import annotations


class SyncReads:
    """The switch of `sync_reads`: on from the call, or within a ``with`` block."""

    is_on = False

    def __init__(self, *, on: bool) -> None:
        self._before = SyncReads.is_on
        SyncReads.is_on = on

    def __enter__(self) -> None:
        SyncReads.is_on = True

    def __exit__(self, *exc: object) -> None:
        SyncReads.is_on = self._before


def sync_reads(on: bool = True) -> SyncReads:
    """Let ``float(x)``, ``int(x)``, ``bool(x)`` and ``np.asarray(x)`` wait, by switching stacks.

    A switch of the interpreter, not of a task: from the call on, or in ``with gpu.sync_reads():``.
    Where the browser cannot switch stacks (JSPI), the conversions raise SyncAccessError still.
    """
    return SyncReads(on=on)
