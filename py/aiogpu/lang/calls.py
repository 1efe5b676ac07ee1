"""Calls in kernels: of Python's own functions, `math`, the GPU's (`gl`), and the user's."""

from __future__ import annotations

import ast
import builtins
import math
from typing import TYPE_CHECKING, Any, Final

from aiogpu.dtypes import DType
from aiogpu.lang import tree
from aiogpu.lang.annotations import VECTORS, VectorOf
from aiogpu.lang.intrinsics import KNOWN
from aiogpu.lang.operators import cast
from aiogpu.lang.types import BOOL, F16, F32, I32, U32, Vector, as_element, in_registers, short
from aiogpu.lang.values import Const, Method, Pack, is_number, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiogpu.lang.expressions import Expressions
    from aiogpu.lang.tree import Expr
    from aiogpu.lang.values import Value

    Handler = Callable[[Expressions, ast.Call, list[Value]], Value]

_MATH: Final[dict[object, str]] = {
    getattr(math, name): name
    for name in (
        "exp", "expm1", "log", "log2", "log10", "log1p", "sqrt", "sin", "cos", "tan", "asin",
        "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "isnan",
        "isinf", "isfinite", "atan2", "hypot", "copysign", "fmod",
    )
}  # fmt: skip
_MATH[math.fabs] = "abs"
_MATH[math.pow] = "pow"
if hasattr(math, "exp2"):
    _MATH[math.exp2] = "exp2"
# Python's give an int.
_WHOLE: Final[dict[object, str]] = {
    math.floor: "floor", math.ceil: "ceil", math.trunc: "trunc", builtins.round: "round",
}  # fmt: skip
_EVALUATED: Final = frozenset(
    {abs, min, max, round, len, pow, divmod, sum, float, int, bool, tuple, isinstance, range, zip,
     enumerate, reversed, sorted}
)  # fmt: skip
_NUMBERS: Final[dict[str, str]] = {
    "rsqrt": "rsqrt", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "round",
    "fma": "fma", "popcount": "popcount", "clz": "clz", "ctz": "ctz", "reverse_bits": "reverse",
}  # fmt: skip
_USAGE: Final = {
    "shared": "shape, gl.f32", "local": "shape, gl.f32", "get": "i, default",
    "atomic_compare_exchange": "array, index, expected, value",
    **{f"atomic_{name}": "array, index, value"
       for name in ("add", "sub", "min", "max", "and", "or", "xor", "exchange")},
    **dict.fromkeys(("global_id", "local_id", "group_id", "num_groups", "group_size"), "1"),
}  # fmt: skip
_IDS: Final = {"global_id": "global", "local_id": "local", "group_id": "group"}


def call(within: Expressions, node: ast.Call) -> Value:
    """The value of a call."""
    callee = within.value(node.func)
    if isinstance(callee, Method):
        return _get(within, node, callee.memory, _args(within, node))
    if not isinstance(callee, Const):
        within.refuse(node, f"{ast.unparse(node.func)}: cannot be called")
    function = callee.value
    known = KNOWN.get(function) if _is_hashable(function) else None
    if known is not None:
        return intrinsic(within, node, known, _args(within, node))
    element = as_element(function)
    if element is not None:
        return _cast(within, node, element, _args(within, node))
    if isinstance(function, VectorOf) or (_is_hashable(function) and function in VECTORS):
        return _vector(within, node, function, _args(within, node))
    if _is_hashable(function):
        made = _of_python(within, node, function)
        if made is not None:
            return made
    return within.compiler.call(within, node, function)


def _is_hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _args(within: Expressions, node: ast.Call) -> list[Value]:
    if node.keywords or any(isinstance(arg, ast.Starred) for arg in node.args):
        within.refuse(node, f"{ast.unparse(node.func)}: takes plain arguments here, no names, no *")
    return [within.value(arg) for arg in node.args]


