"""Python statements as typed ones: one function, for the types of its arguments."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final

from aiogpu.dtypes import DType
from aiogpu.lang import tree
from aiogpu.lang.assign import Assignments
from aiogpu.lang.intervals import INT_MAX, interval
from aiogpu.lang.intrinsics import KNOWN, unroll
from aiogpu.lang.names import count_stores, own_counters
from aiogpu.lang.operators import _line, cast
from aiogpu.lang.types import I32, Pair, Vector, as_element, short
from aiogpu.lang.values import Const, Pack, default_type, is_number

if TYPE_CHECKING:
    from aiogpu.lang.compiler import Compiler
    from aiogpu.lang.source import Source
    from aiogpu.lang.tree import Expr, Stmt
    from aiogpu.lang.types import Type
    from aiogpu.lang.values import Value

MOST_TURNS: Final = 4096  # of a loop that is written out

# How a block ends: it runs into what follows, or it leaves.
NEXT, BREAK, CONTINUE, RETURN = "next", "break", "continue", "return"


class Checker(Assignments):
    """One function being checked.

    Attributes:
        returns: Its return statements, with what they return.
    """

    def __init__(self, compiler: Compiler, source: Source, function: tree.Function) -> None:
        super().__init__(compiler, source, function)
        self.returns: list[tuple[tree.Return, Value | None, ast.AST]] = []
        self.stores = count_stores(source.tree)
        self._counters = own_counters(source.tree)
        self._loops: list[tuple[str, int]] = []
        self._branches = 0

    def run(self) -> None:
        """Check the whole body."""
        definition = self.source.tree
        if isinstance(definition, ast.Lambda):
            self._return_value(definition.body, definition.body)
            self._finish(RETURN)
            return
        body = definition.body
        if body and isinstance(body[0], ast.Expr) and _is_text(body[0].value):
            body = body[1:]
        self._finish(self._block(body))

    def _finish(self, end: str) -> None:
        given = [value for _, value, _ in self.returns if value is not None]
        if not given:
            return
        for statement, value, node in self.returns:
            if value is None:
                self.refuse(node, "return: of nothing, where other lines return a value")
            del statement
        if end != RETURN:
            self.refuse(self.source.tree, "not every path returns a value: add a return at the end")
        kind = self.compiler.result_type(self)
        for _, value, node in self.returns:
            assert value is not None
            found = self._kind_of_return(value, node)
            kind = found if kind is None else self._common(kind, found, node)
        self.function.result = None if kind is None else _concrete(kind)
        for statement, value, node in self.returns:
            assert value is not None
            statement.value = self._as_result(value, node, self.function.result)

    def _kind_of_return(self, value: Value, node: ast.AST) -> Any:  # noqa: ANN401 - a type, or a weak number
        if isinstance(value, Pack):
            return tuple(self._kind_of_return(each, node) for each in value.items)
        if isinstance(value, Const) and is_number(value.value):
            return value
        return self.typed(value, node).type

    def _common(self, first: Any, second: Any, node: ast.AST) -> Any:  # noqa: ANN401 - as above
        if isinstance(first, Pair):
            first = first.parts
        if isinstance(second, Pair):
            second = second.parts
        if isinstance(first, tuple) or isinstance(second, tuple):
            if (
                not isinstance(first, tuple)
                or not isinstance(second, tuple)
                or len(first) != len(second)
            ):
                self.refuse(node, "return: another number of values than other lines return")
            return tuple(self._common(a, b, node) for a, b in zip(first, second, strict=True))
        if isinstance(first, Const) and isinstance(second, Const):
            return first if isinstance(first.value, float) else second
        values = [
            each if isinstance(each, Const) else tree.Given(each, 0, "") for each in (first, second)
        ]
        return self._meeting("return", tuple(values), node)

    def _as_result(self, value: Value, node: ast.AST, kind: Type | None) -> Expr:
        if not isinstance(kind, Pair):
            made = self.typed(value, node, None if isinstance(value, tree.Expr) else kind)
            if isinstance(kind, DType) and isinstance(made.type, DType):
                return cast(made, kind)
            return self.typed(made, node, kind)
        if isinstance(value, tree.Expr):
            return value
        assert isinstance(value, Pack)
        pairs = zip(value.items, kind.parts, strict=True)
        parts = tuple(self._as_result(each, node, part) for each, part in pairs)
        return tree.Op(kind, _line(node), "pair", parts)

    # Blocks

    def _block(self, statements: list[ast.stmt]) -> str:
        for statement in statements:
            handler = _STATEMENTS.get(type(statement))
            if handler is None:
                name = _UNSUPPORTED.get(type(statement), type(statement).__name__.lower())
                self.refuse(statement, f"{name}: not in kernels")
            end = handler(self, statement)
            if end is not None and end != NEXT:
                return end  # type: ignore[no-any-return]
        return NEXT

    def _inner(self, statements: list[ast.stmt]) -> tuple[list[Stmt], str]:
        outer, self._out = self._out, []
        end = self._block(statements)
        made, self._out = self._out, outer
        return made, end

    # Simple statements

    def _pass(self, node: ast.Pass) -> None:
        pass

    def _expression(self, node: ast.Expr) -> None:
        if _is_text(node.value):
            return
        called = node.value
        if isinstance(called, ast.Call):
            callee = (
                self.value(called.func)
                if isinstance(called.func, (ast.Name, ast.Attribute))
                else None
            )
            if isinstance(callee, Const) and _name_of(callee.value) == "barrier":
                self.function.waits = True
                self.emit(tree.Barrier(node.lineno))
                return
        value = self.value(called)
        if isinstance(value, tree.Expr):
            if tree.is_pure(value):
                self.refuse(node, "the value is not used: assign it, or leave the line out")
            self.emit(tree.Evaluate(node.lineno, value))
        elif not (isinstance(value, Const) and value.value is None):
            self.refuse(node, "the value is not used: assign it, or leave the line out")

    def _return(self, node: ast.Return) -> str:
        if node.value is None:
            statement = tree.Return(node.lineno, None)
            self.returns.append((statement, None, node))
            self.emit(statement)
            return RETURN
        return self._return_value(node.value, node)

    def _return_value(self, value: ast.expr, node: ast.AST) -> str:
        statement = tree.Return(_line(node), None)
        self.returns.append((statement, self.value(value), value))
        self.emit(statement)
        return RETURN

    def _assert(self, node: ast.Assert) -> None:
        test = self.condition(node.test)
        if not isinstance(test, Const):
            self.refuse(node, "assert: only of what is known when the kernel is compiled")
        if not test.value:
            message = self.value(node.msg) if node.msg is not None else Const("")
            shown = message.value if isinstance(message, Const) else ""
            self.refuse(node, f"assertion failed: {shown or ast.unparse(node.test)}")

    # Branches and loops

    def _if(self, node: ast.If) -> str:
        test = self.condition(node.test)
        if isinstance(test, Const):
            return self._block(node.body if test.value else node.orelse)
        before = set(self.known)
        self._branches += 1
        then, end = self._inner(node.body)
        after_then, self.known = self.known, set(before)
        other, other_end = self._inner(node.orelse)
        self._branches -= 1
        if end != NEXT:
            pass  # what is known after the other side is known
        elif other_end != NEXT:
            self.known = after_then
        else:
            self.known &= after_then
        self.emit(tree.If(node.lineno, test, then, other))
        if end == NEXT or other_end == NEXT:
            return NEXT
        return end if end == other_end else RETURN if RETURN in (end, other_end) else BREAK

    def _loop_body(self, statements: list[ast.stmt]) -> list[Stmt]:
        before = set(self.known)
        self._loops.append(("loop", self._branches))
        self._branches += 1
        body, _ = self._inner(statements)
        self._branches -= 1
        self._loops.pop()
        self.known = before
        return body

    def _while(self, node: ast.While) -> str:
        if node.orelse:
            self.refuse(node.orelse[0], "else of a loop: not in kernels")
        test = self.condition(node.test)
        if isinstance(test, Const):
            if not test.value:
                return NEXT
            test = tree.Lit(self._bool(), node.lineno, True)
        body = self._loop_body(node.body)
        is_endless = isinstance(test, tree.Lit) and not _leaves(body)
        if is_endless and not _returns(body):
            self.refuse(node, "while: never ends, and would hang the GPU: add a break")
        self.emit(tree.While(node.lineno, test, body))
        return RETURN if is_endless else NEXT

    @staticmethod
    def _bool() -> DType:
        kind = as_element(bool)
        assert kind is not None
        return kind

    def _for(self, node: ast.For) -> str:
        if node.orelse:
            self.refuse(node.orelse[0], "else of a loop: not in kernels")
        called = node.iter
        if isinstance(called, ast.Call):
            callee = self.value(called.func)
            function = callee.value if isinstance(callee, Const) else None
            if function is range:
                return self._for_range(node, called)
            if function is unroll:
                numbers = self._unroll_range(called)
                return self._unrolled(node, [Const(number) for number in numbers])
        value = self.value(called)
        if isinstance(value, Pack):
            return self._unrolled(node, list(value.items))
        if isinstance(value, Const) and isinstance(
            value.value, (range, tuple, list, zip, enumerate)
        ):
            items = [self.captured(each, node, "an item") for each in value.value]
            return self._unrolled(node, items)
        self.refuse(called, "for: over range(...), gl.unroll(...) or a tuple")

    def _unroll_range(self, called: ast.Call) -> range:
        bounds = [self.value(arg) for arg in called.args]
        if called.keywords or not 1 <= len(bounds) <= 3:
            self.refuse(called, "unroll: takes 1 to 3 numbers")
        numbers = [b.value for b in bounds if isinstance(b, Const) and isinstance(b.value, int)]
        if len(numbers) < len(bounds):
            what = "unroll: its bounds must be whole numbers that are known when it is compiled"
            self.refuse(called, f"{what}: else use range")
        if numbers[2:] == [0]:
            self.refuse(called, "unroll: a step of 0")
        return range(*numbers)

    def _unrolled(self, node: ast.For, items: list[Value]) -> str:
        if len(items) > MOST_TURNS:
            self.refuse(node, f"{len(items)} turns written out: at most {MOST_TURNS}: use range")
        for item in items:
            self._to(node.target, item, node)
            self._loops.append(("unrolled", self._branches))
            end = self._block(node.body)
            self._loops.pop()
            if end == RETURN:
                return RETURN
            if end == BREAK:
                break
        return NEXT

    def _for_range(self, node: ast.For, called: ast.Call) -> str:
        if not isinstance(node.target, ast.Name):
            self.refuse(node.target, "range gives one number: write one name")
        if called.keywords or not 1 <= len(called.args) <= 3:
            self.refuse(called, "range: takes 1 to 3 numbers")
        given = [self._bound(arg) for arg in called.args]
        line = node.lineno
        start: Expr = tree.Lit(I32, line, 0)
        step: Expr = tree.Lit(I32, line, 1)
        if len(given) == 1:
            (stop,) = given
        else:
            start, stop = given[:2]
            step = given[2] if len(given) > 2 else step
        if isinstance(step, tree.Lit) and step.value == 0:
            self.refuse(called, "range: a step of 0")
        name = node.target.id
        is_own = name in self._counters
        local = None if is_own else self.locals.get(name)
        if local is None:
            local = self.locals[name] = self._declare(name, I32, node)
            if is_own or self.stores.get(name) == 2:  # set by this loop alone
                local.interval = self._turns(start, stop, step)
        elif local.type is not I32:
            self.refuse(node.target, f"{name}: is {short(local.type)} since line {local.line}")
        else:
            local.interval = None
        knew = name in self.known
        self.known.add(name)
        body = self._loop_body(node.body)
        if is_own or (not knew and not _surely_turns(start, stop, step)):
            self.known.discard(name)
        self.emit(tree.For(line, local, start, stop, step, body))
        return NEXT

    def _bound(self, node: ast.expr) -> Expr:
        made = self.expr(node)
        if not isinstance(made.type, DType) or made.type.kind not in {"int", "uint"}:
            self.refuse(node, f"range of {short(made.type)}: takes integers: write int(...)")
        return cast(made, I32)

    def _turns(self, start: Expr, stop: Expr, step: Expr) -> tree.Interval | None:
        workgroup = self.compiler.workgroup
        by = interval(step, workgroup)
        if by is None or by[0] <= 0 <= by[1]:
            return None
        low, high = interval(start, workgroup), interval(stop, workgroup)
        if by[0] > 0:
            return None if low is None else (low[0], high[1] - 1 if high else INT_MAX)
        return None if low is None or high is None else (high[0] + 1, low[1])

    def _jump(self, node: ast.Break | ast.Continue) -> str:
        name = BREAK if isinstance(node, ast.Break) else CONTINUE
        if self._loops[-1:] and self._loops[-1][0] == "unrolled":
            if self._branches != self._loops[-1][1]:
                self.refuse(node, f"{name}: out of a loop that is written out: use range")
            return name
        self.emit(tree.Jump(node.lineno, name))
        return name


def _returns(body: list[Stmt]) -> bool:
    """Whether a return is somewhere in a block."""
    return any(isinstance(each, tree.Return) for s in body for each in tree.walk(s))


def _leaves(body: list[Stmt]) -> bool:
    """Whether a loop's body has a break of that loop."""
    for statement in body:
        if isinstance(statement, tree.Jump) and statement.name == BREAK:
            return True
        if isinstance(statement, tree.If) and (_leaves(statement.then) or _leaves(statement.other)):
            return True
    return False


