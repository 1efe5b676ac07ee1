"""Kernels on CPython and NumPy: the typed tree as Python, an invocation after the other.

A function in which invocations wait for each other is a generator that yields where they do.
Between barriers the invocations run in the order of their numbers: a race that the GPU would show
may not show here.
"""

from __future__ import annotations

import random
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, Final, TypeVar

from aiogpu.dtypes import DType
from aiogpu.errors import AxisError, UsageError
from aiogpu.lang import tree
from aiogpu.lang.operations import ROWS
from aiogpu.lang.scalars import kind_of, namespace
from aiogpu.lang.subgroups import SUBGROUP
from aiogpu.lang.types import BOOL, F32, Pair, Vector, in_registers
from aiogpu.lang.uniform import asks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aiogpu.lang.tree import Expr, Function, Kernel, Local, Memory, Stmt


T = TypeVar("T")


class State:
    """What an invocation sees: its numbers, the kernel's memory, the numbers given to it."""


class Writer:
    """Writes functions as Python."""

    def __init__(self, memories: Mapping[Memory, str], workgroup: tuple[int, ...]) -> None:
        self._memories = memories
        self._workgroup = workgroup
        self._lines: list[str] = []
        self._depth = 0
        self._names: dict[Local, str] = {}
        self.constants: dict[str, Any] = {}

    def text(self, functions: Sequence[Function]) -> str:
        """The functions."""
        for function in functions:
            self._names = {}
            params = ", ".join(self._name(each) for each in function.params)
            self._add(f"def {_function(function)}(_s, {params}):")
            self._block(function.body)
        return "\n".join(self._lines)

    def _add(self, line: str) -> None:
        self._lines.append("  " * self._depth + line)

    def _name(self, local: Local) -> str:
        return self._names.setdefault(local, f"v{len(self._names)}")

    def _block(self, body: Sequence[Stmt]) -> None:
        self._depth += 1
        for statement in body:
            self._statement(statement)
        if not body:
            self._add("pass")
        self._depth -= 1

    def _statement(self, statement: Stmt) -> None:  # noqa: C901 - one case a statement
        match statement:
            case tree.Set(local=local, value=value):
                copy = ".copy()" if isinstance(value.type, Vector) else ""
                self._add(f"{self._name(local)} = {self._expr(value)}{copy}")
            case tree.SetPart(local=local, at=at, value=value):
                self._add(f"{self._name(local)}[{self._expr(at)}] = {self._expr(value)}")
            case tree.Store(memory=memory, index=index, value=value):
                place = self._tuple(index)
                what = f"{self._memory(memory)}, {place}, {self._expr(value)}, {statement.line}"
                self._add(f"_s.put({what})")
            case tree.Evaluate(value=value):
                self._add(self._expr(value))
            case tree.If(test=test, then=then, other=other):
                self._add(f"if {self._expr(test)}:")
                self._block(then)
                self._add("else:")
                self._block(other)
            case tree.While(test=test, body=body):
                self._add(f"while {self._expr(test)}:")
                self._block(body)
            case tree.For(local=local, body=body):
                bounds = (statement.start, statement.stop, statement.step)
                turns = ", ".join(map(self._expr, bounds))
                self._add(f"for {self._name(local)} in _turns({turns}):")
                self._block(body)
            case tree.Jump(name=name):
                self._add(name)
            case tree.Return(value=result):
                self._add("return" if result is None else f"return {self._expr(result)}")
            case tree.Barrier():
                self._add("yield None")
            case tree.Clear(memory=memory):
                self._add(f"_s.clear({self._memory(memory)})")
            case _:
                raise AssertionError(statement)

    def _memory(self, memory: Memory) -> str:
        return f"_s.{self._memories[memory]}"

    def _tuple(self, index: Sequence[Expr]) -> str:
        return "(" + "".join(f"{self._expr(each)}, " for each in index) + ")"

    def _constant(self, value: object, dtype: DType) -> str:
        name = f"_c{len(self.constants)}"
        self.constants[name] = (value, dtype)
        return name

    def _expr(self, expr: Expr) -> str:  # noqa: C901 - one case an expression
        match expr:
            case tree.Lit(value=value):
                assert isinstance(expr.type, DType)
                return self._constant(value, expr.type)
            case tree.Var(local=local):
                return self._name(local)
            case tree.Given(name=name):
                return f"_s.k_{name}"
            case tree.Size(memory=memory, axis=axis):
                return f"_np.int32({self._memory(memory)}.shape[{axis}])"
            case tree.Id(kind=kind, axis=axis):
                return f"_s.id_{kind}[{axis}]"
            case tree.Load(memory=memory, index=index, default=default):
                other = "None" if default is None else self._expr(default)
                kind = kind_of(in_registers(memory.dtype))
                place = self._tuple(index)
                return f"_s.get({self._memory(memory)}, {place}, {other}, {kind}, {expr.line})"
            case tree.Apply(function=function, args=args):
                given = ", ".join(["_s", *map(self._expr, args)])
                call = f"{_function(function)}({given})"
                return f"(yield from {call})" if waits(function) else call
            case tree.Part(value=value, at=at):
                return f"{self._expr(value)}[{at}]"
            case tree.Pick(value=value, at=at):
                return f"{self._expr(value)}[{self._expr(at)}]"
            case tree.Atomic(memory=memory, index=index, args=args):
                given = "".join(f", {self._expr(arg)}" for arg in args)
                place = self._tuple(index)
                return (
                    f"_s.atomic('{expr.name}', {self._memory(memory)}, {place}, {expr.line}{given})"
                )
            case tree.Subgroup(name=name, args=args):
                if not args:
                    return f"_s.subgroup_{name}"
                return f"(yield ('{name}', {', '.join(map(self._expr, args))}))"
            case tree.Op():
                return self._op(expr)
            case _:
                raise AssertionError(expr)

    def _op(self, expr: tree.Op) -> str:
        args = [self._expr(arg) for arg in expr.args]
        name = expr.name
        if name == "cast":
            assert isinstance(expr.type, DType)
            return f"_cast({args[0]}, {kind_of(expr.type)})"
        if name == "bitcast":
            assert isinstance(expr.type, DType)
            return f"_bitcast({args[0]}, {kind_of(expr.type)})"
        if name == "select":
            return f"({args[1]} if {args[0]} else {args[2]})"
        if name == "vector":
            assert isinstance(expr.type, Vector)
            return f"_np.array([{', '.join(args)}], {kind_of(expr.type.scalar)})"
        if name == "pair":
            return f"({', '.join(args)},)"
        if name in _OWN:
            return _OWN[name].format(*args)
        return ROWS[name].numpy.format(*args)