def _count(within: Expressions, node: ast.Call, args: list[Value], *allowed: int) -> None:
    if len(args) not in allowed:
        wanted = " or ".join(map(str, allowed))
        given = "1 argument" if len(args) == 1 else f"{len(args)} arguments"
        name = ast.unparse(node.func)
        hint = _USAGE.get(name.rsplit(".", 1)[-1])
        advice = f": write {name}({hint})" if hint else ""
        within.refuse(node, f"{name}: {given}: takes {wanted}{advice}")


# Python's own


def _of_python(within: Expressions, node: ast.Call, function: Any) -> Value | None:  # noqa: ANN401 - whatever is called
    if function is builtins.range:
        within.refuse(node, "range: only in `for ... in range(...)`")
    is_ours = function in _MATH or function in _WHOLE or function in _EVALUATED
    if not is_ours and getattr(function, "__module__", None) != "math":
        if function is builtins.print:
            within.refuse(
                node, "print: not in kernels: k.simulate(...) runs this in Python's debugger"
            )
        return None
    args = _args(within, node)
    if all(isinstance(arg, Const) for arg in args):
        try:
            return Const(function(*(arg.value for arg in args)))  # type: ignore[union-attr]
        except (TypeError, ValueError, ArithmeticError) as error:
            within.refuse(node, f"{ast.unparse(node)}: {error}")
    if function in _MATH:
        return _math(within, node, function, args)
    if function in _WHOLE:
        _count(within, node, args, 1)
        made = within.typed(args[0], node)
        if isinstance(made.type, DType) and made.type.kind in {"int", "uint"}:
            return made
        return cast(within.operate(_WHOLE[function], (made,), node), I32)
    handler = _PYTHON.get(function)
    if handler is None:
        within.refuse(node, f"{ast.unparse(node.func)}: not in kernels")
    return handler(within, node, args)


def _math(within: Expressions, node: ast.Call, function: object, args: list[Value]) -> Value:
    name = _MATH[function]
    if name == "log" and len(args) == 2:
        top = within.operate("log", (args[0],), node)
        return within.operate("div", (top, _log(within, args[1], node)), node)
    two = name in {"atan2", "hypot", "copysign", "fmod", "pow"}
    _count(within, node, args, 2 if two else 1)
    if name in {"abs", "pow"}:
        args = [arg if isinstance(arg, Const) else _as_float(within, arg, node) for arg in args]
        args = [Const(float(arg.value)) if isinstance(arg, Const) else arg for arg in args]
    return within.operate(name, tuple(args), node)


def _log(within: Expressions, value: Value, node: ast.Call) -> Value:
    if isinstance(value, Const):
        return Const(math.log(value.value))
    return within.operate("log", (value,), node)


def _as_float(within: Expressions, value: Value, node: ast.AST) -> Expr:
    made = within.typed(value, node)
    is_float = isinstance(made.type, Vector) or (
        isinstance(made.type, DType) and made.type.kind == "float"
    )
    return made if is_float else cast(made, F32)


def _extreme(name: str) -> Handler:
    def handle(within: Expressions, node: ast.Call, args: list[Value]) -> Value:
        items = list(args[0].items) if len(args) == 1 and isinstance(args[0], Pack) else args
        if not items:
            within.refuse(node, f"{name}: of nothing")
        made = items[0]
        for item in items[1:]:
            if isinstance(made, Const) and isinstance(item, Const):
                made = Const({"min": min, "max": max}[name](made.value, item.value))
            else:
                made = within.operate(name, (made, item), node)
        return made

    return handle


def _absolute(within: Expressions, node: ast.Call, args: list[Value]) -> Value:
    _count(within, node, args, 1)
    return within.operate("abs", (args[0],), node)


def _length_of(within: Expressions, node: ast.Call, args: list[Value]) -> Value:
    _count(within, node, args, 1)
    if isinstance(args[0], Pack):
        return Const(len(args[0].items))
    if isinstance(args[0], tree.Memory):
        return within.size(args[0], 0, node)
    within.refuse(node, "len: takes an array or a tuple")


def _power(within: Expressions, node: ast.Call, args: list[Value]) -> Value:
    _count(within, node, args, 2)
    return within.arithmetic("pow", args[0], args[1], node)


