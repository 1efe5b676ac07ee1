"""The source of a kernel and its helpers, captured when they are decorated.

A second run of a notebook cell or of a page's script under the same file name changes what
`inspect.getsource` finds, so it is asked once, early.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import linecache
import textwrap
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, NoReturn
from weakref import WeakKeyDictionary

from aiogpu.errors import KernelError, KernelLine, UsageError
from aiogpu.lang.annotations import Role
from aiogpu.lang.text import excerpt

if TYPE_CHECKING:
    from collections.abc import Mapping

Definition = ast.FunctionDef | ast.Lambda

_ADVICE: Final = (
    "was it defined by exec, or does it come from a wheel without .py files? Give the run a "
    "file name (pyodide.runPythonAsync(code, {filename: 'mine.py'}); gpu.run in a page does), "
    "put the function in a module, or write gpu.kernel(source='...')"
)
_captured: WeakKeyDictionary[FunctionType, Source] = WeakKeyDictionary()
_numbers = itertools.count(1)


@dataclass(frozen=True, eq=False, slots=True)
class Source:
    """A function with its text.

    Attributes:
        function: The function.
        tree: Its definition; line numbers are those of the file.
        filename: Where it stands.
        lines: The lines of the definition.
        first: The number of the first of them.
    """

    function: FunctionType
    tree: Definition
    filename: str
    lines: tuple[str, ...]
    first: int

    @property
    def name(self) -> str:
        """The function's name."""
        return self.function.__name__

    def line(self, number: int) -> str:
        """Line ``number`` of the file, if it belongs to the definition."""
        at = number - self.first
        return self.lines[at].rstrip("\n") if 0 <= at < len(self.lines) else ""

    def refuse(self, node: ast.AST, what: str) -> NoReturn:
        """Raise for a part of the definition: file, line, the line itself, and a caret.

        Raises:
            KernelError: Always.
        """
        raise KernelError(self.shown(node, what)).at(self.place(node))

    def place(self, node: ast.AST | int) -> KernelLine:
        """A line, or that of a part of the definition, for an error that is about it."""
        number = node if isinstance(node, int) else getattr(node, "lineno", self.first)
        return KernelLine(self.filename, number, self.line(number).strip())

    def shown(self, node: ast.AST, what: str) -> str:
        """A message about a part of the definition."""
        number = getattr(node, "lineno", self.first)
        column = getattr(node, "col_offset", 0)
        end = getattr(node, "end_col_offset", column + 1)
        if getattr(node, "end_lineno", number) != number:
            end = len(self.line(number).encode())
        return self.said(number, what, column, end)

    def said(self, number: int, what: str, column: int = -1, end: int = -1) -> str:
        """A message about line ``number``; the columns count bytes, as those of `ast` do."""
        text = self.line(number)
        start, stop = (
            at if at < 0 else len(text.encode()[:at].decode(errors="ignore"))
            for at in (column, end)
        )
        return f"{self.name}: {what}\n{excerpt(f'{self.filename}:{number}', text, start, stop)}"

    def node_of(self, parameter: str) -> ast.AST:
        """Where a parameter stands."""
        arguments = self.tree.args
        for arg in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            if arg.arg == parameter:
                return arg
        return self.tree

    def setting(self, name: str) -> ast.AST:
        """Where the decorator is given something by name; else the definition."""
        for decorator in getattr(self.tree, "decorator_list", ()):
            for keyword in getattr(decorator, "keywords", ()):
                if keyword.arg == name:
                    return keyword  # type: ignore[no-any-return]
        return self.tree


def capture(function: FunctionType) -> Source:
    """The source of ``function``; at once also that of the functions that it calls.

    Raises:
        KernelError: It cannot be had; the message says what to do.
    """
    source = _captured.get(function)
    if source is None:
        source = _captured[function] = _read(function)
        for helper in _helpers(function):
            if helper not in _captured:
                try:
                    capture(helper)
                except KernelError:
                    continue  # said where it is called, if it is
    return source


def _helpers(function: FunctionType) -> list[FunctionType]:
    """Functions that ``function`` names and that are there by now."""
    found = [function.__globals__.get(name) for name in function.__code__.co_names]
    found += captured_names(function).values()
    functions = [getattr(each, "function", each) for each in found]
    return [
        each
        for each in functions
        if isinstance(each, FunctionType) and not str(each.__module__).startswith("aiogpu.")
    ]


