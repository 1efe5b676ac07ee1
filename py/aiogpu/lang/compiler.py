"""A kernel for the types of its arguments: its functions, each checked for what it is given."""

from __future__ import annotations

import ast
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

from aiogpu.errors import KernelError
from aiogpu.lang import tree, uniform
from aiogpu.lang.check import Checker
from aiogpu.lang.expressions import Expressions
from aiogpu.lang.hints import instead
from aiogpu.lang.intrinsics import DEVICE
from aiogpu.lang.signature import annotations_of, as_type, result_of
from aiogpu.lang.source import Source, capture
from aiogpu.lang.types import BOOL
from aiogpu.lang.values import Const, Pack, is_number, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiogpu.dtypes import DType
    from aiogpu.lang.values import Value

_SIMPLE = (tree.Var, tree.Lit, tree.Id, tree.Size, tree.Given)


class Compiler:
    """What the functions of one kernel share.

    Attributes:
        workgroup: Invocations along each axis, the fastest last; empty for elementwise functions.
        functions: The functions that are done, each after those that it calls.
        memories: Shared memory, and arrays of an invocation.
        captured: What was taken from outside: a dict or a cell, a name in it, and what was there.
        generic: What the type variables of the parameters are in this call.
    """

    def __init__(
        self, workgroup: tuple[int, ...] = (), generic: Mapping[TypeVar, DType] | None = None
    ) -> None:
        self.workgroup = workgroup
        self.generic = generic or {}
        self.functions: list[tree.Function] = []
        self.memories: list[tree.Memory] = []
        self.captured: list[tuple[Any, str, Any]] = []
        self._known: dict[object, tree.Function] = {}
        self._under_way: list[object] = []
        self._typed: set[Source] = set()

    # What the checker asks

    def capture(self, place: Any, name: str, found: Any) -> None:  # noqa: ANN401 - any namespace
        """Note what stands outside, so that a change of it is seen at the next call."""
        self.captured.append((place, name, found))

    def does(self, within: Expressions) -> None:
        """The function that is being checked does something besides giving a value."""
        within.function.does = True  # type: ignore[attr-defined]

    def own(self, within: Expressions, memory: tree.Memory, node: ast.Call) -> None:
        """The kernel has memory of its own."""
        if not self.workgroup:
            within.refuse(node, "memory: an elementwise function has none: use gpu.kernel")
        self.memories.append(memory)
        if memory.kind == "local":
            within.emit(tree.Clear(node.lineno, memory))  # type: ignore[attr-defined]

    def result_type(self, checker: Checker) -> Any:  # noqa: ANN401 - a type or None
        """The type that a function must return; None where that follows from what it returns."""
        source = checker.source
        return result_of(source) if source in self._typed else None

    # Functions of the user's

    def call(self, within: Expressions, node: ast.Call, function: Any) -> Value:  # noqa: ANN401 - any
        """A call of something that is not ours."""
        is_typed = getattr(function, "is_elementwise", False)
        inner = function.function if is_typed else function
        if not isinstance(inner, FunctionType) or str(inner.__module__).startswith("aiogpu."):
            name = ast.unparse(node.func)
            within.refuse(node, f"{name}: not in kernels: {instead(name, function)}")
        try:
            source = capture(inner)
        except KernelError as error:
            within.refuse(node, str(error))
        is_typed = is_typed or inner in DEVICE
        bound = self._bind(within, node, source)
        try:
            if not is_typed and _is_expression(source) and all(map(_is_simple, bound.values())):
                return self._inline(within, source, bound)
            return self._apply(within, node, source, bound, is_typed=is_typed)
        except KernelError as error:
            called = within.source.said(node.lineno, "called from here").split("\n", 1)[1]
            text = f"{error}\n  called from\n{called}"
            raise KernelError(text).at(error.kernel_line) from None

    def _bind(self, within: Expressions, node: ast.Call, source: Source) -> dict[str, Value]:
        arguments = source.tree.args
        if arguments.vararg or arguments.kwarg:
            within.refuse(node, f"{source.name}: has * or ** parameters")
        if any(isinstance(arg, ast.Starred) for arg in node.args) or any(
            keyword.arg is None for keyword in node.keywords
        ):
            within.refuse(node, "* and ** in a call: not in kernels")
        names = [arg.arg for arg in (*arguments.posonlyargs, *arguments.args)]
        if len(node.args) > len(names):
            within.refuse(node, f"{source.name}: {len(node.args)} arguments: takes {len(names)}")
        bound = {name: within.value(arg) for name, arg in zip(names, node.args, strict=False)}
        names += [arg.arg for arg in arguments.kwonlyargs]
        for keyword in node.keywords:
            assert keyword.arg is not None
            if keyword.arg not in names or keyword.arg in bound:
                within.refuse(node, f"{source.name}: {keyword.arg}: no such parameter, or twice")
            bound[keyword.arg] = within.value(keyword.value)
        function = source.function
        positional = [arg.arg for arg in (*arguments.posonlyargs, *arguments.args)]
        defaults = dict(
            zip(reversed(positional), reversed(function.__defaults__ or ()), strict=False)
        )
        defaults.update(function.__kwdefaults__ or {})
        for name in names:
            if name not in bound:
                if name not in defaults:
                    within.refuse(node, f"{source.name}: {name} is not given")
                bound[name] = within.captured(plain(defaults[name]), node, name)
        return {name: bound[name] for name in names}

    def _inline(self, within: Expressions, source: Source, bound: dict[str, Value]) -> Value:
        """The value of a function that is one expression, in the place of the call."""
        if source in self._under_way:
            within.refuse(source.tree, "calls itself: not in kernels")
        self._under_way.append(source)
        inner = Expressions(self, source)
        inner.function = within.function  # type: ignore[attr-defined]
        inner.emit = within.emit  # type: ignore[attr-defined]
        inner.names.update(bound)
        inner.known.update(bound)
        tree_ = source.tree
        body = tree_.body if isinstance(tree_, ast.Lambda) else tree_.body[-1].value  # type: ignore[attr-defined]
        value = inner.value(body)
        self._under_way.pop()
        return value

    def _apply(
        self,
        within: Expressions,
        node: ast.Call,
        source: Source,
        bound: dict[str, Value],
        *,
        is_typed: bool,
    ) -> Value:
        if is_typed:
            wanted = annotations_of(source)
            for name, value in bound.items():
                kind = as_type(wanted.get(name))
                if kind is not None and isinstance(value, (Const, tree.Expr)):
                    bound[name] = within.typed(value, node, kind)
        function, args = self.specialise(source, bound, is_typed=is_typed)
        caller: tree.Function = within.function  # type: ignore[attr-defined]
        caller.does |= function.does
        caller.waits |= function.waits
        result = function.result
        if result is None:
            return _Nothing.call(within, node, function, args)
        return tree.Apply(result, node.lineno, function, args)

    def specialise(
        self, source: Source, bound: dict[str, Value], *, is_typed: bool = False
    ) -> tuple[tree.Function, tuple[tree.Expr, ...]]:
        """A function for what its parameters are, and the arguments that are left for run time.

        Raises:
            KernelError: The function does what kernels cannot, or calls itself.
        """
        if is_typed:
            self._typed.add(source)
        function = tree.Function(source, source.name)
        checker = Checker(self, source, function)
        args: list[tree.Expr] = []
        described: list[object] = [source]
        for name, value in bound.items():
            described.append(self._parameter(checker, name, value, args))
        key = tuple(described)
        if key in self._under_way:
            source.refuse(source.tree, "calls itself: not in kernels: write a loop")
        known = self._known.get(key)
        if known is None:
            self._under_way.append(key)
            function.params = list(function.locals)
            checker.run()
            self._under_way.pop()
            function.name = f"{source.name}_{len(self.functions)}"
            self.functions.append(function)
            known = self._known[key] = function
        return known, tuple(args)

    def _parameter(
        self, checker: Checker, name: str, value: Value, args: list[tree.Expr]
    ) -> object:
        """Make a parameter known to its function; gives what the function depends on."""
        is_changed = checker.stores.get(name, 0) > 0
        if is_changed:
            checker.stores[name] += 2
        checker.known.add(name)
        if isinstance(value, Const) and is_changed and is_number(value.value):
            value = checker.typed(value, checker.source.tree)
        if isinstance(value, tree.Expr):
            args.append(value)
            local = checker._declare(name, value.type, checker.source.tree)
            checker.locals[name] = local
            return value.type
        if isinstance(value, Pack):
            items: list[Value] = []
            parts: list[object] = []
            for at, item in enumerate(value.items):
                parts.append(self._parameter(checker, f"{name}[{at}]", item, args))
                inner = f"{name}[{at}]"
                local_or_none = checker.locals.pop(inner, None)
                if local_or_none is not None:
                    line = checker.source.first
                    items.append(tree.Var(local_or_none.type, line, local_or_none))
                else:
                    items.append(checker.names.pop(inner))
            checker.names[name] = Pack(tuple(items))
            return tuple(parts)
        checker.names[name] = value
        if isinstance(value, Const):
            try:
                hash(value.value)
            except TypeError:
                return id(value.value)
            return type(value.value), value.value
        return value