_OWN: Final = {
    "pow2": "_pow2({0})", "pow3": "_pow3({0})", "pow4": "_pow4({0})", "shl": "_left({0}, {1})",
    "shr": "_right({0}, {1})",
}  # fmt: skip


def _function(function: Function) -> str:
    return f"f_{id(function)}"


def waits(function: Function) -> bool:
    """Whether a function's invocations wait for each other in it."""
    if function.waits or asks(function):
        return True
    return any(
        isinstance(each, tree.Apply) and waits(each.function)
        for statement in function.body
        for each in tree.walk(statement)
    )


def compiled(
    functions: Sequence[Function], memories: Mapping[Memory, str], workgroup: tuple[int, ...]
) -> dict[Function, Any]:
    """The functions as Python functions."""
    writer = Writer(memories, workgroup)
    text = writer.text(functions)
    names = namespace()
    for name, (value, dtype) in writer.constants.items():
        names[name] = names["_kinds"][dtype](value)
    exec(compile(text, "<simulated kernel>", "exec", dont_inherit=True), names)
    return {function: names[_function(function)] for function in functions}


def _accessors(  # noqa: C901 - a set of small functions
    names: dict[str, Any], kernel: Kernel, *, is_debug: bool
) -> dict[str, Any]:
    np = names["_np"]

    def inside(array: Any, index: tuple[Any, ...], line: int) -> bool:  # noqa: ANN401 - a NumPy array
        for axis, (at, size) in enumerate(zip(index, array.shape, strict=True)):
            if not 0 <= at < size:
                if is_debug:
                    what = f"index {at} of axis {axis}, which has {size} elements"
                    source = kernel.main.source
                    raise AxisError(source.said(line, what)).at(source.place(line))
                return False
        return True

    def get(array: Any, index: Any, default: Any, kind: Any, line: int) -> Any:  # noqa: ANN401 - NumPy
        if default is not None:
            is_there = all(0 <= at < size for at, size in zip(index, array.shape, strict=True))
            return kind(array[index]) if is_there else default
        return kind(array[index]) if inside(array, index, line) else kind(0)

    def put(array: Any, index: Any, value: Any, line: int) -> None:  # noqa: ANN401 - NumPy
        if inside(array, index, line):
            array[index] = value.astype(array.dtype) if hasattr(value, "astype") else value

    def atomic(name: str, array: Any, index: Any, line: int, *args: Any) -> Any:  # noqa: ANN401 - NumPy
        if not inside(array, index, line):
            return array.dtype.type(0)
        old = array[index]
        if name == "compare_exchange":
            if old == args[0]:
                array[index] = args[1]
        else:
            array[index] = changes[name](old, args[0])
        return old

    changes: dict[str, Any] = {
        "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "min": np.minimum, "max": np.maximum,
        "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
        "exchange": lambda a, b: b,  # noqa: ARG005 - the old value does not matter
    }  # fmt: skip
    return {"get": get, "put": put, "atomic": atomic, "clear": lambda array: array.fill(0)}


