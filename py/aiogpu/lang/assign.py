"""Assignments: to names, to several at once, to elements, and in place."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final

from aiogpu.dtypes import DType
from aiogpu.lang import tree
from aiogpu.lang.expressions import _BINARY, Expressions
from aiogpu.lang.intervals import interval
from aiogpu.lang.operators import _line, _type_of, cast
from aiogpu.lang.types import F16, F32, I32, U32, Pair, Vector, as_element, in_registers, short
from aiogpu.lang.values import Const, Pack, default_type, is_number

if TYPE_CHECKING:
    from aiogpu.lang.compiler import Compiler
    from aiogpu.lang.source import Source
    from aiogpu.lang.tree import Expr, Local, Stmt
    from aiogpu.lang.types import Type
    from aiogpu.lang.values import Value


_STORED: Final = {(F32, F16), (I32, U32), (U32, I32)}


class Assignments(Expressions):
    """The assignments of one function.

    Attributes:
        function: What becomes of it.
    """

    def __init__(self, compiler: Compiler, source: Source, function: tree.Function) -> None:
        super().__init__(compiler, source)
        self.function = function
        self._out: list[Stmt] = function.body
        self._temporaries = 0

    def emit(self, statement: Stmt) -> None:
        """Append a statement to the block that is being made."""
        self._out.append(statement)

    def _assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for target in node.targets:
            self._to(target, value, node)
            value = self._again(value, node.targets, target)

    def _again(self, value: Value, targets: list[ast.expr], target: ast.expr) -> Value:
        """What a further target of ``a = b = value`` gets: the first one's, computed once."""
        if len(targets) > 1 and isinstance(value, tree.Expr) and isinstance(target, ast.Name):
            return self.value(ast.copy_location(ast.Name(target.id, ast.Load()), target))
        return value

    def _annotated(self, node: ast.AnnAssign) -> None:
        kind = as_element(self._annotation(node.annotation))
        if node.value is None:
            self.refuse(node, "an annotation without a value: assign one")
        value = self.value(node.value)
        if kind is not None and isinstance(value, (Const, tree.Expr)):
            value = self.typed(value, node.value, in_registers(kind))
        self._to(node.target, value, node)

    def _annotation(self, node: ast.expr) -> Any:  # noqa: ANN401 - whatever it names
        value = self.value(node)
        if not isinstance(value, Const):
            return None
        if isinstance(value.value, str):
            return self._annotation(
                ast.copy_location(ast.parse(value.value, mode="eval").body, node)
            )
        return value.value

    def _augmented(self, node: ast.AugAssign) -> None:
        name = _BINARY.get(type(node.op))
        if name is None:
            self.refuse(node, "@=: not in kernels")
        target = node.target
        if isinstance(target, ast.Name):
            old = self.value(ast.copy_location(ast.Name(target.id, ast.Load()), target))
            value = self.arithmetic(name, old, self.value(node.value), node)
            self._set(target, value, node)
        elif isinstance(target, ast.Subscript) and isinstance(
            memory := self.value(target.value), tree.Memory
        ):
            index = tuple(self._once(each, node) for each in self.index(memory, target.slice))
            element = self.load(memory, index, None, target)
            value = self.arithmetic(name, element, self.value(node.value), node)
            self._store(memory, index, value, node)
        else:
            copy = ast.copy_location(ast.parse(ast.unparse(target), mode="eval").body, target)
            old = self.value(ast.fix_missing_locations(copy))
            self._to(target, self.arithmetic(name, old, self.value(node.value), node), node)

    def _once(self, value: Expr, node: ast.AST) -> Expr:
        """A value that can be written twice and is computed once."""
        if isinstance(value, (tree.Var, tree.Lit, tree.Id, tree.Size, tree.Given)):
            return value
        return self._kept(value, node)

    def _kept(self, value: Expr, node: ast.AST) -> Expr:
        """A value in a variable of our own."""
        self._temporaries += 1
        local = self._declare(f"{self._temporaries}", value.type, node)
        local.interval = interval(value, self.compiler.workgroup)
        self.emit(tree.Set(_line(node), local, value))
        return tree.Var(value.type, _line(node), local)

    def _declare(self, name: str, kind: Type, node: ast.AST) -> Local:
        local = tree.Local(name, kind, _line(node))
        self.function.locals.append(local)
        return local

    def _to(self, target: ast.expr, value: Value, node: ast.AST) -> None:
        if isinstance(target, ast.Name):
            self._set(target, value, node)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, value, node)
        elif isinstance(target, ast.Subscript):
            memory = self.value(target.value)
            if isinstance(memory, tree.Memory):
                self._store(memory, self.index(memory, target.slice), value, node)
            else:
                self._set_part(target, memory, self.value(target.slice), value)
        elif isinstance(target, ast.Attribute):
            at = "xyzw".find(target.attr)
            self._set_part(target, self.value(target.value), Const(at), value)
        else:
            self.refuse(target, "a target of this kind: not in kernels")

    def _set_part(self, target: ast.expr, vector: Value, at: Value, value: Value) -> None:
        if not isinstance(vector, tree.Var) or not isinstance(vector.type, Vector):
            self.refuse(target, "only elements of arrays and components of vectors can be set")
        part = self.component(vector, at, target)
        number = self.typed(at, target, I32)
        made = self.typed(value, target, part.type)
        self.emit(tree.SetPart(_line(target), vector.local, number, made))

    def _unpack(self, target: ast.Tuple | ast.List, value: Value, node: ast.AST) -> None:
        if isinstance(value, tree.Expr) and isinstance(value.type, (Pair, Vector)):
            whole = self._once(value, node)
            count = value.type.size if isinstance(value.type, Vector) else len(value.type.parts)
            kinds = (
                [value.type.scalar] * count if isinstance(value.type, Vector) else value.type.parts
            )
            value = Pack(
                tuple(tree.Part(kind, whole.line, whole, at) for at, kind in enumerate(kinds))
            )
        if not isinstance(value, Pack):
            self.refuse(node, f"{_type_of(value)}: one value for {len(target.elts)} names")
        if any(isinstance(each, ast.Starred) for each in target.elts):
            self.refuse(target, "*: not in kernels")
        if len(value.items) != len(target.elts):
            self.refuse(node, f"{len(target.elts)} names for {len(value.items)} values")
        items = value.items
        if self._overlap(target, items):
            items = tuple(
                self._kept(each, node) if isinstance(each, tree.Expr) else each for each in items
            )
        for one, item in zip(target.elts, items, strict=True):
            self._to(one, item, node)

    def _overlap(self, target: ast.Tuple | ast.List, items: tuple[Value, ...]) -> bool:
        """Whether setting one of the targets could change a value that a later one gets."""
        names = {each.id for each in target.elts if isinstance(each, ast.Name)}
        is_plain = len(names) == len(target.elts)
        for item in items:
            for each in tree.walk(item) if isinstance(item, tree.Expr) else ():
                if isinstance(each, tree.Var) and each.local.name in names:
                    return True
                if isinstance(each, (tree.Load, tree.Atomic, tree.Apply)) and not is_plain:
                    return True
        return False

    def _store(
        self, memory: tree.Memory, index: tuple[Expr, ...], value: Value, node: ast.AST
    ) -> None:
        if memory.kind == "in":
            self.refuse(node, f"{memory.name}: an In array is only read: make it Out or InOut")
        kind = in_registers(memory.dtype)
        if isinstance(value, tree.Expr) and (value.type, kind) in _STORED:
            value = cast(value, kind)  # an array's assignment rounds and wraps too
        made = self.typed(value, node, kind)
        self.compiler.does(self)
        self.emit(tree.Store(_line(node), memory, index, made))

    def _set(self, target: ast.Name, value: Value, node: ast.AST) -> None:
        name = target.id
        once = self.stores.get(name, 0) < 2
        if isinstance(value, tree.Memory):
            if not once and self.names.get(name) is not value:
                self.refuse(
                    node,
                    f"{name}: an array under a name that is used for something else: use "
                    "another name",
                )
            value.name = value.name or name
            self.names[name] = value
        elif isinstance(value, Pack):
            self.names[name] = self._pack(name, value, node, once=once)
        elif isinstance(value, Const) and (once or not is_number(value.value)):
            if not once and self.names.get(name, value) != value:
                self.refuse(node, f"{name}: gets several values that are no numbers")
            self.names[name] = value
        else:
            self._set_local(name, value, node, once=once)
        self.known.add(name)

    def _set_local(self, name: str, value: Value, node: ast.AST, *, once: bool) -> None:
        local = self.locals.get(name)
        if local is None:
            made = self.typed(value, node)
            if isinstance(made.type, Pair):
                self.names[name] = self._pack(name, self._parts(made, node), node, once=once)
                return
            local = self.locals[name] = self._declare(name, made.type, node)
            local.interval = interval(made, self.compiler.workgroup) if once else None
        else:
            made = self._joined(local, value, node)
            found = interval(made, self.compiler.workgroup)
            known = local.interval
            local.interval = (
                (min(known[0], found[0]), max(known[1], found[1])) if known and found else None
            )
        self.emit(tree.Set(_line(node), local, made))

    def _joined(self, local: Local, value: Value, node: ast.AST) -> Expr:
        """A further value of a variable, in its type."""
        if (isinstance(value, tree.Expr) and value.type != local.type) or (
            isinstance(value, Const)
            and isinstance(value.value, float)
            and isinstance(local.type, DType)
            and local.type.kind in {"int", "uint"}
        ):
            found = value.type if isinstance(value, tree.Expr) else default_type(value.value)
            is_wider = local.type in {I32, U32} and getattr(found, "kind", "") == "float"
            hint = (
                f"begin with a float (0.0) in line {local.line}"
                if is_wider
                else f"write {short(local.type)}(...), or use another name"
            )
            if not (
                getattr(local.type, "kind", "") == "float"
                and getattr(found, "kind", "") in {"int", "float", "uint"}
            ):
                self.refuse(
                    node,
                    f"{local.name}: is {short(local.type)} since line {local.line}, "
                    f"{short(found)} here: {hint}",
                )
            assert isinstance(value, tree.Expr)
            return cast(value, local.type)
        return self.typed(value, node, local.type)

    def _parts(self, value: Expr, node: ast.AST) -> Pack:
        assert isinstance(value.type, Pair)
        whole = self._once(value, node)
        return Pack(
            tuple(
                tree.Part(kind, whole.line, whole, at) for at, kind in enumerate(value.type.parts)
            )
        )

    def _pack(self, name: str, value: Pack, node: ast.AST, *, once: bool) -> Pack:
        """Several values under one name: each that is computed gets a variable."""
        old = self.names.get(name)
        items: list[Value] = []
        for at, item in enumerate(value.items):
            if isinstance(item, Pack):
                items.append(self._pack(f"{name}_{at}", item, node, once=once))
            elif isinstance(item, tree.Expr) or (isinstance(item, Const) and not once):
                known = old.items[at] if isinstance(old, Pack) and at < len(old.items) else None
                if isinstance(known, tree.Var):
                    made = self._joined(known.local, item, node)
                    self.emit(tree.Set(_line(node), known.local, made))
                    items.append(known)
                    continue
                made = self.typed(item, node)
                local = self._declare(f"{name}_{at}", made.type, node)
                self.emit(tree.Set(_line(node), local, made))
                items.append(tree.Var(made.type, _line(node), local))
            else:
                items.append(item)
        return Pack(tuple(items))
