"""Looking at what would run, and running it one operation a launch."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from aiogpu import evaluate
from aiogpu.schedule.step import Apply, Cast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiogpu.array import Array
    from aiogpu.schedule.step import Code


@contextmanager
def eager() -> Iterator[None]:
    """Evaluate without fusion within the block: one operation, one launch. For finding bugs."""
    token = evaluate.EAGER.set(True)
    try:
        yield
    finally:
        evaluate.EAGER.reset(token)


def explain(*arrays: Array) -> str:
    """The steps that ``arrays`` would take: a line each, with the operations that it fuses."""
    lines = []
    for number, step in enumerate(evaluate.DEFAULT.plan([x._node for x in arrays])):
        core = step.core.op.name
        before, after = _names(step.body), _names(step.finish)
        if step.family == "elementwise":
            what = f"{core} of {' '.join(before)}" if before != [core] else core
        else:
            what = f"{core}{' of ' if before else ''}{' '.join(before)}"
            what += f", then {' '.join(after)}" if after else ""
        lines.append(
            f"{number}: {what} -> {step.node.shape} {step.node.dtype.name}, "
            f"{len(step.inputs)} inputs"
        )
    return "\n".join(lines)


def _names(code: Code | None) -> list[str]:
    """The operations of a code, in order."""
    return [
        instr.op.name if isinstance(instr, Apply) else "astype"
        for instr in (code.instrs if code is not None else ())
        if isinstance(instr, (Apply, Cast))
    ]
