"""Python expressions as typed ones."""

from __future__ import annotations

import ast
import builtins
import difflib
import types as pytypes
from typing import TYPE_CHECKING, Any, Final, NoReturn

from aiogpu.dtypes import DType
from aiogpu.lang import tree
from aiogpu.lang.operations import ROWS
from aiogpu.lang.types import BOOL, F32, I32, Pair, Vector, in_registers, scalar_of, short
from aiogpu.lang.values import (
    FOLD,
    Const,
    Method,
    Pack,
    TypeTrouble,
    default_type,
    is_number,
    literal,
    meet,
    meet_number,
    plain,
)  # fmt: skip

if TYPE_CHECKING:
    from aiogpu.lang.compiler import Compiler
    from aiogpu.lang.source import Source
    from aiogpu.lang.tree import Expr, Local
    from aiogpu.lang.types import Type
    from aiogpu.lang.values import Value

_BINARY: Final[dict[type, str]] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floordiv",
    ast.Mod: "mod", ast.Pow: "pow", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor",
    ast.LShift: "shl", ast.RShift: "shr",
}  # fmt: skip
_COMPARE: Final[dict[type, str]] = {
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip
_SIGNS: Final = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "and": "&", "or": "|", "xor": "^", "shl": "<<", "shr": ">>", "lt": "<", "le": "<=", "gt": ">",
    "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip
_MISSING: Final = object()
_COMPONENTS: Final = {"x": 0, "y": 1, "z": 2, "w": 3, "r": 0, "g": 1, "b": 2, "a": 3}
_VECTOR_OPS: Final = frozenset({"add", "sub", "mul", "div", "neg", "abs", "min", "max"})


class Expressions:
    """The expressions of one function.

    Attributes:
        compiler: Whose function it is.
        source: The function's text, for messages.
        names: What names stand for that are known when the kernel is compiled.
        locals: The variables, by name.
        known: Names that surely have a value here.
    """

    def __init__(self, compiler: Compiler, source: Source) -> None:
        self.compiler = compiler
        self.source = source
        self.names: dict[str, Value] = {}
        self.locals: dict[str, Local] = {}
        self.known: set[str] = set()
        self.stores: dict[str, int] = {}

    def refuse(self, node: ast.AST, what: str) -> NoReturn:
        """Raise for a part of the function."""
        self.source.refuse(node, what)

    # Values and expressions

    def expr(self, node: ast.expr, want: Type | None = None) -> Expr:
        """A node as a typed expression."""
        return self.typed(self.value(node), node, want)

    def typed(self, value: Value, node: ast.AST, want: Type | None = None) -> Expr:
        """A value as a typed expression, of type ``want`` if one is given.

        A number takes any type that has room for it; an expression must have the type, or one that
        an array would promote to it.
        """
        if isinstance(value, tree.Expr):
            return value if want is None or value.type == want else self._widen(value, node, want)
        if isinstance(value, Const) and is_number(value.value):
            number = value.value
            try:
                kind = default_type(number) if want is None else meet_number(want, number)
                if want is not None and kind != want:
                    raise TypeTrouble(f"{number!r} is a float; write int({number!r})")  # noqa: TRY301 - caught for the line
                if isinstance(kind, Vector):
                    part = literal(number, kind.scalar, _line(node))
                    return tree.Op(kind, _line(node), "vector", (part,) * kind.size)
                assert isinstance(kind, DType)
                return literal(number, kind, _line(node))
            except TypeTrouble as trouble:
                kindly = "" if want is None else f" where {short(want)} is needed"
                self.refuse(node, f"{number!r}{kindly}: {trouble}")
        if isinstance(value, tree.Memory):
            self.refuse(node, f"{value.name}: an array where a number is needed: index it")
        if isinstance(value, Pack):
            self.refuse(
                node, f"{len(value.items)} values where one is needed: unpack or index them"
            )
        what = value.name if isinstance(value, Method) else repr(value.value)
        self.refuse(node, f"{what}: not a number")

    def _widen(self, value: Expr, node: ast.AST, want: Type) -> Expr:
        try:
            fits = meet(value.type, want) == want
        except TypeTrouble:
            fits = False
        if not fits or isinstance(want, Vector):
            self.refuse(
                node, f"{short(value.type)} where {short(want)} is needed: write {_cast_of(want)}"
            )
        return cast(value, want)

    def condition(self, node: ast.expr) -> Const | Expr:
        """A node as a bool: a number is true where it is not 0."""
        if isinstance(node, ast.BoolOp):
            return self._logic(node, as_condition=True)
        return self._truth(self.value(node), node)

    def _truth(self, value: Value, node: ast.AST) -> Const | Expr:
        if isinstance(value, Const):
            return Const(bool(value.value))
        if isinstance(value, Pack):
            return Const(bool(value.items))
        made = self.typed(value, node)
        if made.type is BOOL:
            return made
        if not isinstance(made.type, DType):
            self.refuse(node, f"{short(made.type)} as a condition: compare it")
        zero = literal(0, made.type, made.line)
        return tree.Op(BOOL, made.line, "ne", (made, zero))

    def value(self, node: ast.expr) -> Value:
        """A node as a value."""
        handler = _HANDLERS.get(type(node))
        if handler is None:
            self.refuse(node, f"{_NAMES.get(type(node), type(node).__name__)}: not in kernels")
        return handler(self, node)  # type: ignore[no-any-return]

    # Names

    def _constant(self, node: ast.Constant) -> Value:
        return Const(node.value)

    def _name(self, node: ast.Name) -> Value:
        name = node.id
        if name in self.stores or name in self.names or name in self.locals:
            if name not in self.known:
                self.refuse(
                    node, f"{name}: may have no value here: assign it before the branch or loop"
                )
            if name in self.names:
                return self.names[name]
            local = self.locals[name]
            return tree.Var(local.type, node.lineno, local)
        found = self.look_up(name)
        if found is _MISSING:
            near = difflib.get_close_matches(name, [*self.names, *self.locals, *self.seen()], 1)
            hint = f": did you mean {near[0]}?" if near else ""
            self.refuse(node, f"{name}: undefined name{hint}")
        return self.captured(found, node, name)

    def look_up(self, name: str) -> Any:  # noqa: ANN401 - whatever stands outside
        """What a name stands for outside of the function."""
        function = self.source.function
        code = function.__code__
        if name in code.co_freevars and function.__closure__ is not None:
            cell = function.__closure__[code.co_freevars.index(name)]
            try:
                found = cell.cell_contents
            except ValueError:
                return _MISSING
            self.compiler.capture(cell, "cell_contents", found)
            return found
        space = function.__globals__
        if name in space:
            self.compiler.capture(space, name, space[name])
            return space[name]
        return getattr(builtins, name, _MISSING)

    def seen(self) -> list[str]:
        """The names outside of the function."""
        return [*self.source.function.__globals__, *self.source.function.__code__.co_freevars]

    def captured(self, found: Any, node: ast.AST, name: str) -> Value:  # noqa: ANN401 - whatever it is
        """Something from outside as a value."""
        found = plain(found)
        if isinstance(found, (tuple, list)):
            items = tuple(found)
            if all(is_number(plain(each)) or isinstance(each, (tuple, list)) for each in items):
                return Pack(tuple(self.captured(each, node, name) for each in items))
        if hasattr(found, "__dlpack__") or type(found).__name__ in {"Array", "ndarray"}:
            self.refuse(node, f"{name}: an array from outside: make it a parameter of the kernel")
        return Const(found)

    def _attribute(self, node: ast.Attribute) -> Value:
        value = self.value(node.value)
        name = node.attr
        if isinstance(value, tree.Memory):
            return self._of_memory(value, name, node)
        if isinstance(value, tree.Expr):
            if isinstance(value.type, Vector) and _COMPONENTS.get(name, 9) < value.type.size:
                return tree.Part(value.type.scalar, node.lineno, value, _COMPONENTS[name])
            if name == "dtype" and isinstance(value.type, DType):
                return Const(value.type)
            self.refuse(node, f"{short(value.type)} has no attribute {name}")
        if isinstance(value, Const):
            found = getattr(value.value, name, _MISSING)
            if found is _MISSING:
                self.refuse(node, f"{ast.unparse(node)}: there is no such thing")
            if isinstance(value.value, pytypes.ModuleType):
                self.compiler.capture(value.value.__dict__, name, found)
            return self.captured(found, node, name)
        self.refuse(node, f"{ast.unparse(node)}: not in kernels")

    def _of_memory(self, memory: tree.Memory, name: str, node: ast.Attribute) -> Value:
        if name == "shape":
            return Pack(tuple(self.size(memory, axis, node) for axis in range(memory.rank)))
        if name == "ndim":
            return Const(memory.rank)
        if name == "dtype":
            return Const(memory.dtype)
        if name == "size":
            total: Value = Const(1)
            for axis in range(memory.rank):
                total = self.arithmetic("mul", total, self.size(memory, axis, node), node)
            return total
        if name == "get":
            return Method(memory, name)
        self.refuse(
            node, f"{memory.name}.{name}: an array has shape, ndim, size, dtype and get(...)"
        )

    def size(self, memory: tree.Memory, axis: int, node: ast.AST) -> Value:
        """The size of an axis."""
        if memory.shape:
            return Const(memory.shape[axis])
        return tree.Size(I32, _line(node), memory, axis)

    # Operators

    def _binary(self, node: ast.BinOp) -> Value:
        name = _BINARY.get(type(node.op))
        if name is None:
            self.refuse(node, "@: not in kernels: write the loop, or use gpu.matmul outside")
        return self.arithmetic(name, self.value(node.left), self.value(node.right), node)

    def arithmetic(self, name: str, first: Value, second: Value, node: ast.AST) -> Value:
        """Two values under a binary operation."""
        if isinstance(first, Const) and isinstance(second, Const):
            return self.fold(name, (first, second), node)
        if isinstance(first, Pack) and isinstance(second, Pack) and name == "add":
            return Pack((*first.items, *second.items))
        if name in {"shl", "shr"}:
            return self._shift(name, first, second, node)
        if name == "pow":
            power = self._power(first, second, node)
            if power is not None:
                return power
        return self.operate(name, (first, second), node)

    def fold(self, name: str, values: tuple[Const, ...], node: ast.AST) -> Const:
        """An operation of Python on what is known."""
        try:
            return Const(FOLD[name](*(each.value for each in values)))
        except (TypeError, ValueError, ArithmeticError) as error:
            self.refuse(node, f"{ast.unparse(node)}: {error}")

    def _power(self, first: Value, second: Value, node: ast.AST) -> Value | None:
        """A power with a small whole exponent, as products."""
        if not isinstance(second, Const) or not isinstance(second.value, int):
            return None
        exponent = second.value
        base = self.typed(first, node)
        if not isinstance(base.type, DType) or base.type is BOOL:
            return None
        if exponent < 0 and base.type.kind != "float":
            base = cast(base, F32)  # as Python has it; an exponent that varies truncates
        if exponent == 1:
            return base
        if exponent in {2, 3, 4}:
            return tree.Op(base.type, _line(node), f"pow{exponent}", (base,))
        return self.operate("pow", (base, Const(exponent)), node)

    def _shift(self, name: str, first: Value, second: Value, node: ast.AST) -> Value:
        base = self.typed(first, node)
        if not isinstance(base.type, DType) or base.type.kind not in {"int", "uint"}:
            self.refuse(node, f"{short(base.type)} {_SIGNS[name]}: takes integers")
        by = self.typed(second, node)
        if not isinstance(by.type, DType) or by.type.kind not in {"int", "uint"}:
            self.refuse(node, f"{_SIGNS[name]} {short(by.type)}: takes integers")
        count = literal(by.value, base.type, by.line) if _fits_count(by) else cast(by, base.type)  # type: ignore[attr-defined]
        return tree.Op(base.type, _line(node), name, (base, count))

    def operate(self, name: str, values: tuple[Value, ...], node: ast.AST) -> Expr:
        """An operation of the table, its operands brought to the type in which they meet."""
        row = ROWS[name]
        for value in values:
            if isinstance(value, (tree.Memory, Pack, Method)):
                self.typed(value, node)  # says why not
        kind = self._meeting(name, values, node)
        scalar = scalar_of(kind)
        if row.rule in {"float", "whole", "test"} and scalar.kind != "float":
            scalar = F32
            kind = Vector(F32, kind.size) if isinstance(kind, Vector) else F32
        if scalar.kind[0] not in row.kinds:
            allowed = " or ".join(_KINDS[each] for each in row.kinds)
            self.refuse(
                node,
                f"{_SIGNS.get(name, name)} of {short(kind)}: takes {allowed}; "
                f"{_ADVICE[scalar.kind]}",
            )
        if isinstance(kind, Vector) and name not in _VECTOR_OPS:
            self.refuse(node, f"{_SIGNS.get(name, name)} of {short(kind)}: take its components")
        args = tuple(self._operand(value, node, kind) for value in values)
        result: Type = BOOL if row.rule in {"bool", "test"} else kind
        return tree.Op(result, _line(node), name, args)

    def _operand(self, value: Value, node: ast.AST, kind: Type) -> Expr:
        made = self.typed(value, node, None if isinstance(value, tree.Expr) else scalar_of(kind))
        if made.type == kind or isinstance(kind, Vector):
            return made if scalar_of(made.type) is scalar_of(kind) else cast(made, scalar_of(kind))
        return cast(made, kind)

    def _meeting(self, name: str, values: tuple[Value, ...], node: ast.AST) -> DType | Vector:
        kind: Type | None = None
        try:
            for value in values:
                if isinstance(value, tree.Expr):
                    kind = value.type if kind is None else meet(kind, value.type)
            for value in values:
                if isinstance(value, Const):
                    if not is_number(value.value):
                        self.typed(value, node)  # says why not
                    if kind is None:
                        kind = default_type(value.value)
                    kind = meet_number(kind, value.value)
        except TypeTrouble as trouble:
            shown = f" {_SIGNS[name]} " if name in _SIGNS else f" and, in {name}, "
            given = shown.join(_type_of(value) for value in values)
            self.refuse(node, f"{given}: {trouble}")
        assert kind is not None
        assert not isinstance(kind, Pair)
        return kind

    def _unary(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            test = self.condition(node.operand)
            if isinstance(test, Const):
                return Const(not test.value)
            return tree.Op(BOOL, node.lineno, "not", (test,))
        value = self.value(node.operand)
        if isinstance(node.op, ast.UAdd):
            return value
        name = "neg" if isinstance(node.op, ast.USub) else "invert"
        if isinstance(value, Const):
            return self.fold(name, (value,), node)
        return self.operate(name, (value,), node)

    def _logic_value(self, node: ast.BoolOp) -> Value:
        return self._logic(node, as_condition=False)

    def _logic(self, node: ast.BoolOp, *, as_condition: bool) -> Const | Expr:
        """``and`` and ``or``: what is known shortens them, the rest is bools."""
        is_and = isinstance(node.op, ast.And)
        made: Expr | None = None
        last: Const | Expr = Const(is_and)
        for operand in node.values:
            if as_condition:
                value = self.condition(operand)
            else:
                given = self.value(operand)
                value = given if isinstance(given, Const) else self.typed(given, operand)
                if isinstance(value, tree.Expr) and value.type is not BOOL:
                    word = "and" if is_and else "or"
                    self.refuse(operand, f"{word} of {short(value.type)}: write ... != 0")
            if isinstance(value, Const):
                if bool(value.value) != is_and:  # the rest does not matter
                    if made is None:
                        return value
                    value = literal(bool(value.value), BOOL, operand.lineno)
                    return tree.Op(BOOL, node.lineno, "land" if is_and else "lor", (made, value))
                last = value
                continue
            if made is None:
                made = value
            else:
                made = tree.Op(BOOL, node.lineno, "land" if is_and else "lor", (made, value))
        return last if made is None else made

    def _comparison(self, node: ast.Compare) -> Value:
        left = self.value(node.left)
        made: Value | None = None
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.value(right_node)
            test = self._compare(op, left, right, node)
            if made is None:
                made = test
            elif isinstance(made, Const):
                made = test if made.value else made
            elif isinstance(test, Const):
                made = made if test.value else test
            else:
                assert isinstance(made, tree.Expr)
                made = tree.Op(BOOL, node.lineno, "land", (made, self.typed(test, node)))
            if len(node.ops) > 1 and isinstance(right, tree.Expr) and not tree.is_pure(right):
                self.refuse(right_node, "in a chained comparison: give it a name first")
            left = right
        assert made is not None
        return made

    def _compare(self, op: ast.cmpop, left: Value, right: Value, node: ast.Compare) -> Value:
        if isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
            return self._identity(op, left, right, node)
        if isinstance(left, Const) and isinstance(right, Const):
            return self.fold(_COMPARE[type(op)], (left, right), node)
        return self.operate(_COMPARE[type(op)], (left, right), node)

    def _identity(self, op: ast.cmpop, left: Value, right: Value, node: ast.Compare) -> Const:
        if isinstance(right, Pack) and all(isinstance(each, Const) for each in right.items):
            right = Const([each.value for each in right.items])
        if not isinstance(left, Const) or not isinstance(right, Const):
            if isinstance(op, (ast.Is, ast.IsNot)) and Const(None) in (left, right):
                return Const(isinstance(op, ast.IsNot))
            self.refuse(node, "is and in: only between what is known when the kernel is compiled")
        if isinstance(op, (ast.Is, ast.IsNot)):
            return Const((left.value is right.value) == isinstance(op, ast.Is))
        return Const((left.value in right.value) == isinstance(op, ast.In))

    def _conditional(self, node: ast.IfExp) -> Value:
        test = self.condition(node.test)
        if isinstance(test, Const):
            return self.value(node.body if test.value else node.orelse)
        this, other = self.value(node.body), self.value(node.orelse)
        return self.choose(test, this, other, node)

    def choose(self, test: Expr, this: Value, other: Value, node: ast.AST) -> Value:
        """One of two values."""
        if isinstance(this, Pack) and isinstance(other, Pack):
            if len(this.items) != len(other.items):
                self.refuse(node, "the two sides have different numbers of values")
            pairs = zip(this.items, other.items, strict=True)
            return Pack(tuple(self.choose(test, one, two, node) for one, two in pairs))
        kind = self._meeting("select", (this, other), node)
        sides = [self.typed(value, node, kind) for value in (this, other)]
        if not all(tree.is_pure(side) for side in sides):
            self.refuse(node, "a side does more than give a value: write an if statement")
        return tree.Op(kind, _line(node), "select", (test, *sides))

    # Tuples and elements

    def _tuple(self, node: ast.Tuple | ast.List) -> Value:
        if any(isinstance(each, ast.Starred) for each in node.elts):
            self.refuse(node, "*: not in kernels")
        return Pack(tuple(self.value(each) for each in node.elts))

    def _subscript(self, node: ast.Subscript) -> Value:
        value = self.value(node.value)
        if isinstance(value, tree.Memory):
            return self.load(value, self.index(value, node.slice), None, node)
        if isinstance(node.slice, ast.Slice):
            return self._slice(value, node.slice, node)
        at = self.value(node.slice)
        if isinstance(value, Pack):
            if not isinstance(at, Const) or not isinstance(at.value, int):
                self.refuse(node, "a tuple's index must be known when the kernel is compiled")
            if not -len(value.items) <= at.value < len(value.items):
                self.refuse(node, f"index {at.value}: there are {len(value.items)} values")
            return value.items[at.value]  # type: ignore[no-any-return]
        if isinstance(value, tree.Expr) and isinstance(value.type, Vector):
            return self.component(value, at, node)
        if isinstance(value, Const) and isinstance(at, Const):
            try:
                return self.captured(value.value[at.value], node, ast.unparse(node))
            except (TypeError, LookupError) as error:
                self.refuse(node, f"{ast.unparse(node)}: {error}")
        self.refuse(node, f"{_type_of(value)}: has no elements")

    def _slice(self, value: Value, part: ast.Slice, node: ast.AST) -> Value:
        bounds = [None if b is None else self.value(b) for b in (part.lower, part.upper, part.step)]
        if not isinstance(value, Pack) or not all(
            b is None or isinstance(b, Const) for b in bounds
        ):
            self.refuse(node, "slices: not in kernels: index one element at a time")
        lower, upper, step = (b.value if isinstance(b, Const) else None for b in bounds)
        return Pack(value.items[lower:upper:step])

    def component(self, value: Expr, at: Value, node: ast.AST) -> Expr:
        """A component of a vector."""
        assert isinstance(value.type, Vector)
        kind = value.type.scalar
        if isinstance(at, Const) and isinstance(at.value, int):
            if not 0 <= at.value < value.type.size:
                self.refuse(node, f"index {at.value} of {short(value.type)}")
            return tree.Part(kind, _line(node), value, at.value)
        return tree.Pick(kind, _line(node), value, self.typed(at, node, I32))

    def index(self, memory: tree.Memory, node: ast.expr) -> tuple[Expr, ...]:
        """The indices of an element."""
        given = self.value(node) if not isinstance(node, ast.Slice) else None
        if given is None or (
            isinstance(node, ast.Tuple) and any(isinstance(e, ast.Slice) for e in node.elts)
        ):
            self.refuse(node, "slices: not in kernels: index one element at a time")
        items = given.items if isinstance(given, Pack) else (given,)
        return self.indices(memory, items, node)

    def indices(
        self, memory: tree.Memory, items: tuple[Value, ...], node: ast.AST
    ) -> tuple[Expr, ...]:
        """Values as the indices of an element."""
        if len(items) != memory.rank:
            self.refuse(
                node, f"{memory.name}: {len(items)} indices: the array has {memory.rank} axes"
            )
        return tuple(self._one_index(memory, axis, item, node) for axis, item in enumerate(items))

    def _one_index(self, memory: tree.Memory, axis: int, item: Value, node: ast.AST) -> Expr:
        if isinstance(item, Const) and isinstance(item.value, int) and memory.shape:
            size = memory.shape[axis]
            if not -size <= item.value < size:
                self.refuse(node, f"{memory.name}: index {item.value} of an axis of {size}")
            item = Const(item.value % size)
        if isinstance(item, Const) and isinstance(item.value, int) and item.value < 0:
            item = self.arithmetic("add", self.size(memory, axis, node), item, node)
        made = self.typed(item, node)
        if not isinstance(made.type, DType) or made.type.kind not in {"int", "uint"}:
            self.refuse(node, f"{memory.name}: an index of {short(made.type)}: write int(...)")
        return made

    def load(
        self, memory: tree.Memory, index: tuple[Expr, ...], default: Expr | None, node: ast.AST
    ) -> Expr:
        """An element."""
        memory.is_read = True
        return tree.Load(in_registers(memory.dtype), _line(node), memory, index, default)

    def _call(self, node: ast.Call) -> Value:
        from aiogpu.lang import calls  # calls stand on expressions

        return calls.call(self, node)

    def _string(self, node: ast.JoinedStr) -> Value:
        self.refuse(node, "a string: not in kernels")


def cast(value: Expr, kind: Type) -> Expr:
    """A scalar in another type."""
    if value.type == kind:
        return value
    return tree.Op(kind, value.line, "cast", (value,))


def _fits_count(by: Expr) -> bool:
    return isinstance(by, tree.Lit) and by.value >= 0  # type: ignore[operator]


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


def _type_of(value: Value) -> str:
    if isinstance(value, tree.Expr):
        return short(value.type)
    if isinstance(value, tree.Memory):
        return "an array"
    if isinstance(value, Pack):
        return "a tuple"
    return repr(value.value) if isinstance(value, Const) else value.name


def _cast_of(kind: Type) -> str:
    if isinstance(kind, Vector):
        return f"gl.vec{kind.size}(...)"
    return {"f32": "float(...)", "i32": "int(...)", "bool": "... != 0"}.get(
        short(kind), f"gl.{short(kind)}(...)"
    )


_KINDS: Final = {"b": "bool", "u": "u32", "i": "i32", "f": "f32"}
_ADVICE: Final = {
    "bool": "write int(...) around it", "float": "write int(...) around it",
    "int": "write float(...) around it", "uint": "write float(...) around it",
    "complex": "take its parts outside",
}  # fmt: skip
_NAMES: Final[dict[type, str]] = {
    ast.Lambda: "lambda", ast.Dict: "a dict", ast.Set: "a set", ast.ListComp: "a comprehension",
    ast.GeneratorExp: "a generator", ast.DictComp: "a comprehension",
    ast.SetComp: "a comprehension", ast.Await: "await", ast.Yield: "yield",
    ast.YieldFrom: "yield from", ast.NamedExpr: ":=", ast.Starred: "*",
    ast.FormattedValue: "a string", ast.Slice: "a slice",
}  # fmt: skip
_HANDLERS: Final[dict[type, Any]] = {
    ast.Constant: Expressions._constant, ast.Name: Expressions._name,
    ast.Attribute: Expressions._attribute, ast.BinOp: Expressions._binary,
    ast.UnaryOp: Expressions._unary, ast.BoolOp: Expressions._logic_value,
    ast.Compare: Expressions._comparison, ast.IfExp: Expressions._conditional,
    ast.Tuple: Expressions._tuple, ast.List: Expressions._tuple,
    ast.Subscript: Expressions._subscript, ast.Call: Expressions._call,
    ast.JoinedStr: Expressions._string,
}  # fmt: skip