def _sum(within: Expressions, node: ast.Call, args: list[Value]) -> Value:
    _count(within, node, args, 1)
    if not isinstance(args[0], Pack):
        within.refuse(node, "sum: takes a tuple here: write the loop, or use gpu.sum outside")
    total: Value = Const(0)
    for item in args[0].items:
        total = item if total == Const(0) else within.arithmetic("add", total, item, node)
    return total


def _both(within: Expressions, node: ast.Call, args: list[Value]) -> Value:
    _count(within, node, args, 2)
    one, two = args
    return Pack(tuple(within.arithmetic(name, one, two, node) for name in ("floordiv", "mod")))


def _numbered(within: Expressions, node: ast.Call, args: list[Value]) -> Value:
    _count(within, node, args, 1)
    if not isinstance(args[0], Pack):
        within.refuse(node, "enumerate: takes a tuple here: use range")
    return Pack(tuple(Pack((Const(at), item)) for at, item in enumerate(args[0].items)))


def _side_by_side(within: Expressions, node: ast.Call, args: list[Value]) -> Value:
    packs = [arg.items for arg in args if isinstance(arg, Pack)]
    if len(packs) < len(args):
        within.refuse(node, "zip: takes tuples here: use range")
    return Pack(tuple(Pack(items) for items in zip(*packs, strict=False)))


def _backwards(within: Expressions, node: ast.Call, args: list[Value]) -> Value:
    _count(within, node, args, 1)
    if not isinstance(args[0], Pack):
        within.refuse(node, "reversed: takes a tuple here: use range(n - 1, -1, -1)")
    return Pack(args[0].items[::-1])


_PYTHON: Final[dict[object, Handler]] = {
    min: _extreme("min"), max: _extreme("max"), abs: _absolute, len: _length_of, pow: _power,
    sum: _sum, divmod: _both, enumerate: _numbered, zip: _side_by_side, reversed: _backwards,
}  # fmt: skip


# Types as functions


def _cast(within: Expressions, node: ast.Call, element: DType, args: list[Value]) -> Value:
    _count(within, node, args, 1)
    if element not in (F32, F16, I32, U32, BOOL):
        within.refuse(node, f"{element.name}: computing is in f32, f16, i32, u32 and bool")
    value = args[0]
    if isinstance(value, Const):
        if not is_number(value.value):
            within.typed(value, node)
        if element is BOOL:
            return Const(bool(value.value))
        if isinstance(node.func, ast.Name) and node.func.id in {"int", "float"}:
            return Const({I32: int, F32: float}[element](value.value))
        return wrapped(value.value, element, node.lineno)
    made = within.typed(value, node)
    if not isinstance(made.type, DType):
        within.refuse(node, f"{short(made.type)} to {short(element)}: take its components")
    return cast(made, element)


def _vector(within: Expressions, node: ast.Call, function: Any, args: list[Value]) -> Value:  # noqa: ANN401 - a class or an annotation
    size = function.size if isinstance(function, VectorOf) else VECTORS[function]
    scalar = as_element(function.element) if isinstance(function, VectorOf) else None
    parts: list[Value] = []
    for arg in args:
        if isinstance(arg, tree.Expr) and isinstance(arg.type, Vector):
            parts += [within.component(arg, Const(at), node) for at in range(arg.type.size)]
        elif isinstance(arg, Pack):
            parts += arg.items
        else:
            parts.append(arg)
    if len(parts) == 1:
        parts *= size
    if len(parts) != size:
        within.refuse(node, f"vec{size}: {len(parts)} parts")
    if scalar is None:
        if all(isinstance(part, Const) for part in parts):
            parts = [Const(float(part.value)) for part in parts]  # type: ignore[union-attr]
        met = within._meeting("vec", tuple(parts), node)
        assert isinstance(met, DType)
        scalar = met
    if scalar not in (F32, I32, U32):
        within.refuse(node, f"vec{size} of {short(scalar)}: there are those of f32, i32 and u32")
    made = tuple(within.typed(part, node, scalar) for part in parts)
    return tree.Op(Vector(scalar, size), node.lineno, "vector", made)