class _Nothing:
    """The value of a call that gives none: a statement of its own."""

    @staticmethod
    def call(
        within: Expressions, node: ast.Call, function: tree.Function, args: tuple[tree.Expr, ...]
    ) -> Value:
        emit = getattr(within, "emit", None)
        if emit is None:
            within.refuse(node, f"{function.source.name}: returns nothing")
        emit(tree.Evaluate(node.lineno, tree.Apply(BOOL, node.lineno, function, args)))
        return Const(None)


def _is_expression(source: Source) -> bool:
    """Whether a function is one return statement."""
    if isinstance(source.tree, ast.Lambda):
        return True
    body = source.tree.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    return len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is not None


def _is_simple(value: Value) -> bool:
    if isinstance(value, Pack):
        return all(map(_is_simple, value.items))
    return not isinstance(value, tree.Expr) or isinstance(value, _SIMPLE)


def compile_kernel(
    source: Source,
    arrays: dict[str, tree.Memory],
    scalars: dict[str, DType],
    consts: dict[str, Any],
    workgroup: tuple[int, ...],
    naxes: int,
    generic: Mapping[TypeVar, DType],
) -> tree.Kernel:
    """The typed tree of a kernel.

    Args:
        source: Its function.
        arrays: Its arrays, by parameter.
        scalars: The types of the numbers that come with the call.
        consts: What is known now.
        workgroup: Invocations of a workgroup along each axis, the fastest last.
        naxes: Axes of the grid.
        generic: What the type variables of its parameters are.

    Raises:
        KernelError: The function does what kernels cannot; the message shows the line.
    """
    compiler = Compiler(workgroup, generic)
    bound: dict[str, Value] = {**arrays}
    for name, value in consts.items():
        bound[name] = _constant(value)
    function = tree.Function(source, source.name)
    checker = Checker(compiler, source, function)
    for name, dtype in scalars.items():
        given = tree.Given(dtype, source.first, name)
        if checker.stores.get(name):
            checker.stores[name] += 2
            local = checker.locals[name] = checker._declare(name, dtype, source.tree)
            function.body.append(tree.Set(source.first, local, given))
        else:
            bound[name] = given
        checker.known.add(name)
    for name, each in bound.items():
        if checker.stores.get(name):
            is_array = isinstance(each, tree.Memory)
            what = (
                f"an array cannot be assigned: write {name}[...] = ..."
                if is_array
                else ("a parameter that is assigned: use another name")
            )
            source.refuse(_store_of(source, name), f"{name}: {what}")
        checker.names[name] = each
        checker.known.add(name)
    checker.run()
    if function.result is not None:
        _, _, at = next(each for each in checker.returns if each[1] is not None)
        source.refuse(at, "a kernel returns nothing: write to its Out arrays")
    compiler.functions.append(function)
    _check_used(source, arrays)
    made = tree.Kernel(
        function, compiler.functions, list(arrays.values()), scalars, compiler.memories, workgroup,
        naxes, compiler.captured,
    )  # fmt: skip
    uniform.check(made)
    return made


