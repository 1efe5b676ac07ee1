"""Python statements as typed ones: one function, for the types of its arguments."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from aiogpu.dtypes import DType
from aiogpu.lang import tree
from aiogpu.lang.expressions import _BINARY, Expressions, cast
from aiogpu.lang.intervals import INT_MAX, interval
from aiogpu.lang.intrinsics import KNOWN, unroll
from aiogpu.lang.types import F16, F32, I32, U32, Pair, Vector, as_element, in_registers, short
from aiogpu.lang.values import Const, Pack, default_type, is_number

if TYPE_CHECKING:
    from aiogpu.lang.compiler import Compiler
    from aiogpu.lang.source import Source
    from aiogpu.lang.tree import Expr, Local, Stmt
    from aiogpu.lang.types import Type
    from aiogpu.lang.values import Value

MOST_TURNS: Final = 4096  # of a loop that is written out

# How a block ends: it runs into what follows, or it leaves.
NEXT, BREAK, CONTINUE, RETURN = "next", "break", "continue", "return"


def count_stores(definition: ast.FunctionDef | ast.Lambda) -> dict[str, int]:
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


class Checker(Expressions):
    """One function being checked.

    Attributes:
        function: What becomes of it.
        returns: Its return statements, with what they return.
    """

    def __init__(self, compiler: Compiler, source: Source, function: tree.Function) -> None:
        super().__init__(compiler, source)
        self.function = function
        self.returns: list[tuple[tree.Return, Value | None, ast.AST]] = []
        self.stores = count_stores(source.tree)
        self._out: list[Stmt] = function.body
        self._loops: list[tuple[str, int]] = []
        self._branches = 0
        self._temporaries = 0

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

    def emit(self, statement: Stmt) -> None:
        """Append a statement to the block that is being made."""
        self._out.append(statement)

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

    # Assignments

    def _assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for target in node.targets:
            self._to(target, value, node)
            value = self._again(value, node.targets, target)

    def _again(self, value: Value, targets: list[ast.expr], target: ast.expr) -> Value:
        """What a further target of ``a = b = value`` gets: the first one's, computed once."""
        if len(targets) > 1 and isinstance(value, tree.Expr) and isinstance(target, ast.Name):
            return self.value(ast.copy_location(ast.Name(target.id, ast.Load()), target))
        return value

    def _annotated(self, node: ast.AnnAssign) -> None:
        kind = as_element(self._annotation(node.annotation))
        if node.value is None:
            self.refuse(node, "an annotation without a value: assign one")
        value = self.value(node.value)
        if kind is not None and isinstance(value, (Const, tree.Expr)):
            value = self.typed(value, node.value, in_registers(kind))
        self._to(node.target, value, node)

    def _annotation(self, node: ast.expr) -> Any:  # noqa: ANN401 - whatever it names
        value = self.value(node)
        if not isinstance(value, Const):
            return None
        if isinstance(value.value, str):
            return self._annotation(
                ast.copy_location(ast.parse(value.value, mode="eval").body, node)
            )
        return value.value

    def _augmented(self, node: ast.AugAssign) -> None:
        name = _BINARY.get(type(node.op))
        if name is None:
            self.refuse(node, "@=: not in kernels")
        target = node.target
        if isinstance(target, ast.Name):
            old = self.value(ast.copy_location(ast.Name(target.id, ast.Load()), target))
            value = self.arithmetic(name, old, self.value(node.value), node)
            self._set(target, value, node)
        elif isinstance(target, ast.Subscript) and isinstance(
            memory := self.value(target.value), tree.Memory
        ):
            index = tuple(self._once(each, node) for each in self.index(memory, target.slice))
            element = self.load(memory, index, None, target)
            value = self.arithmetic(name, element, self.value(node.value), node)
            self._store(memory, index, value, node)
        else:
            copy = ast.copy_location(ast.parse(ast.unparse(target), mode="eval").body, target)
            old = self.value(ast.fix_missing_locations(copy))
            self._to(target, self.arithmetic(name, old, self.value(node.value), node), node)

    def _once(self, value: Expr, node: ast.AST) -> Expr:
        """A value that can be written twice and is computed once."""
        if isinstance(value, (tree.Var, tree.Lit, tree.Id, tree.Size, tree.Given)):
            return value
        return self._kept(value, node)

    def _kept(self, value: Expr, node: ast.AST) -> Expr:
        """A value in a variable of our own."""
        self._temporaries += 1
        local = self._declare(f"{self._temporaries}", value.type, node)
        local.interval = interval(value, self.compiler.workgroup)
        self.emit(tree.Set(_line(node), local, value))
        return tree.Var(value.type, _line(node), local)

    def _declare(self, name: str, kind: Type, node: ast.AST) -> Local:
        local = tree.Local(name, kind, _line(node))
        self.function.locals.append(local)
        return local

    def _to(self, target: ast.expr, value: Value, node: ast.AST) -> None:
        if isinstance(target, ast.Name):
            self._set(target, value, node)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, value, node)
        elif isinstance(target, ast.Subscript):
            memory = self.value(target.value)
            if isinstance(memory, tree.Memory):
                self._store(memory, self.index(memory, target.slice), value, node)
            else:
                self._set_part(target, memory, self.value(target.slice), value)
        elif isinstance(target, ast.Attribute):
            at = "xyzw".find(target.attr)
            self._set_part(target, self.value(target.value), Const(at), value)
        else:
            self.refuse(target, "a target of this kind: not in kernels")

    def _set_part(self, target: ast.expr, vector: Value, at: Value, value: Value) -> None:
        if not isinstance(vector, tree.Var) or not isinstance(vector.type, Vector):
            self.refuse(target, "only elements of arrays and components of vectors can be set")
        part = self.component(vector, at, target)
        number = self.typed(at, target, I32)
        made = self.typed(value, target, part.type)
        self.emit(tree.SetPart(_line(target), vector.local, number, made))

    def _unpack(self, target: ast.Tuple | ast.List, value: Value, node: ast.AST) -> None:
        if isinstance(value, tree.Expr) and isinstance(value.type, (Pair, Vector)):
            whole = self._once(value, node)
            count = value.type.size if isinstance(value.type, Vector) else len(value.type.parts)
            kinds = (
                [value.type.scalar] * count if isinstance(value.type, Vector) else value.type.parts
            )
            value = Pack(
                tuple(tree.Part(kind, whole.line, whole, at) for at, kind in enumerate(kinds))
            )
        if not isinstance(value, Pack):
            self.refuse(node, "not several values: nothing to unpack")
        if len(value.items) != len(target.elts):
            self.refuse(node, f"{len(target.elts)} names for {len(value.items)} values")
        items = value.items
        if self._overlap(target, items):
            items = tuple(
                self._kept(each, node) if isinstance(each, tree.Expr) else each for each in items
            )
        for one, item in zip(target.elts, items, strict=True):
            self._to(one, item, node)

    def _overlap(self, target: ast.Tuple | ast.List, items: tuple[Value, ...]) -> bool:
        """Whether setting one of the targets could change a value that a later one gets."""
        names = {each.id for each in target.elts if isinstance(each, ast.Name)}
        is_plain = len(names) == len(target.elts)
        for item in items:
            for each in tree.walk(item) if isinstance(item, tree.Expr) else ():
                if isinstance(each, tree.Var) and each.local.name in names:
                    return True
                if isinstance(each, (tree.Load, tree.Atomic, tree.Apply)) and not is_plain:
                    return True
        return False

    def _store(
        self, memory: tree.Memory, index: tuple[Expr, ...], value: Value, node: ast.AST
    ) -> None:
        if memory.kind == "in":
            self.refuse(node, f"{memory.name}: an In array is only read: make it Out or InOut")
        kind = in_registers(memory.dtype)
        if isinstance(value, tree.Expr) and value.type is F32 and kind is F16:
            value = cast(value, kind)  # an array's assignment rounds too
        made = self.typed(value, node, kind)
        self.compiler.does(self)
        self.emit(tree.Store(_line(node), memory, index, made))

    def _set(self, target: ast.Name, value: Value, node: ast.AST) -> None:
        name = target.id
        once = self.stores.get(name, 0) < 2
        if isinstance(value, tree.Memory):
            if not once and self.names.get(name) is not value:
                self.refuse(node, f"{name}: an array under a name that is used for something else")
            value.name = value.name or name
            self.names[name] = value
        elif isinstance(value, Pack):
            self.names[name] = self._pack(name, value, node, once=once)
        elif isinstance(value, Const) and (once or not is_number(value.value)):
            if not once and self.names.get(name, value) != value:
                self.refuse(node, f"{name}: gets several values that are no numbers")
            self.names[name] = value
        else:
            self._set_local(name, value, node, once=once)
        self.known.add(name)

    def _set_local(self, name: str, value: Value, node: ast.AST, *, once: bool) -> None:
        local = self.locals.get(name)
        if local is None:
            made = self.typed(value, node)
            if isinstance(made.type, Pair):
                self.names[name] = self._pack(name, self._parts(made, node), node, once=once)
                return
            local = self.locals[name] = self._declare(name, made.type, node)
            local.interval = interval(made, self.compiler.workgroup) if once else None
        else:
            made = self._joined(local, value, node)
            found = interval(made, self.compiler.workgroup)
            known = local.interval
            local.interval = (
                (min(known[0], found[0]), max(known[1], found[1])) if known and found else None
            )
        self.emit(tree.Set(_line(node), local, made))

    def _joined(self, local: Local, value: Value, node: ast.AST) -> Expr:
        """A further value of a variable, in its type."""
        if (isinstance(value, tree.Expr) and value.type != local.type) or (
            isinstance(value, Const)
            and isinstance(value.value, float)
            and isinstance(local.type, DType)
            and local.type.kind in {"int", "uint"}
        ):
            found = value.type if isinstance(value, tree.Expr) else default_type(value.value)
            is_wider = local.type in {I32, U32} and getattr(found, "kind", "") == "float"
            hint = (
                f"begin with a float (0.0) in line {local.line}"
                if is_wider
                else f"write {short(local.type)}(...), or use another name"
            )
            if not (
                getattr(local.type, "kind", "") == "float"
                and getattr(found, "kind", "") in {"int", "float", "uint"}
            ):
                self.refuse(
                    node,
                    f"{local.name}: is {short(local.type)} since line {local.line}, "
                    f"{short(found)} here: {hint}",
                )
            assert isinstance(value, tree.Expr)
            return cast(value, local.type)
        return self.typed(value, node, local.type)

    def _parts(self, value: Expr, node: ast.AST) -> Pack:
        assert isinstance(value.type, Pair)
        whole = self._once(value, node)
        return Pack(
            tuple(
                tree.Part(kind, whole.line, whole, at) for at, kind in enumerate(value.type.parts)
            )
        )

    def _pack(self, name: str, value: Pack, node: ast.AST, *, once: bool) -> Pack:
        """Several values under one name: each that is computed gets a variable."""
        old = self.names.get(name)
        items: list[Value] = []
        for at, item in enumerate(value.items):
            if isinstance(item, Pack):
                items.append(self._pack(f"{name}_{at}", item, node, once=once))
            elif isinstance(item, tree.Expr) or (isinstance(item, Const) and not once):
                known = old.items[at] if isinstance(old, Pack) and at < len(old.items) else None
                if isinstance(known, tree.Var):
                    made = self._joined(known.local, item, node)
                    self.emit(tree.Set(_line(node), known.local, made))
                    items.append(known)
                    continue
                made = self.typed(item, node)
                local = self._declare(f"{name}_{at}", made.type, node)
                self.emit(tree.Set(_line(node), local, made))
                items.append(tree.Var(made.type, _line(node), local))
            else:
                items.append(item)
        return Pack(tuple(items))

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
        self.emit(tree.While(node.lineno, test, body))
        is_endless = isinstance(test, tree.Lit) and not _leaves(body)
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
                bounds = [self.value(arg) for arg in called.args]
                if not bounds or not all(
                    isinstance(b, Const) and isinstance(b.value, int) for b in bounds
                ):
                    self.refuse(called, "unroll: its bounds must be known when it is compiled")
                numbers = range(*(b.value for b in bounds if isinstance(b, Const)))
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
            self.refuse(node.target, "for: one name")
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
        local = self.locals.get(name)
        if local is None:
            local = self.locals[name] = self._declare(name, I32, node)
            if self.stores.get(name) == 2:  # set by this loop alone
                local.interval = self._turns(start, stop, step)
        elif local.type is not I32:
            self.refuse(node.target, f"{name}: is {short(local.type)} since line {local.line}")
        else:
            local.interval = None
        knew = name in self.known
        self.known.add(name)
        body = self._loop_body(node.body)
        if not knew and not _surely_turns(start, stop, step):
            self.known.discard(name)
        self.emit(tree.For(line, local, start, stop, step, body))
        return NEXT

    def _bound(self, node: ast.expr) -> Expr:
        made = self.expr(node)
        if not isinstance(made.type, DType) or made.type.kind not in {"int", "uint"}:
            self.refuse(node, f"range of {short(made.type)}: takes integers: write int(...)")
        return cast(made, I32)

    def _turns(self, start: Expr, stop: Expr, step: Expr) -> tree.Interval | None:
        if not isinstance(step, tree.Lit):
            return None
        workgroup = self.compiler.workgroup
        low, high = interval(start, workgroup), interval(stop, workgroup)
        if step.value > 0:  # type: ignore[operator]
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


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


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