def run(
    kernel: Kernel,
    arrays: Sequence[Any],
    scalars: Mapping[str, Any],
    groups: tuple[int, ...],
    *,
    is_debug: bool,
    seed: int | None = None,
) -> None:
    """Run a kernel on NumPy arrays, which it changes.

    Args:
        kernel: The kernel.
        arrays: For each of its arrays, in order.
        scalars: For each of its numbers.
        groups: Workgroups along each axis, the fastest first.
        is_debug: Whether an index out of range raises.
        seed: Draws the order of workgroups and invocations; negative for the reverse of that of
            their numbers.

    Raises:
        AxisError: One did.
        UsageError: Some invocations ended where others wait.
    """
    names = namespace()
    np, kinds = names["_np"], names["_kinds"]
    memories = {memory: f"b{at}" for at, memory in enumerate(kernel.arrays)}
    memories |= {memory: f"m{at}" for at, memory in enumerate(kernel.memories)}
    functions = compiled(kernel.functions, memories, kernel.workgroup)
    main = functions[kernel.main]
    given: dict[str, Any] = _accessors(names, kernel, is_debug=is_debug)
    given |= {f"b{at}": array for at, array in enumerate(arrays)}
    given |= {f"k_{name}": kinds[dtype](scalars[name]) for name, dtype in kernel.scalars.items()}
    sizes = (*reversed(kernel.workgroup), 1, 1, 1)[:3]
    given["id_groups"] = [np.int32(count) for count in groups]
    given["subgroup_size"] = np.int32(min(SUBGROUP, prod(sizes)))
    with np.errstate(all="ignore"):
        order = _Order(seed)
        for group in order.of(list(product(*(range(count) for count in reversed(groups))))):
            where = tuple(reversed(group))
            shared = _made(kernel, memories, "shared", kinds)
            states = []
            for number, local in enumerate(product(*(range(s) for s in reversed(sizes)))):
                state = State()
                own = tuple(reversed(local))
                state.__dict__.update(given, **shared, **_made(kernel, memories, "local", kinds))
                state.__dict__.update(
                    id_group=[np.int32(at) for at in where],
                    id_local=[np.int32(at) for at in own],
                    id_index=[np.int32(number)],
                    id_global=[
                        np.int32(at * size + mine)
                        for at, size, mine in zip(where, sizes, own, strict=True)
                    ],
                    subgroup_id=np.int32(number % SUBGROUP),
                )
                states.append(state)
            if waits(kernel.main):
                _together([main(state) for state in states], order, np)
            else:
                for state in order.of(states):
                    main(state)