def _store_of(source: Source, name: str) -> ast.AST:
    """Where a function first assigns a name."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
            return node
    return source.tree


def _check_used(source: Source, arrays: Mapping[str, tree.Memory]) -> None:
    """Refuse Out arrays of which nothing is said: what is in them nobody would know."""
    named = {node.id for node in ast.walk(source.tree) if isinstance(node, ast.Name)}
    for name, memory in arrays.items():
        if memory.kind == "out" and name not in named:
            what = f"{name}: an Out array that is never written: write {name}[...] = ..."
            source.refuse(source.node_of(name), what)


def compile_function(
    source: Source,
    types: dict[str, DType],
    consts: dict[str, Any],
    generic: Mapping[TypeVar, DType] | None = None,
) -> tuple[tree.Function, Compiler]:
    """An elementwise function for the types of its parameters.

    Raises:
        KernelError: The function does what kernels cannot; the message shows the line.
    """
    compiler = Compiler(generic=generic)
    bound: dict[str, Value] = {}
    for name, dtype in types.items():
        bound[name] = tree.Given(dtype, source.first, name)
    for name, value in consts.items():
        bound[name] = _constant(value)
    function, _ = compiler.specialise(source, bound, is_typed=True)
    if function.result is None:
        source.refuse(source.tree, "returns nothing: an elementwise function gives its value")
    if function.waits or function.does:
        source.refuse(source.tree, "barriers and atomics: not in an elementwise function")
    return function, compiler


def _constant(value: Any) -> Value:  # noqa: ANN401 - what the caller gave
    value = plain(value)
    if isinstance(value, (tuple, list)):
        return Pack(tuple(map(_constant, value)))
    return Const(value)
