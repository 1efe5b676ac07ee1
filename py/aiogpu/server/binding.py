"""Which names a source binds at top level.

`symtable` knows it too, but since Python 3.13 it refuses a source with ``await`` at top level, and
takes no flag that would allow it.
"""

import ast


def bound_names(tree: ast.Module) -> set[str]:
    """The names that become global when the source runs as a module; ``import *`` is not seen."""
    binding = _Binding()
    binding.visit(tree)
    return binding.names


class _Binding(ast.NodeVisitor):
    """Visits everything but scopes of their own."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.names.add(node.id)

    def visit_alias(self, node: ast.alias) -> None:
        if node.name != "*":
            self.names.add(node.asname or node.name.partition(".")[0])

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self._bind(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        self._bind(node.name)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        self._bind(node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self._bind(node.rest)
        self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._bind(node.name)
        self._visit_all(node.decorator_list, node.bases, [item.value for item in node.keywords])

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._bind(node.name)
        self._visit_all(node.decorator_list)
        self.visit_Lambda(node)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - as ast names it

    def visit_Lambda(self, node: ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        # Defaults belong to the scope around; what the body binds is its own.
        self._visit_all(node.args.defaults, [item for item in node.args.kw_defaults if item])

    def _visit_comprehension(self, node: ast.AST) -> None:
        # Its loop variables are its own, but `:=` in it binds outside (PEP 572).
        for part in ast.walk(node):
            if isinstance(part, ast.NamedExpr):
                self._bind(part.target.id)

    visit_ListComp = _visit_comprehension  # noqa: N815
    visit_SetComp = _visit_comprehension  # noqa: N815
    visit_DictComp = _visit_comprehension  # noqa: N815
    visit_GeneratorExp = _visit_comprehension  # noqa: N815

    def _bind(self, name: str | None) -> None:
        if name is not None:
            self.names.add(name)

    def _visit_all(self, *lists: list[ast.expr]) -> None:
        for nodes in lists:
            for node in nodes:
                self.visit(node)
