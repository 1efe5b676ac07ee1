"""Python source, as a page sends it: made into something to await."""

import __future__

import ast
import inspect
import itertools
import linecache
import textwrap
from collections import deque
from collections.abc import Callable, Collection, Mapping
from types import CodeType
from typing import Any, Final

from aiogpu.server.binding import bound_names

_numbers = itertools.count(1)

#: Sources that tracebacks and `inspect.getsource` still find; a page may run one in every frame.
_MOST_SOURCES: Final = 500
_filenames: deque[str] = deque()

_FUNCTION: Final = "__aiogpu_run__"


def dedented(source: str) -> str:
    """A source without the indentation that all its lines share: pages write it in templates."""
    return textwrap.dedent(source)


def register(source: str, filename: str) -> str:
    """Makes a source findable by `inspect.getsource` and tracebacks.

    Returns:
        A filename that no other source has: with a shared one the lines of the last source would
        be shown for functions of an earlier one.
    """
    unique = f"<{filename} {next(_numbers)}>"
    # Without a modification time linecache.checkcache never looks for the file, which is not there.
    linecache.cache[unique] = (len(source), None, source.splitlines(keepends=True), unique)
    _filenames.append(unique)
    if len(_filenames) > _MOST_SOURCES:
        linecache.cache.pop(_filenames.popleft(), None)
    return unique


async def evaluate(
    source: str, filename: str, namespace: dict[str, Any], own: Mapping[str, object]
) -> object:
    """Runs a source and gives its last expression's value, or None when it ends in a statement.

    Args:
        source: May use ``await`` at top level.
        filename: From `register`.
        namespace: Global names; what the source binds stays here.
        own: Names that only this run sees, functions that it defines included; assigning to one
            of them changes nothing outside.

    Raises:
        SyntaxError: The source does not compile.
        ValueError: The source has null characters in it.
    """
    # Not ast.parse: its own frame would stand in the traceback of a SyntaxError.
    tree = compile(source, filename, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    assert isinstance(tree, ast.Module)
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | _take_futures(tree)
    if own:
        # As a module first, for errors that a function's body would not give: `return`, `yield`.
        compile(tree, filename, "exec", flags, dont_inherit=True)
        function = _as_function(tree, own)
        made: dict[str, Callable[..., Any]] = {}
        exec(compile(function, filename, "exec", flags, dont_inherit=True), namespace, made)
        return await made[_FUNCTION](*own.values())
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    await _execute(compile(tree, filename, "exec", flags, dont_inherit=True), namespace)
    if not isinstance(last, ast.Expr):
        return None
    expression = ast.Expression(last.value)
    return await _execute(
        compile(expression, filename, "eval", flags, dont_inherit=True), namespace
    )


async def _execute(code: CodeType, namespace: dict[str, Any]) -> object:
    value: Any = eval(code, namespace)
    return await value if code.co_flags & inspect.CO_COROUTINE else value


def _take_futures(tree: ast.Module) -> int:
    """Takes `from __future__` out, for the flags that do the same to each part of the source."""
    flags = 0
    for node in tree.body[:]:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            names = [alias.name for alias in node.names]
            # An unknown one stays in the source, for the compiler to complain about.
            if set(names) <= set(__future__.all_feature_names):
                tree.body.remove(node)
                for name in names:
                    flags |= getattr(__future__, name).compiler_flag
    return flags


def _as_function(tree: ast.Module, own: Collection[str]) -> ast.Module:
    """The source as the body of a function whose parameters are the run's own names.

    A mapping handed to `eval` as locals would not do: functions and comprehensions in the source
    do not see it.
    """
    module = ast.parse(f"async def {_FUNCTION}(): pass")
    function = module.body[0]
    assert isinstance(function, ast.AsyncFunctionDef)
    function.args.args = [ast.arg(name) for name in own]
    shared = bound_names(tree) - set(own)
    body: list[ast.stmt] = [_Unannotated().visit(statement) for statement in tree.body]
    if body and isinstance(body[-1], ast.Expr):
        body[-1] = ast.copy_location(ast.Return(body[-1].value), body[-1])
    function.body = [ast.Global(sorted(shared)), *body] if shared else body or function.body
    return ast.fix_missing_locations(module)


class _Unannotated(ast.NodeTransformer):
    """Turns `x: int = 1` into `x = 1` at top level: a global name may not be annotated."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return ast.copy_location(ast.Assign([node.target], node.value), node)

    def _leave(self, node: ast.AST) -> ast.AST:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _leave  # noqa: N815