class _Order:
    """An order in which things are done that nobody orders."""

    def __init__(self, seed: int | None) -> None:
        self._is_reversed = seed is not None and seed < 0
        self._random = None if seed is None or seed < 0 else random.Random(seed)

    def of(self, things: list[T]) -> list[T]:
        """The things in the order in which they are done."""
        if self._random is not None:
            return self._random.sample(things, len(things))
        return things[::-1] if self._is_reversed else things


def _made(
    kernel: Kernel, names: Mapping[Memory, str], kind: str, kinds: Mapping[DType, Any]
) -> dict[str, Any]:
    """Memory of the kernel's own, zero."""
    import numpy as np  # only the simulator needs it

    return {
        names[memory]: np.zeros(memory.shape, kinds[memory.dtype])
        for memory in kernel.memories
        if memory.kind == kind
    }


def _together(invocations: list[Any], order: _Order, np: Any) -> None:  # noqa: ANN401 - the module
    """Run the invocations of a workgroup from one meeting to the next."""
    answers: list[Any] = [None] * len(invocations)
    while True:
        asked: list[Any] = [None] * len(invocations)
        ended = 0
        for at in order.of(list(range(len(invocations)))):
            try:
                asked[at] = invocations[at].send(answers[at])
            except StopIteration:
                ended += 1
        if ended == len(invocations):
            return
        if ended:
            raise UsageError("simulate: some invocations ended where others wait at a barrier")
        answers = [None] * len(invocations)
        if asked[0] is not None:
            for first in range(0, len(asked), SUBGROUP):
                part = asked[first : first + SUBGROUP]
                answers[first : first + SUBGROUP] = _answers(part, np)


def _answers(asked: list[Any], np: Any) -> list[Any]:  # noqa: ANN401 - the module
    """What an operation of a subgroup gives each of its invocations."""
    name = asked[0][0]
    values = [each[1] for each in asked]
    if name in {"broadcast", "shuffle"}:
        return [values[min(int(each[2]) % SUBGROUP, len(values) - 1)] for each in asked]
    change = {"add": lambda a, b: a + b, "min": np.minimum, "max": np.maximum}[name]
    while len(values) > 1:  # neighbours two by two
        pairs = [change(a, b) for a, b in zip(values[::2], values[1::2], strict=False)]
        values = pairs + values[2 * len(pairs) :]
    return values * len(asked)


def elementwise(function: Function, arrays: Sequence[Any], kinds: Sequence[DType]) -> Any:  # noqa: ANN401 - an array, or several
    """An elementwise function on NumPy arrays, which broadcast; one array, or a tuple of them."""
    functions = [function]
    for each in functions:
        for node in (found for s in each.body for found in tree.walk(s)):
            if isinstance(node, tree.Apply) and node.function not in functions:
                functions.append(node.function)
    call = compiled(functions, {}, ())[function]
    names = namespace()
    np, types = names["_np"], names["_kinds"]
    whole = np.broadcast_arrays(*arrays)
    results = []
    with np.errstate(all="ignore"):
        for items in zip(*(each.ravel() for each in whole), strict=True):
            args = [
                names["_cast"](item, types[in_registers(kind)])
                for item, kind in zip(items, kinds, strict=True)
            ]
            results.append(call(State(), *args))
    shape = whole[0].shape
    if isinstance(function.result, Pair):
        return tuple(
            np.array([each[at] for each in results], types[part]).reshape(shape)
            for at, part in enumerate(function.result.parts)
        )
    kind = function.result if isinstance(function.result, DType) else F32
    return np.array(results, types[kind]).reshape(shape)


def numpy_dtype(dtype: DType) -> str:
    """NumPy's name of a dtype."""
    return "bool" if dtype is BOOL else dtype.name
