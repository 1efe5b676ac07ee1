"""Python expressions as typed ones."""

from __future__ import annotations

import ast
import builtins
import types as pytypes
from typing import TYPE_CHECKING, Any, Final, TypeVar

from aiogpu.dtypes import DType
from aiogpu.lang import tree
from aiogpu.lang.hints import any_of, near
from aiogpu.lang.operators import Operators, _line, _type_of
from aiogpu.lang.types import BOOL, I32, Vector, in_registers, short
from aiogpu.lang.values import (
    Const,
    Method,
    Pack,
    is_number,
    literal,
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
_MISSING: Final = object()
_COMPONENTS: Final = {"x": 0, "y": 1, "z": 2, "w": 3, "r": 0, "g": 1, "b": 2, "a": 3}


class Expressions(Operators):
    """The expressions of one function.

    Attributes:
        compiler: Whose function it is.
        source: The function's text, for messages.
        names: What names stand for that are known when the kernel is compiled.
        locals: The variables, by name.
        known: Names that surely have a value here.
    """

    def __init__(self, compiler: Compiler, source: Source) -> None:
        super().__init__(compiler, source)
        self.names: dict[str, Value] = {}
        self.locals: dict[str, Local] = {}
        self.known: set[str] = set()
        self.stores: dict[str, int] = {}

    # Values and expressions

    def expr(self, node: ast.expr, want: Type | None = None) -> Expr:
        """A node as a typed expression."""
        return self.typed(self.value(node), node, want)

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
            hint = near(name, [*self.names, *self.locals, *self.seen()])
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
        if isinstance(found, TypeVar) and found in self.compiler.generic:
            return Const(in_registers(self.compiler.generic[found]))
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
                hint = near(name, dir(value.value))
                self.refuse(node, f"{ast.unparse(node)}: there is no such thing{hint}")
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
            what = "is and in: only between what is known when the kernel is compiled"
            self.refuse(node, what + any_of(node))
        if isinstance(op, (ast.Is, ast.IsNot)):
            return Const((left.value is right.value) == isinstance(op, ast.Is))
        return Const((left.value in right.value) == isinstance(op, ast.In))

    def _conditional(self, node: ast.IfExp) -> Value:
        test = self.condition(node.test)
        if isinstance(test, Const):
            return self.value(node.body if test.value else node.orelse)
        this, other = self.value(node.body), self.value(node.orelse)
        return self.choose(test, this, other, node)

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
            name, count, rank = memory.name, len(items), memory.rank
            self.refuse(
                node,
                f"{name}: {count} {'index' if count == 1 else 'indices'}: the array has {rank} "
                f"{'axis' if rank == 1 else 'axes'}: write {name}[{', '.join('ijkl'[:rank])}]",
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