# The GPU's


def _get(within: Expressions, node: ast.Call, memory: tree.Memory, args: list[Value]) -> Value:
    if len(args) == 2 and isinstance(args[0], Pack):
        args = [*args[0].items, args[1]]
    _count(within, node, args, memory.rank + 1)
    index = within.indices(memory, tuple(args[:-1]), node)
    default = within.typed(args[-1], node, in_registers(memory.dtype))
    if not tree.is_pure(default):
        within.refuse(node, "get: a default that does more than give a value: name it first")
    return within.load(memory, index, default, node)


def intrinsic(within: Expressions, node: ast.Call, name: str, args: list[Value]) -> Value:
    """A call of a function of `gl`."""
    if name in _IDS or name in {"num_groups", "group_size"}:
        return _ids(within, node, name, args)
    if name.startswith("atomic_"):
        return _atomic(within, node, name, args)
    if name.startswith("subgroup_"):
        return _subgroup(within, node, name, args)
    if name in _NUMBERS:
        _count(within, node, args, 3 if name == "fma" else 1)
        made = [within.typed(arg, node) if len(args) == 1 else arg for arg in args]
        return within.operate(_NUMBERS[name], tuple(made), node)
    return _OTHERS[name](within, node, args)


def _ids(within: Expressions, node: ast.Call, name: str, args: list[Value]) -> Value:
    _count(within, node, args, 1)
    rank = args[0].value if isinstance(args[0], Const) else None
    if rank not in (1, 2, 3):
        within.refuse(node, f"{name}: takes 1, 2 or 3: how many axes")
    items: list[Value] = []
    for axis in range(rank - 1, -1, -1):
        if name == "group_size":
            sizes = within.compiler.workgroup
            items.append(Const(sizes[-1 - axis] if axis < len(sizes) else 1))
        else:
            kind = _IDS.get(name, "groups")
            items.append(tree.Id(I32, node.lineno, kind, axis))
    return items[0] if rank == 1 else Pack(tuple(items))


def _local_index(within: Expressions, node: ast.Call, args: list[Value]) -> Value:
    _count(within, node, args, 0)
    return tree.Id(I32, node.lineno, "index", 0)


def _memory(kind: str) -> Handler:
    def handle(within: Expressions, node: ast.Call, args: list[Value]) -> Value:
        _count(within, node, args, 2)
        given = args[0].items if isinstance(args[0], Pack) else (args[0],)
        shape = tuple(each.value if isinstance(each, Const) else None for each in given)
        if not shape or not all(isinstance(size, int) and size > 0 for size in shape):
            within.refuse(node, f"{kind}: the shape must be known when the kernel is compiled")
        dtype = as_element(args[1].value) if isinstance(args[1], Const) else None
        if dtype not in (F32, F16, I32, U32, BOOL):
            within.refuse(node, f"{kind}: the dtype must be gl.f32, f16, i32, u32 or bool")
        made = tree.Memory("", kind, dtype, len(shape), shape, made=(within.source, node))  # type: ignore[arg-type]
        within.compiler.own(within, made, node)
        return made

    return handle


def _barrier(within: Expressions, node: ast.Call, _: list[Value]) -> Value:
    within.refuse(node, "barrier: a statement of its own")


def _select(within: Expressions, node: ast.Call, args: list[Value]) -> Value:
    _count(within, node, args, 3)
    test = args[0]
    if isinstance(test, Const):
        return args[1 if test.value else 2]
    return within.choose(within.typed(test, node, BOOL), args[1], args[2], node)


def _bitcast(within: Expressions, node: ast.Call, args: list[Value]) -> Value:
    _count(within, node, args, 2)
    made = within.typed(args[0], node)
    wanted = as_element(args[1].value) if isinstance(args[1], Const) else None
    if made.type not in (F32, I32, U32) or wanted not in (F32, I32, U32):
        within.refuse(node, "bitcast: between f32, i32 and u32")
    assert wanted is not None
    return made if made.type is wanted else tree.Op(wanted, node.lineno, "bitcast", (made,))