def captured_names(function: FunctionType) -> dict[str, Any]:
    """The names of enclosing functions that ``function`` uses, as far as they have values."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            continue
    return found


def _read(function: FunctionType) -> Source:
    code = function.__code__
    filename, first = code.co_filename, code.co_firstlineno
    lines = linecache.getlines(filename, function.__globals__)
    if not lines or first > len(lines):
        raise KernelError(f"kernel: {function.__name__}: its source cannot be read: {_ADVICE}")
    if function.__name__ == "<lambda>":
        return _lambda(function, lines)
    block = inspect.getblock(lines[first - 1 :])
    try:
        tree = ast.parse(textwrap.dedent("".join(block))).body[0]
    except (SyntaxError, IndexError):
        tree = ast.Pass()
    if isinstance(tree, ast.AsyncFunctionDef):
        raise KernelError(
            f"kernel: {function.__name__}: an async function: write def, nothing waits"
        )
    names = code.co_varnames[: code.co_argcount]
    if (
        not isinstance(tree, ast.FunctionDef)
        or tree.name != function.__name__
        or tuple(arg.arg for arg in (*tree.args.posonlyargs, *tree.args.args)) != names
    ):
        raise KernelError(
            f"kernel: {function.__name__}: {filename}:{first}: the text there is another one:"
            " two runs under one file name? Use a new name for each run"
        )
    margin = len(block[0]) - len(block[0].lstrip())
    ast.increment_lineno(tree, first - 1)
    _shift(tree, margin)
    return Source(function, tree, filename, tuple(block), first)


def _shift(tree: ast.AST, margin: int) -> None:
    """Count columns as the file has them."""
    if margin:
        for node in ast.walk(tree):
            if hasattr(node, "col_offset"):
                node.col_offset += margin
                node.end_col_offset += margin  # type: ignore[attr-defined]


def _lambda(function: FunctionType, lines: list[str]) -> Source:
    code = function.__code__
    try:
        module = ast.parse("".join(lines))
    except SyntaxError:
        module = ast.Module([], [])
    spans = {(p[0], p[2]) for p in code.co_positions() if p[0] is not None}
    found = [
        node
        for node in ast.walk(module)
        if isinstance(node, ast.Lambda) and (node.body.lineno, node.body.col_offset) in spans
    ]
    # The innermost: an outer lambda's code may begin where an inner one's does.
    if not found:
        raise KernelError(
            f"kernel: a lambda in {code.co_filename}:{code.co_firstlineno}: its source cannot be "
            "read; write a function with def"
        )
    tree = found[-1]
    last = tree.end_lineno or tree.lineno
    shown = tuple(lines[tree.lineno - 1 : last])
    return Source(function, tree, code.co_filename, shown, tree.lineno)


def define(text: str, namespace: Mapping[str, Any] | None) -> FunctionType:
    """The last function that a source defines; the source stays findable.

    Raises:
        KernelError: It defines none.
        SyntaxError: It does not compile.
        UsageError: It is no text.
    """
    if not isinstance(text, str):
        raise UsageError(f"kernel: source: {type(text).__name__}: takes the text of a function")
    filename = f"<kernel {next(_numbers)}>"
    text = textwrap.dedent(text)
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    names: dict[str, Any] = {"__name__": "__kernel__", **(namespace or {})}
    before = dict(names)
    try:
        exec(compile(text, filename, "exec", dont_inherit=True), names)
    except NameError as error:
        raise KernelError(
            f"kernel: source: {error}: say what its names stand for: namespace=globals()"
        ) from None
    new = [value for name, value in names.items() if before.get(name) is not value]
    made = [value for value in new if isinstance(value, FunctionType)]
    if any(isinstance(getattr(value, "function", None), FunctionType) for value in new):
        raise KernelError("kernel: source: leave the decorator out: its arguments go to gpu.kernel")
    if not made:
        raise KernelError("kernel: source: defines no function: write `def name(...): ...`")
    # Others are its helpers, wherever they stand.
    kernels = [each for each in made if any(map(_is_role, each.__annotations__.values()))]
    return (kernels or made)[-1]


def _is_role(annotation: object) -> bool:
    return isinstance(annotation, Role) and annotation.name != "const"
