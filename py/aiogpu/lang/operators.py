"""Operations on values: what is known is computed, the rest becomes typed expressions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, NoReturn

from aiogpu.dtypes import DType
from aiogpu.lang import tree
from aiogpu.lang.operations import ROWS
from aiogpu.lang.types import BOOL, F32, Pair, Vector, scalar_of, short
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
)

if TYPE_CHECKING:
    from aiogpu.lang.compiler import Compiler
    from aiogpu.lang.source import Source
    from aiogpu.lang.tree import Expr
    from aiogpu.lang.types import Type
    from aiogpu.lang.values import Value

_SIGNS: Final = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "and": "&", "or": "|", "xor": "^", "shl": "<<", "shr": ">>", "lt": "<", "le": "<=", "gt": ">",
    "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip
_VECTOR_OPS: Final = frozenset({"add", "sub", "mul", "div", "neg", "abs", "min", "max"})


class Operators:
    """What can be done with the values of one function.

    Attributes:
        compiler: Whose function it is.
        source: The function's text, for messages.
    """

    def __init__(self, compiler: Compiler, source: Source) -> None:
        self.compiler = compiler
        self.source = source

    def refuse(self, node: ast.AST, what: str) -> NoReturn:
        """Raise for a part of the function."""
        self.source.refuse(node, what)

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