def _unroll(within: Expressions, node: ast.Call, _: list[Value]) -> Value:
    within.refuse(node, "unroll: only in `for ... in gl.unroll(...)`")


def _clamp(within: Expressions, node: ast.Call, args: list[Value]) -> Value:
    _count(within, node, args, 3)
    raised = within.operate("max", (args[0], args[1]), node)
    return within.operate("min", (raised, args[2]), node)


def _dot(within: Expressions, node: ast.Call, args: list[Value]) -> Value:
    _count(within, node, args, 2)
    one, two = (within.typed(arg, node) for arg in args)
    if not isinstance(one.type, Vector) or one.type != two.type:
        within.refuse(node, f"dot of {short(one.type)} and {short(two.type)}: takes equal vectors")
    return tree.Op(one.type.scalar, node.lineno, "dot", (one, two))


def _cross(within: Expressions, node: ast.Call, args: list[Value]) -> Value:
    _count(within, node, args, 2)
    one, two = (within.typed(arg, node) for arg in args)
    if one.type != Vector(F32, 3) or two.type != one.type:
        within.refuse(node, "cross: takes two vec3[f32]")
    return tree.Op(one.type, node.lineno, "cross", (one, two))


def _length(within: Expressions, node: ast.Call, args: list[Value]) -> Value:
    _count(within, node, args, 1)
    return within.operate("sqrt", (_dot(within, node, [args[0], args[0]]),), node)


def _normalize(within: Expressions, node: ast.Call, args: list[Value]) -> Value:
    inverse = within.operate("rsqrt", (_dot(within, node, [args[0], args[0]]),), node)
    return within.operate("mul", (args[0], inverse), node)


_OTHERS: Final[dict[str, Handler]] = {
    "local_index": _local_index, "shared": _memory("shared"), "local": _memory("local"),
    "barrier": _barrier, "select": _select, "bitcast": _bitcast, "unroll": _unroll,
    "clamp": _clamp, "dot": _dot, "cross": _cross, "length": _length, "normalize": _normalize,
}  # fmt: skip


def _atomic(within: Expressions, node: ast.Call, name: str, args: list[Value]) -> Value:
    _count(within, node, args, 4 if name == "atomic_compare_exchange" else 3)
    memory = args[0]
    if not isinstance(memory, tree.Memory) or memory.kind in {"in", "local"}:
        within.refuse(node, f"{name}: takes an Out or InOut array, or shared memory")
    if memory.dtype not in (F32, I32, U32):
        within.refuse(node, f"{name}: of {short(memory.dtype)}: there are i32, u32 and f32")
    short_name = name.removeprefix("atomic_")
    if memory.dtype is F32 and short_name in {"and", "or", "xor"}:
        within.refuse(node, f"{name}: of f32: takes integers")
    items = args[1].items if isinstance(args[1], Pack) else (args[1],)
    index = within.indices(memory, items, node)
    operands = tuple(within.typed(arg, node, memory.dtype) for arg in args[2:])
    memory.is_atomic = True
    memory.is_read = True
    within.compiler.does(within)
    return tree.Atomic(memory.dtype, node.lineno, short_name, memory, index, operands)


def _subgroup(within: Expressions, node: ast.Call, name: str, args: list[Value]) -> Value:
    short_name = name.removeprefix("subgroup_")
    if short_name in {"size", "id"}:
        _count(within, node, args, 0)
        return tree.Subgroup(I32, node.lineno, short_name, ())
    _count(within, node, args, 2 if short_name in {"broadcast", "shuffle"} else 1)
    made = within.typed(args[0], node)
    if made.type not in (F32, I32, U32):
        within.refuse(node, f"{name}: of {short(made.type)}: takes f32, i32 and u32")
    rest = tuple(within.typed(arg, node, I32) for arg in args[1:])
    within.compiler.does(within)
    return tree.Subgroup(made.type, node.lineno, short_name, (made, *rest))
