"""What conditions say about indices: behind ``if i < len(x)`` no check of ``x[i]`` is needed.

A fact is ``a <= b + k``, where ``a`` and ``b`` are variables that never change, sizes of arrays, or
`ZERO`. Only forms in which no 32-bit addition can wrap become facts: a bare variable on one side, a
bare variable or a size less a small number on the other.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Final

from aiogpu.lang import tree
from aiogpu.lang.intervals import interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from aiogpu.lang.tree import Expr, Local, Memory

ZERO: Final = "zero"
SMALL: Final = 1 << 20
Base = object
Facts = dict[tuple[Base, Base], int]  # (a, b): the least k known, in a <= b + k

_OPPOSITE: Final = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}


class Linear:
    """Sums of a base and a number, seen through variables that are set once.

    Attributes:
        constant: Whether a variable never changes after it is set.
        values: What such variables are set to, as far as that is one expression.
        workgroup: The workgroup's sizes, the fastest last.
    """

    def __init__(
        self,
        constant: Callable[[Local], bool],
        values: Mapping[Local, Expr],
        workgroup: tuple[int, ...] = (),
    ) -> None:
        self._constant = constant
        self._values = values
        self._workgroup = workgroup

    def base(self, expr: Expr) -> tuple[Base, int] | None:
        """The base and the number of an expression; None where it is no such sum."""
        match expr:
            case tree.Lit(value=int() as value) if not isinstance(value, bool):
                return ZERO, value
            case tree.Size(memory=memory, axis=axis):
                return (memory, axis), 0
            case tree.Id(kind=kind, axis=axis):
                return (kind, axis), 0
            case tree.Given(name=name):
                return ("given", name), 0
            case tree.Var(local=local) if self._constant(local):
                inner = self._values.get(local)
                seen = self.base(inner) if inner is not None else None
                return seen if seen is not None and seen[1] == 0 else (local, 0)
            case tree.Op(name="add" | "sub", args=(first, second)):
                return self._sum(expr, first, second)
            case _:
                return None

    def _sum(self, expr: tree.Op, first: Expr, second: Expr) -> tuple[Base, int] | None:
        one, two = self.base(first), self.base(second)
        if one is None or two is None:
            return None
        sign = 1 if expr.name == "add" else -1
        if two[0] == ZERO:
            return one[0], one[1] + sign * two[1]
        return (two[0], one[1] + two[1]) if one[0] == ZERO and sign == 1 else None

    def facts(self, test: Expr, *, holds: bool) -> Iterator[tuple[Base, Base, int]]:
        """What a condition says if it holds, or if it does not."""
        if not isinstance(test, tree.Op):
            return
        if test.name == "not":
            yield from self.facts(test.args[0], holds=not holds)
        elif test.name == ("land" if holds else "lor"):
            for part in test.args:
                yield from self.facts(part, holds=holds)
        elif test.name in _OPPOSITE or (test.name == "eq" and holds):
            name = test.name if holds else _OPPOSITE[test.name]
            first, second = (self.base(arg) for arg in test.args)
            if first is not None and second is not None:
                yield from _compared(name, first, second)

    def turn(self, loop: tree.For) -> Iterator[tuple[Base, Base, int]]:
        """What holds of a counter within its loop."""
        by = interval(loop.step, self._workgroup)
        if by is None or by[0] <= 0 <= by[1] or not self._constant(loop.local):
            return
        up = by[0] > 0
        end = self.base(loop.stop if up else loop.start)
        if end is not None and _is_safe(end):
            yield loop.local, end[0], end[1] - (1 if up else 0)
        low = self.base(loop.start if up else loop.stop)
        if low is not None and _is_safe(low):
            yield low[0], loop.local, -low[1] - (0 if up else 1)


def _is_safe(value: tuple[Base, int]) -> bool:
    """Whether a sum cannot have wrapped: a bare base, a number, or a size less a small number."""
    base, number = value
    if number == 0 or base == ZERO:
        return True
    return isinstance(base, tuple) and isinstance(base[0], tree.Memory) and -SMALL < number < 0


def _compared(
    name: str, first: tuple[Base, int], second: tuple[Base, int]
) -> Iterator[tuple[Base, Base, int]]:
    if not (_is_safe(first) and _is_safe(second)):
        return
    if name in {"gt", "ge"}:
        first, second = second, first
    strict = 1 if name in {"lt", "gt"} else 0
    yield first[0], second[0], second[1] - first[1] - strict
    if name == "eq":
        yield second[0], first[0], first[1] - second[1]


def learn(facts: Facts, found: Iterator[tuple[Base, Base, int]]) -> Facts:
    """The facts with some more."""
    more = dict(facts)
    for a, b, k in found:
        more[a, b] = min(k, more.get((a, b), k))
    return more


def is_below(facts: Facts, index: tuple[Base, int], memory: Memory, axis: int) -> bool:
    """Whether an index is surely less than a size."""
    base, number = index
    known = facts.get((base, (memory, axis)))
    return known is not None and known <= -number - 1


def _least(base: Base) -> float:
    """What a base is at least, whatever the conditions."""
    if isinstance(base, tree.Local):
        return -inf if base.interval is None else base.interval[0]
    is_given = isinstance(base, tuple) and base[0] == "given"
    return -inf if is_given else 0  # sizes, and numbers of invocations


def is_not_negative(facts: Facts, index: tuple[Base, int]) -> bool:
    """Whether an index is surely at least 0."""
    base, number = index
    if base == ZERO:
        return number >= 0
    if number + _least(base) >= 0:
        return True
    known = facts.get((ZERO, base))
    return known is not None and known <= number
