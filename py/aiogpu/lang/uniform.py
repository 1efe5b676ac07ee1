"""Barriers are met by all invocations of a workgroup, or by none: refused where that is not shown.

What differs between the invocations of a workgroup: their own numbers, what is loaded from memory
that the kernel writes, and all that is computed from these or under a condition on them. Tint's
analysis is finer (it follows a variable through its assignments); whatever passes here passes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiogpu.errors import KernelError
from aiogpu.lang import tree

if TYPE_CHECKING:
    from aiogpu.lang.tree import Expr, Function, Kernel, Local, Stmt


class _Facts:
    """What is known about one function.

    Attributes:
        varying: Variables that differ between invocations.
        is_varying: Whether its result does, for arguments that do not.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self.varying: set[Local] = set()
        self.result_varies = False


def check(kernel: Kernel) -> None:
    """Refuse barriers and subgroup operations that some invocations may not come to.

    Raises:
        KernelError: There is one; the message shows its line and why.
    """
    if not any(function.waits or asks(function) for function in kernel.functions):
        return
    known: dict[Function, _Facts] = {}
    called_varying: dict[Function, set[Local]] = {}
    for _ in range(2):  # arguments become known from the callers, which come last
        for function in reversed(kernel.functions):
            _analyse(function, known, called_varying)
    for function in kernel.functions:
        _Guard(known, function).run()


def asks(function: Function) -> bool:
    """Whether there is an operation of a subgroup in a function."""
    return any(
        isinstance(each, tree.Subgroup) and each.args
        for statement in function.body
        for each in tree.walk(statement)
    )


def _analyse(
    function: Function, known: dict[Function, _Facts], called: dict[Function, set[Local]]
) -> None:
    facts = known[function] = _Facts(function)
    facts.varying |= called.get(function, set())
    size = -1
    while size != len(facts.varying):
        size = len(facts.varying)
        _spread(function.body, facts, known, called, varies=False)


def _spread(  # noqa: C901 - one case a statement
    body: list[Stmt],
    facts: _Facts,
    known: dict[Function, _Facts],
    called: dict[Function, set[Local]],
    *,
    varies: bool,
) -> None:
    """Mark the variables of a block that vary, given whether coming to it varies."""
    for statement in body:
        for each in tree.walk(statement):
            if isinstance(each, tree.Apply):
                for local, arg in zip(each.function.params, each.args, strict=True):
                    if varies_in(arg, facts, known):
                        called.setdefault(each.function, set()).add(local)
        match statement:
            case tree.Set(local=local, value=value):
                if varies or varies_in(value, facts, known):
                    facts.varying.add(local)
            case tree.SetPart(local=local, at=at, value=value):
                if varies or varies_in(value, facts, known) or varies_in(at, facts, known):
                    facts.varying.add(local)
            case tree.If(test=test, then=then, other=other):
                inner = varies or varies_in(test, facts, known)
                _spread(then, facts, known, called, varies=inner)
                _spread(other, facts, known, called, varies=inner)
            case tree.While(test=test, body=inside):
                inner = varies or varies_in(test, facts, known) or _leaves(inside, facts, known)
                _spread(inside, facts, known, called, varies=inner)
            case tree.For(local=local, body=inside):
                bounds = (statement.start, statement.stop, statement.step)
                inner = varies or any(varies_in(each, facts, known) for each in bounds)
                inner = inner or _leaves(inside, facts, known)
                if inner:
                    facts.varying.add(local)
                _spread(inside, facts, known, called, varies=inner)
            case tree.Return(value=value):
                if varies or (value is not None and varies_in(value, facts, known)):
                    facts.result_varies = True
            case _:
                pass


def varies_in(  # noqa: C901 - one case an expression
    expr: Expr, facts: _Facts, known: dict[Function, _Facts]
) -> bool:
    """Whether an expression differs between invocations."""
    for each in tree.walk(expr):
        match each:
            case tree.Id(kind=kind):
                if kind not in {"group", "groups"}:
                    return True
            case tree.Var(local=local):
                if local in facts.varying:
                    return True
            case tree.Load(memory=memory):
                if memory.kind != "in":
                    return True
            case tree.Atomic() | tree.Subgroup():
                return True
            case tree.Apply(function=function):
                callee = known.get(function)
                if callee is None or callee.result_varies or function.does:
                    return True
            case _:
                pass
    return False


