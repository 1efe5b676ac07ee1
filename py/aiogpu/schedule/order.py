"""The order in which nodes are computed: operands first. Never recursive."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aiogpu.graph.node import Node

serial = attrgetter("serial")  # the order of making


def order(roots: Iterable[Node]) -> list[Node]:
    """``roots`` and all that they stand on, down to what is computed, operands first.

    A node is made after its operands, so the order of making serves.
    """
    stack = list(roots)
    seen = set(stack)
    while stack:
        for operand in stack.pop().inputs:  # what is computed has none
            if operand not in seen:
                seen.add(operand)
                stack.append(operand)
    return sorted(seen, key=serial)
