"""Looking at what would run, and running it one operation a launch."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from aiogpu import evaluate
from aiogpu.schedule.step import Apply, Cast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiogpu.array import Array


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
        fused = [
            instr.op.name if isinstance(instr, Apply) else "astype"
            for instr in step.body
            if isinstance(instr, (Apply, Cast))
        ]
        name = step.node.op.name
        inner = f" of {' '.join(fused)}" if fused and fused != [name] else ""
        lines.append(
            f"{number}: {name}{inner} -> {step.node.shape} {step.node.dtype.name}, "
            f"{len(step.inputs)} inputs"
        )
    return "\n".join(lines)