def _surely_turns(start: Expr, stop: Expr, step: Expr) -> bool:
    if not all(isinstance(each, tree.Lit) for each in (start, stop, step)):
        return False
    return len(range(start.value, stop.value, step.value)) > 0  # type: ignore[attr-defined]


def _concrete(kind: Any) -> Type:  # noqa: ANN401 - a type, or a weak number
    if isinstance(kind, Const):
        return default_type(kind.value)
    if isinstance(kind, tuple):
        return Pair(tuple(map(_concrete, kind)))
    assert isinstance(kind, (DType, Vector, Pair))
    return kind


def _name_of(function: object) -> str | None:
    try:
        return KNOWN.get(function)
    except TypeError:
        return None


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (str, type(...)))


_STATEMENTS: Final[dict[type, Any]] = {
    ast.Pass: Checker._pass, ast.Expr: Checker._expression, ast.Return: Checker._return,
    ast.Assert: Checker._assert, ast.Assign: Checker._assign, ast.AnnAssign: Checker._annotated,
    ast.AugAssign: Checker._augmented, ast.If: Checker._if, ast.While: Checker._while,
    ast.For: Checker._for, ast.Break: Checker._jump, ast.Continue: Checker._jump,
}  # fmt: skip
_UNSUPPORTED: Final[dict[type, str]] = {
    ast.FunctionDef: "a function in a function (define it outside)", ast.Delete: "del",
    ast.ClassDef: "a class", ast.Raise: "raise", ast.Try: "try", ast.With: "with",
    ast.Import: "import (write it at the top of the file)", ast.AsyncFor: "async for",
    ast.ImportFrom: "import (write it at the top of the file)", ast.Match: "match",
    ast.Global: "global", ast.Nonlocal: "nonlocal",
}  # fmt: skip
