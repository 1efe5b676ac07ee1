"""Expressions of the typed tree as WGSL."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final

from aiogpu.dtypes import DType
from aiogpu.kernels import types
from aiogpu.lang import tree
from aiogpu.lang.intervals import interval
from aiogpu.lang.operations import FAST, LINEAR, ROWS
from aiogpu.lang.types import BOOL, F16, F32, I32, U32, Pair, Type, Vector, wgsl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiogpu.dtypes import Scalar
    from aiogpu.lang.access import Access
    from aiogpu.lang.tree import Expr, Function, Local, Memory

_EXACT: Final = frozenset({"min", "max", "select", "neg", "abs", "floor", "ceil", "trunc", "round"})
_AXES: Final = "xyz"
_PLAIN: Final = re.compile(r"\W")

TURNS: Final = """\
fn turns(start: i32, stop: i32, step: i32) -> u32 {
  if (step > 0 && start < stop) {
    return (bitcast<u32>(stop) - bitcast<u32>(start) - 1u) / bitcast<u32>(step) + 1u;
  }
  if (step < 0 && start > stop) {
    return (bitcast<u32>(start) - bitcast<u32>(stop) - 1u) / (0u - bitcast<u32>(step)) + 1u;
  }
  return 0u;
}
"""
_POWERS: Final = {"pow2": "x * x", "pow3": "x * x * x", "pow4": "(x * x) * (x * x)"}


def literal(value: Scalar, kind: Type) -> str:
    """A number in WGSL."""
    if kind is BOOL:
        return "true" if value else "false"
    if kind in (F32, F16):
        return _float(float(value))  # type: ignore[arg-type]
    if kind is U32:
        return f"{value}u"
    if value == -(1 << 31):
        return "(-2147483647i - 1i)"
    return f"{value}i" if value >= 0 else f"({value}i)"  # type: ignore[operator]


def _float(value: float) -> str:
    if math.isnan(value):
        return "ag_nan()"
    if math.isinf(value):
        return "ag_inf()" if value > 0 else "(-ag_inf())"
    text = repr(abs(value))
    if not any(each in text for each in ".e"):
        text += ".0"
    if value and abs(value) < 2.0**-126:
        text = abs(value).hex()
    negative = math.copysign(1.0, value) < 0
    return f"(-{text}f)" if negative else f"{text}f"


def _is_constant(expr: Expr) -> bool:
    """Whether WGSL would compute an expression when it compiles."""
    if isinstance(expr, tree.Op) and expr.name == "vector":
        return all(map(_is_constant, expr.args))
    return isinstance(expr, tree.Lit)


class Speller:
    """Writes expressions.

    Attributes:
        access: How memory is reached; None for elementwise functions, which have none.
        workgroup: Invocations along each axis.
        function: The function that is being written.
        powers: Small powers that were used, by name and type.
        is_by_axes: Whether ``l3`` is the invocation's place in its workgroup, in place of ``li``.
    """

    def __init__(
        self, access: Access | None, workgroup: tuple[int, ...], *, is_fast: bool, prefix: str
    ) -> None:
        self.access = access
        self.workgroup = workgroup
        self.function: Function | None = None
        self.powers: dict[tuple[str, str], None] = {}
        self.needs_turns = False
        self.is_by_axes = False
        self._unknowns: dict[str, str] = {}
        self.is_guarded = access is None and not is_fast
        self._is_fast = is_fast
        self._prefix = prefix
        self._names: dict[Local, str] = {}
        self._taken: set[str] = set()

    def begin(self, function: Function) -> None:
        """Turn to a function."""
        self.function = function
        self._names = {}
        self._taken = set()

    def helpers(self) -> str:
        """Functions of our own that the text calls."""
        made = [
            f"fn {self._prefix}{name}_{kind}(x: {kind}) -> {kind} {{ return {_POWERS[name]}; }}\n"
            for name, kind in self.powers
        ]
        made += [
            f"fn {self._prefix}unknown_{plain}(x: {kind}) -> {kind} {{ return x; }}\n"
            for plain, kind in self._unknowns.items()
        ]
        return "".join(made) + (TURNS if self.needs_turns else "")

    # Names

    def own_arguments(self) -> list[str]:
        """What is given to each function besides its arguments: where the invocation is."""
        if self.access is None:
            return []
        return ["wg", "li", "lx", *(("lane", "lanes") if self.access.has_lanes else ())]

    def local(self, local: Local) -> str:
        """The name of a variable: the user's with a prefix, since WGSL reserves many words."""
        name = self._names.get(local)
        if name is None:
            plain = _PLAIN.sub("_", local.name)
            name, number = f"u_{plain}", 1
            while name in self._taken:
                number += 1
                name = f"u_{plain}_{number}"
            self._taken.add(name)
            self._names[local] = name
        return name

    def function_name(self, function: Function) -> str:
        """The name of a function."""
        return self._prefix + _PLAIN.sub("_", function.name)

    def type(self, kind: Type) -> str:
        """A type."""
        return self._prefix + wgsl(kind) if isinstance(kind, Pair) else wgsl(kind)

    # Expressions

    def expr(self, expr: Expr) -> str:
        """An expression; operators can be put beside it."""
        return _SPELLERS[type(expr)](self, expr)  # type: ignore[no-any-return]

    def as_u32(self, expr: Expr) -> str:
        """An index as a u32: a negative one becomes a large one."""
        if isinstance(expr, tree.Lit):
            return f"{expr.value & 0xFFFFFFFF}u"  # type: ignore[operator]
        text = self.expr(expr)
        return text if expr.type is U32 else f"u32({text})"

    def result(self, expr: Expr) -> str:
        """What a function returns."""
        text = self.expr(expr)
        return self._guard(text) if self._is_linear(expr) and self.is_guarded else text

    def _guard(self, text: str) -> str:
        """A float that the compiler must take as it is: see `aiogpu.kernels.body.guarded`."""
        return f"ag_opaque({text}, p.zero)"

    def _is_linear(self, expr: Expr) -> bool:
        return (
            isinstance(expr, tree.Op)
            and expr.type in (F32, F16)
            and (expr.name in LINEAR or expr.name in _POWERS)
        )

    def _lit(self, expr: tree.Lit) -> str:
        return literal(expr.value, expr.type)

    def _var(self, expr: tree.Var) -> str:
        return self.local(expr.local)

    def _given(self, expr: tree.Given) -> str:
        return f"(p.k_{expr.name} != 0u)" if expr.type is BOOL else f"p.k_{expr.name}"

    def _size(self, expr: tree.Size) -> str:
        assert self.access is not None
        return f"i32({self.access.size(expr.memory, expr.axis)})"

    def _id(self, expr: tree.Id) -> str:
        axis = _AXES[expr.axis]
        if expr.kind == "index":
            return "lx"
        if expr.kind == "groups":
            assert self.access is not None
            return self.access.groups(expr.axis)
        local = f"i32(l3.{axis})" if self.is_by_axes else f"li.{axis}"
        if expr.kind == "local":
            return local
        if expr.kind == "group":
            return f"wg.{axis}"
        sizes = self.workgroup
        size = sizes[-1 - expr.axis] if expr.axis < len(sizes) else 1
        return f"(wg.{axis} * {size}i + {local})"

    def _load(self, expr: tree.Load) -> str:
        assert self.access is not None
        index = [self.as_u32(each) for each in expr.index]
        default = None if expr.default is None else self.expr(expr.default)
        is_inside = self.is_inside(expr.memory, expr.index)
        return self.access.load(expr.memory, index, default, is_inside, expr.line)

    def is_inside(self, memory: Memory, index: Sequence[Expr]) -> bool:
        """Whether indices are surely in range."""
        if not memory.shape:
            return False
        for each, size in zip(index, memory.shape, strict=True):
            known = interval(each, self.workgroup)
            if known is None or known[0] < 0 or known[1] >= size:
                return False
        return True

    def _apply(self, expr: tree.Apply) -> str:
        args = [self.expr(arg) for arg in expr.args]
        args[:0] = self.own_arguments()
        return f"{self.function_name(expr.function)}({', '.join(args)})"

    def _part(self, expr: tree.Part) -> str:
        value = self.expr(expr.value)
        return (
            f"{value}.m{expr.at}"
            if isinstance(expr.value.type, Pair)
            else (f"{value}.{'xyzw'[expr.at]}")
        )

    def _pick(self, expr: tree.Pick) -> str:
        return f"{self.expr(expr.value)}[{self.expr(expr.at)}]"

    def _atomic(self, expr: tree.Atomic) -> str:
        assert self.access is not None
        index = [self.as_u32(each) for each in expr.index]
        args = [self.expr(arg) for arg in expr.args]
        is_inside = self.is_inside(expr.memory, expr.index)
        return self.access.atomic(expr.memory, expr.name, index, args, is_inside, expr.line)

    def _subgroup(self, expr: tree.Subgroup) -> str:
        assert self.access is not None
        return self.access.subgroup(expr.name, expr.type, [self.expr(arg) for arg in expr.args])

    def _op(self, expr: tree.Op) -> str:
        special = _SPECIAL.get(expr.name)
        if special is not None:
            return special(self, expr)  # type: ignore[no-any-return]
        return self._row(expr)

    def _row(self, expr: tree.Op) -> str:
        name = expr.name
        args = [self._argument(expr, arg) for arg in expr.args]
        if all(map(_is_constant, expr.args)):
            args[0] = self._unknown(args[0], expr.args[0].type)
        kind = expr.args[0].type
        if isinstance(expr.type, Vector):
            return self._vector_op(expr, args)
        if isinstance(kind, Vector):  # dot
            return ROWS[name].wgsl["*"].format(*args)
        assert isinstance(kind, DType)
        if kind.compute == "f32" and self._is_fast and name in FAST:
            return FAST[name].format(*args)
        row = ROWS[name]
        template = row.wgsl.get(kind.compute) or row.wgsl["*"]
        text = template.format(*args)
        if expr.type is F16 and name not in _EXACT:
            return types.narrow(text, F16)
        return text

    def _argument(self, expr: tree.Op, arg: Expr) -> str:
        text = self.expr(arg)
        if not self.is_guarded or expr.name not in LINEAR or arg.type not in (F32, F16):
            return text
        return self._guard(text) if self._is_linear(arg) or isinstance(arg, tree.Var) else text

    def _unknown(self, text: str, kind: Type) -> str:
        """A number that the compiler does not compute with: it refuses what overflows, say."""
        name = wgsl(kind)
        plain = _PLAIN.sub("_", name)
        self._unknowns[plain] = name
        return f"{self._prefix}unknown_{plain}({text})"

    def _vector_op(self, expr: tree.Op, args: list[str]) -> str:
        """Vectors are computed with by the adapter's own operations."""
        name = expr.name
        if name in FAST or name in {"min", "max"}:
            kind = wgsl(expr.type)
            if name in {"min", "max"}:
                args = [
                    text if isinstance(arg.type, Vector) else f"{kind}({text})"
                    for text, arg in zip(args, expr.args, strict=True)
                ]
            return FAST[name].format(*args)
        return ROWS[name].wgsl.get("*", "{0}").format(*args)

    def _cast(self, expr: tree.Op) -> str:
        (arg,) = expr.args
        assert isinstance(arg.type, DType)
        assert isinstance(expr.type, DType)
        if expr.type is F32 and arg.type is I32:
            known = interval(arg, self.workgroup)
            if known is not None and known[0] >= -(1 << 24) and known[1] <= 1 << 24:
                return f"f32({self.expr(arg)})"
        return types.cast(self.expr(arg), arg.type, expr.type)

    def _bitcast(self, expr: tree.Op) -> str:
        (arg,) = expr.args
        text = self.expr(arg)
        text = self._unknown(text, arg.type) if _is_constant(arg) else text
        return f"bitcast<{wgsl(expr.type)}>({text})"

    def _select(self, expr: tree.Op) -> str:
        test, this, other = (self.expr(arg) for arg in expr.args)
        return f"select({other}, {this}, {test})"

    def _vector(self, expr: tree.Op) -> str:
        return f"{wgsl(expr.type)}({', '.join(self.expr(arg) for arg in expr.args)})"

    def _pair(self, expr: tree.Op) -> str:
        return f"{self.type(expr.type)}({', '.join(self.result(arg) for arg in expr.args)})"

    def _power(self, expr: tree.Op) -> str:
        kind = wgsl(expr.type)
        self.powers[expr.name, kind] = None
        text = f"{self._prefix}{expr.name}_{kind}({self.expr(expr.args[0])})"
        return types.narrow(text, F16) if expr.type is F16 else text

    def _integer_division(self, expr: tree.Op) -> str:
        """Floor division and remainder of integers, by shifts and plain division where they do."""
        first, second = expr.args
        if expr.type not in (I32, U32) or _is_constant(first):
            return self._row(expr)
        one, two = (interval(each, self.workgroup) for each in (first, second))
        is_floor = expr.name == "floordiv"
        if isinstance(second, tree.Lit):
            by: Any = second.value
            if by > 0 and by & (by - 1) == 0:
                if is_floor:
                    return f"({self.expr(first)} >> {by.bit_length() - 1}u)"
                return f"({self.expr(first)} & {literal(by - 1, expr.type)})"
        is_unsigned = expr.type is U32 or (one is not None and one[0] >= 0)
        if is_unsigned and two is not None and two[0] > 0:
            return f"({self.expr(first)} {'/' if is_floor else '%'} {self.expr(second)})"
        return self._row(expr)

    def _division(self, expr: tree.Op) -> str:
        first, second = expr.args
        if isinstance(second, tree.Lit) and expr.type is F32 and not _is_constant(first):
            mantissa, exponent = math.frexp(float(second.value))  # type: ignore[arg-type]
            if abs(mantissa) == 0.5 and -60 < exponent < 60:
                return f"({self.expr(first)} * {literal(1.0 / float(second.value), F32)})"  # type: ignore[arg-type]
        return self._row(expr)

    def _shifted(self, expr: tree.Op) -> str:
        first, second = expr.args
        if _is_constant(first):
            return self._row(expr)
        if isinstance(second, tree.Lit) and 0 <= second.value < 32:  # type: ignore[operator]
            sign = "<<" if expr.name == "shl" else ">>"
            return f"({self.expr(first)} {sign} {second.value}u)"
        return self._row(expr)


_SPELLERS: Final[dict[type, Any]] = {
    tree.Lit: Speller._lit, tree.Var: Speller._var, tree.Given: Speller._given,
    tree.Size: Speller._size, tree.Id: Speller._id, tree.Load: Speller._load,
    tree.Apply: Speller._apply, tree.Part: Speller._part, tree.Pick: Speller._pick,
    tree.Atomic: Speller._atomic, tree.Subgroup: Speller._subgroup, tree.Op: Speller._op,
}  # fmt: skip
_SPECIAL: Final[dict[str, Any]] = {
    "cast": Speller._cast, "bitcast": Speller._bitcast, "select": Speller._select,
    "vector": Speller._vector, "pair": Speller._pair, "pow2": Speller._power,
    "pow3": Speller._power, "pow4": Speller._power, "floordiv": Speller._integer_division,
    "mod": Speller._integer_division, "div": Speller._division, "shl": Speller._shifted,
    "shr": Speller._shifted,
}  # fmt: skip