def _leaves(body: list[Stmt], facts: _Facts, known: dict[Function, _Facts]) -> bool:
    """Whether some invocations may leave a loop before others."""
    return bool(_exits(body, facts, known, varies=False, depth=0))


def _exits(
    body: list[Stmt], facts: _Facts, known: dict[Function, _Facts], *, varies: bool, depth: int
) -> list[Stmt]:
    """Statements that leave a loop under a condition that varies."""
    found: list[Stmt] = []
    for statement in body:
        match statement:
            case tree.Jump() if varies and depth == 0:
                found.append(statement)
            case tree.Return() if varies:
                found.append(statement)
            case tree.If(test=test, then=then, other=other):
                inner = varies or varies_in(test, facts, known)
                for side in (then, other):
                    found += _exits(side, facts, known, varies=inner, depth=depth)
            case tree.While(test=test, body=inside):
                inner = varies or varies_in(test, facts, known)
                found += _exits(inside, facts, known, varies=inner, depth=depth + 1)
            case tree.For(body=inside):
                bounds = (statement.start, statement.stop, statement.step)
                inner = varies or any(varies_in(each, facts, known) for each in bounds)
                found += _exits(inside, facts, known, varies=inner, depth=depth + 1)
            case _:
                pass
    return found


class _Guard:
    """Walks a function and refuses barriers that not all invocations come to."""

    def __init__(self, known: dict[Function, _Facts], function: Function) -> None:
        self._known = known
        self._facts = known[function]
        self._source = function.source
        self._body = function.body

    def run(self) -> None:
        self._walk(self._body, None)

    def _walk(self, body: list[Stmt], why: tuple[int, str] | None) -> None:
        """``why``: the line on which invocations part, and how."""
        for statement in body:
            self._look(statement, why)
            match statement:
                case tree.If(test=test, then=then, other=other):
                    inner = why or self._parts(test, statement.line, "the condition")
                    self._walk(then, inner)
                    self._walk(other, inner)
                    left = self._gone(statement)
                    why = why or left
                case tree.While(test=test, body=inside):
                    self._loop(inside, why or self._parts(test, statement.line, "it"))
                    why = why or self._gone(statement)
                case tree.For(body=inside):
                    bounds = [statement.start, statement.stop, statement.step]
                    parted = [self._parts(e, statement.line, "the range") for e in bounds]
                    inner = why or next((each for each in parted if each), None)
                    self._loop(inside, inner)
                    why = why or self._gone(statement)
                case _:
                    pass

    def _loop(self, body: list[Stmt], why: tuple[int, str] | None) -> None:
        exits = _exits(body, self._facts, self._known, varies=False, depth=0)
        if exits and why is None:
            word = "return" if isinstance(exits[0], tree.Return) else getattr(exits[0], "name", "")
            why = (exits[0].line, f"some invocations {word}")
        self._walk(body, why)

    def _gone(self, statement: Stmt) -> tuple[int, str] | None:
        """Whether some invocations have returned after a statement."""
        exits = _exits([statement], self._facts, self._known, varies=False, depth=1)
        returns = [each for each in exits if isinstance(each, tree.Return)]
        return (returns[0].line, "some invocations return") if returns else None

    def _parts(self, expr: Expr, line: int, what: str) -> tuple[int, str] | None:
        if varies_in(expr, self._facts, self._known):
            return line, f"{what} may differ between invocations"
        return None

    def _look(self, statement: Stmt, why: tuple[int, str] | None) -> None:
        if why is None:
            return
        if isinstance(statement, tree.Barrier):
            self._refuse(statement.line, "barrier", why)
        own = [
            expr
            for name in ("value", "test", "start", "stop", "step", "at")
            if isinstance(expr := getattr(statement, name, None), tree.Expr)
        ]
        for each in (found for expr in own for found in tree.walk(expr)):
            if isinstance(each, tree.Apply) and (each.function.waits or asks(each.function)):
                self._refuse(each.line, f"{each.function.source.name} has a barrier", why)
            if isinstance(each, tree.Subgroup) and each.args:
                self._refuse(each.line, f"subgroup_{each.name}", why)

    def _refuse(self, line: int, what: str, why: tuple[int, str]) -> None:
        text = self._source.line(line)
        margin = len(text) - len(text.lstrip())
        raise KernelError(
            self._source.said(
                line,
                f"{what}: not all invocations of the workgroup come here: in line {why[0]} "
                f"{why[1]}: move it out of the branch, and put the rest under the condition",
                margin,
                len(text.rstrip()),
            )
        ).at(self._source.place(line))
