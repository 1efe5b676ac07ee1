"""The order in which uncomputed nodes are computed: operands first. Never recursive."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aiogpu.graph.node import Node


def order(roots: Iterable[Node]) -> list[Node]:
    """All uncomputed nodes that ``roots`` stand on, each after its operands."""
    ordered: list[Node] = []
    seen: set[int] = set()
    stack: list[tuple[Node, bool]] = [(root, False) for root in reversed(list(roots))]
    while stack:
        node, ready = stack.pop()
        if ready:
            ordered.append(node)
            continue
        if node.is_done or id(node) in seen:
            continue
        seen.add(id(node))
        stack.append((node, True))
        stack.extend((operand, False) for operand in reversed(node.inputs) if not operand.is_done)
    return ordered
