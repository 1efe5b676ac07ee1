"""Draws calls of a row, makes all of them by one read, compares, and shrinks what is wrong.

Awaiting does not go together with Hypothesis's own loop. So calls are drawn first, as plain data,
and read together. Only where one is wrong is Hypothesis's loop run, each call read by itself while
Python is suspended, to find the smallest.
"""

import contextlib
import time

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import FlakyFailure
from rows import each
from table import TABLE
from verdict import RefusedError, Together, UndecidedError, complaint

import aiogpu as gpu

PATIENCE_S = 30
QUIET = settings(
    deadline=None, database=None, suppress_health_check=list(HealthCheck),
    report_multiple_bugs=False,
)  # fmt: skip


def drawn(row, count, start):
    """So many calls of a row; the same ones for the same start."""
    calls = []

    @seed(start)
    @settings(QUIET, max_examples=count, phases=[Phase.generate])
    @given(row.calls)
    def collect(call):
        calls.append(call)

    collect()
    return calls


class Trial:
    """One call: the arrays that it gives, still to be read, and what they must be."""

    def __init__(self, row, call):
        args, kwargs = call
        self.call = call
        self.said = ""
        self.arrays = []
        self.wanted = []
        self.is_decided = True  # whether the reference says anything
        try:
            wanted = self._reference(row, args, kwargs)
        except UndecidedError:
            self.is_decided = False
            return
        except RefusedError as refused:
            self.said = self._refusal(row, args, kwargs, refused.kind)
            return
        self.wanted = wanted if isinstance(wanted, list) else [wanted]
        nreads = gpu.counters()["reads"]
        try:
            made = self._made(row, args, kwargs)
        except Exception as error:  # noqa: BLE001 - whatever is raised is what is wrong
            self.said = f"raises {type(error).__name__}: {error}"
            self.wanted = []
            return
        if gpu.counters()["reads"] != nreads:
            self.said = "reads from the GPU, unasked"
        self.arrays = list(made) if isinstance(made, list | tuple) else [made]

    def _reference(self, row, args, kwargs):
        with np.errstate(all="ignore"):
            return row.reference(
                *each(args, lambda x: x.host.copy()), **each(kwargs, lambda x: x.host.copy())
            )

    def _made(self, row, args, kwargs):
        return row.function(*each(args, lambda x: x.array()), **each(kwargs, lambda x: x.array()))

    def _refusal(self, row, args, kwargs, kind):
        try:
            self._made(row, args, kwargs)
        except kind:
            return ""
        except Exception as error:  # noqa: BLE001 - as above
            return f"raises {type(error).__name__}: {error}; not {kind.__name__}"
        return f"is not refused with {kind.__name__}"

    def judge(self, reads):
        """What is wrong with what was read."""
        wanted = self.wanted
        if len(wanted) == 1 and isinstance(wanted[0], Together):
            if len(reads) != wanted[0].count:
                return f"{len(reads)} results, not {wanted[0].count}"
            return wanted[0].judge(*reads)
        if len(reads) != len(wanted):
            return f"{len(reads)} results, not {len(wanted)}"
        with np.errstate(all="ignore"):
            said = [complaint(one, two) for one, two in zip(wanted, reads, strict=True)]
        return "; ".join(filter(None, said))


async def read(trials):
    """What is wrong with each trial."""
    pending = [array for trial in trials for array in trial.arrays if isinstance(array, gpu.Array)]
    try:
        reads = iter(await gpu.read(*pending))
    except gpu.errors.AioGpuError as error:
        if len(trials) == 1:
            return [f"reading raises {type(error).__name__}: {error}"]
        return [said for trial in trials for said in await read([trial])]
    found = []
    for trial in trials:
        got = [next(reads) if isinstance(array, gpu.Array) else array for array in trial.arrays]
        found.append(trial.said or (trial.judge(got) if trial.wanted else ""))
    return found


def shown(call):
    args, kwargs = call
    return ", ".join([*map(repr, args), *(f"{name}={value!r}" for name, value in kwargs.items())])


def smallest(row, count, start):
    """The smallest wrong call that Hypothesis finds, and what is wrong with it."""
    from pyodide.ffi import run_sync

    last = []
    end = time.monotonic() + PATIENCE_S

    @seed(start)
    @settings(QUIET, max_examples=count, phases=[Phase.generate, Phase.shrink])
    @given(row.calls)
    def test(call):
        if time.monotonic() > end:
            return  # what was found last is small enough
        (said,) = run_sync(read([Trial(row, call)]))
        if said:
            last[:] = [call, said]
            raise AssertionError(said.split(":")[0][:9])

    with contextlib.suppress(AssertionError, FlakyFailure):
        test()
    return tuple(last) or None


def can_suspend():
    """Whether Python can wait here, for `smallest`."""
    from pyodide.ffi import can_run_sync

    return can_run_sync()


async def check(name, count, start=0):
    """What is wrong with a function, as a text; and how many calls were decided."""
    row = TABLE[name]
    calls = drawn(row, count, start)
    trials = [Trial(row, call) for call in calls]
    found = await read(trials)
    decided = sum(trial.is_decided for trial in trials)
    wrong = [(call, said) for call, said in zip(calls, found, strict=True) if said]
    if not wrong:
        return "", decided
    if can_suspend() and (least := smallest(row, count, start)) is not None:
        wrong[0] = least
    call, said = wrong[0]
    return f"{name}, {len(wrong)} of {count}: {name}({shown(call)}): {said}", decided


async def facts():
    """The adapter and the environment, for a page's report."""
    return await gpu.report()


def names():
    """All functions of the table."""
    return list(TABLE)
