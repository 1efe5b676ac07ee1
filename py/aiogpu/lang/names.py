"""How the names of a function get their values, as its text shows it."""

from __future__ import annotations

import ast
from collections import Counter

Definition = ast.FunctionDef | ast.Lambda


def count_stores(definition: Definition) -> dict[str, int]:
    """How often each name of a function gets a value; what is changed in place counts twice."""
    counts: Counter[str] = Counter()
    body = definition.body if isinstance(definition, ast.FunctionDef) else []
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                counts[node.id] += 1
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                counts[node.target.id] += 1
            elif isinstance(node, ast.For) and not _is_unrolled(node):
                for each in ast.walk(node.target):
                    if isinstance(each, ast.Name):
                        counts[each.id] += 1
    return dict(counts)


def _is_unrolled(node: ast.For) -> bool:
    called = node.iter
    if not isinstance(called, ast.Call):
        return True
    return not (isinstance(called.func, ast.Name) and called.func.id == "range")


def own_counters(definition: Definition) -> frozenset[str]:
    """The names that only loops over ranges set, and that are read only inside of these loops.

    What two loops call by one name are two variables then.
    """
    if isinstance(definition, ast.Lambda):
        return frozenset()
    nodes = [node for statement in definition.body for node in ast.walk(statement)]
    loops: dict[str, list[ast.For]] = {}
    for node in nodes:
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            loops.setdefault(node.target.id, []).append(node)
    uses = Counter(
        (node.id, isinstance(node.ctx, ast.Store)) for node in nodes if isinstance(node, ast.Name)
    )
    given = {arg.arg for arg in ast.walk(definition.args) if isinstance(arg, ast.arg)}
    return frozenset(
        name
        for name, found in loops.items()
        if name not in given
        and uses[name, True] == len(found)
        and not any(map(_is_unrolled, found))
        and uses[name, False] == sum(_reads(name, loop) for loop in found)
        and not any(_holds(name, loop) for loop in found)
    )


def _inside(loop: ast.For) -> list[ast.AST]:
    return [node for statement in loop.body for node in ast.walk(statement)]


def _reads(name: str, loop: ast.For) -> int:
    """How often a loop's body reads a name."""
    return sum(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        for node in _inside(loop)
    )


def _holds(name: str, loop: ast.For) -> bool:
    """Whether a loop is in the body that sets the same name."""
    return any(
        isinstance(node, ast.For) and isinstance(node.target, ast.Name) and node.target.id == name
        for node in _inside(loop)
    )
