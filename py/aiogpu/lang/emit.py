"""The typed tree as WGSL: functions and statements."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from aiogpu.lang import tree
from aiogpu.lang.facts import Linear, is_below, is_not_negative, learn
from aiogpu.lang.intervals import INT_MAX, interval
from aiogpu.lang.spell import Speller
from aiogpu.lang.text import Text
from aiogpu.lang.types import Pair

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiogpu.lang.access import Access
    from aiogpu.lang.facts import Facts
    from aiogpu.lang.tree import Expr, Function, Local, Memory, Stmt


class Emitter(Speller):
    """Writes the functions of a kernel.

    Attributes:
        text: What is written.
    """

    def __init__(
        self,
        access: Access | None,
        workgroup: tuple[int, ...],
        *,
        is_fast: bool = False,
        prefix: str = "f_",
    ) -> None:
        super().__init__(access, workgroup, is_fast=is_fast, prefix=prefix)
        self.text = Text()
        self._reads: Counter[Local] = Counter()
        self._sets: Counter[Local] = Counter()
        self._loops = 0
        self._counters: set[Local] = set()
        self._constants: set[Local] = set()
        self._facts: Facts = {}
        self._linear = Linear(lambda _: False, {})

    def functions(self, functions: Sequence[Function]) -> None:
        """Write functions, each after those that it calls."""
        for function in functions:
            self._function(function)

    def main(self, function: Function, *, has_axes: bool) -> Text:
        """The statements of the kernel's own function, which stand in the shader's ``main``.

        Tint leaves out its clamps of an index into workgroup memory where it sees that the index
        comes from ``local_invocation_id``; through a call or a variable it does not see it.

        Args:
            function: The function.
            has_axes: Whether ``local_invocation_id`` is what Python's ids are made of.
        """
        kept, self.text = self.text, Text(depth=1)
        self._begin(function)
        self.is_by_axes = has_axes
        self._body(function)
        self.is_by_axes = False
        made, self.text = self.text, kept
        return made

    def structs(self, functions: Sequence[Function]) -> list[str]:
        """Declarations of what functions give that return several values."""
        found: dict[str, Pair] = {}
        for function in functions:
            if isinstance(function.result, Pair):
                found[self.type(function.result)] = function.result
        return [
            f"struct {name} {{ "
            + ", ".join(f"m{at}: {self.type(part)}" for at, part in enumerate(kind.parts))
            + " }"
            for name, kind in found.items()
        ]

    def _begin(self, function: Function) -> None:
        self.begin(function)
        self._reads, self._sets = _uses(function)
        self._facts = {}
        given = set(function.params)  # has a value before any statement
        self._linear = Linear(
            lambda local: self._sets[local] + (local in given) <= 1,
            _values(function),
            self.workgroup,
        )

    def _function(self, function: Function) -> None:
        self._begin(function)
        params = [f"{self.local(each)}_: {self.type(each.type)}" for each in function.params]
        if self.access is not None:
            kinds = {"wg": "vec3i", "li": "vec3i", "lx": "i32", "lane": "u32", "lanes": "u32"}
            params[:0] = [f"{name}: {kinds[name]}" for name in self.own_arguments()]
        result = "" if function.result is None else f" -> {self.type(function.result)}"
        source, first = function.source, function.source.first
        self.text.add(
            f"fn {self.function_name(function)}({', '.join(params)}){result} {{", source, first
        )
        self.text.depth += 1
        for each in function.params:
            word = "var" if self._sets[each] else "let"
            self.text.add(f"{word} {self.local(each)} = {self.local(each)}_;", source, first)
        self._body(function)
        if function.result is not None and not isinstance(function.body[-1], tree.Return):
            self.text.add(f"return {self.type(function.result)}();", source, first)
        self.text.depth -= 1
        self.text.add("}", source, first)

    def _body(self, function: Function) -> None:
        """The variables and the statements of a function."""
        self._counters = {
            each.local
            for each in _all(function.body)
            if isinstance(each, tree.For) and self._is_counter(each.local, function)
        }
        self._constants = set() if self.access is None else self._set_once(function)
        others = {*function.params, *self._counters, *self._constants}
        for each in function.locals:
            if each not in others:
                kind = self.type(each.type)
                self.text.add(f"var {self.local(each)}: {kind};", function.source, each.line)
        self._block(function.body)

    def _set_once(self, function: Function) -> set[Local]:
        """Variables that one statement sets, which is not in a block and before all that read."""
        found: set[Local] = set()
        seen: set[Local] = set(function.params)
        for statement in function.body:
            seen |= {each.local for each in tree.walk(statement) if isinstance(each, tree.Var)}
            if isinstance(statement, tree.Set) and self._sets[statement.local] == 1:
                found |= {statement.local} - seen
        return found

    def _is_counter(self, local: Local, function: Function) -> bool:
        """Whether a variable is set by one loop alone and read in it alone."""
        loops = [
            each
            for each in _all(function.body)
            if isinstance(each, tree.For) and each.local is local
        ]
        if len(loops) != 1 or self._sets[local] != 1 or local in function.params:
            return False
        inside = sum(
            isinstance(each, tree.Var) and each.local is local
            for statement in loops[0].body
            for each in tree.walk(statement)
        )
        return inside == self._reads[local]

    # Statements

    def _block(self, body: Sequence[Stmt]) -> None:
        kept = self._facts
        for statement in body:
            _WRITERS[type(statement)](self, statement)  # type: ignore[operator]
            if isinstance(statement, tree.If):
                self._learn_after(statement)
        self._facts = kept

    def _learn_after(self, statement: tree.If) -> None:
        """What holds after a branch one side of which leaves."""
        for side, holds in ((statement.then, False), (statement.other, True)):
            if side and isinstance(side[-1], (tree.Return, tree.Jump)):
                found = self._linear.facts(statement.test, holds=holds)
                self._facts = learn(self._facts, found)

    def _within(self, body: Sequence[Stmt], test: Expr, *, holds: bool) -> None:
        """A block that is come to only if a condition holds, or does not."""
        kept = self._facts
        self._facts = learn(kept, self._linear.facts(test, holds=holds))
        self._block(body)
        self._facts = kept

    def is_inside(self, memory: Memory, index: Sequence[Expr]) -> bool:
        """Whether indices are surely in range: by their intervals, or by conditions around."""
        if super().is_inside(memory, index):
            return True
        return not memory.shape and all(
            self._is_index(memory, axis, each) for axis, each in enumerate(index)
        )

    def _is_index(self, memory: Memory, axis: int, expr: Expr) -> bool:
        found = self._linear.base(expr)
        if found is None or not is_below(self._facts, found, memory, axis):
            return False
        return is_not_negative(self._facts, found)

    def _add(self, line: str, statement: Stmt) -> None:
        assert self.function is not None
        self.text.add(line, self.function.source, statement.line)

    def _nested(
        self, head: str, body: Sequence[Stmt], statement: Stmt, test: Expr, *, holds: bool = True
    ) -> None:
        self._add(head, statement)
        self.text.depth += 1
        self._within(body, test, holds=holds)
        self.text.depth -= 1

    def _set(self, statement: tree.Set) -> None:
        local = statement.local
        name = self.local(local)
        if local in self._constants:
            name = f"let {name}: {self.type(local.type)}"
        self._add(f"{name} = {self.expr(statement.value)};", statement)

    def _set_part(self, statement: tree.SetPart) -> None:
        at = self.expr(statement.at)
        self._add(f"{self.local(statement.local)}[{at}] = {self.expr(statement.value)};", statement)

    def _store(self, statement: tree.Store) -> None:
        assert self.access is not None
        memory = statement.memory
        index = [self.as_u32(each) for each in statement.index]
        value = self.expr(statement.value)
        is_inside = self.is_inside(memory, statement.index)
        for line in self.access.store(memory, index, value, is_inside, statement.line):
            self._add(line, statement)

    def _evaluate(self, statement: tree.Evaluate) -> None:
        self._add(f"{self.expr(statement.value)};", statement)

    def _if(self, statement: tree.If) -> None:
        test = self.expr(statement.test)
        self._nested(f"if ({test}) {{", statement.then, statement, statement.test)
        if statement.other:
            self._nested("} else {", statement.other, statement, statement.test, holds=False)
        self._add("}", statement)

    def _while(self, statement: tree.While) -> None:
        is_endless = isinstance(statement.test, tree.Lit)
        head = "loop {" if is_endless else f"while ({self.expr(statement.test)}) {{"
        self._nested(head, statement.body, statement, statement.test)
        self._add("}", statement)

    def _for(self, statement: tree.For) -> None:
        """A loop over a range: the bounds are computed once, whatever the body does to them."""
        self._loops += 1
        number = self._loops
        local = self.local(statement.local)
        is_counter = statement.local in self._counters
        counter = local if is_counter else f"k{number}"
        step = statement.step
        stop = self.expr(statement.stop)
        self._add("{", statement)
        self.text.depth += 1
        if not isinstance(statement.stop, tree.Lit):
            self._add(f"let stop{number} = {stop};", statement)
            stop = f"stop{number}"
        if isinstance(step, tree.Lit) and self._is_near(statement):
            by = int(step.value)  # type: ignore[arg-type]
            head = (
                f"for (var {counter} = {self.expr(statement.start)}; "
                f"{counter} {'<' if by > 0 else '>'} {stop}; {counter} += {self.expr(step)}) {{"
            )
            self._add(head, statement)
            self.text.depth += 1
        else:  # the turns are counted first: the last step may leave the range of i32
            self._add(f"let start{number} = {self.expr(statement.start)};", statement)
            self._add(f"let step{number} = {self.expr(step)};", statement)
            self.needs_turns = True
            turns = f"turns(start{number}, {stop}, step{number})"
            self._add(f"let turns{number} = {turns};", statement)
            self._add(
                f"for (var t{number} = 0u; t{number} < turns{number}; t{number}++) {{", statement
            )
            self.text.depth += 1
            word = "let " if is_counter else ""
            target = local if is_counter else f"let k{number}"
            at = f"start{number} + bitcast<i32>(t{number}) * step{number}"
            self._add(f"{word}{target} = {at};", statement)
        if not is_counter:
            self._add(f"{local} = {counter};", statement)
        kept = self._facts
        self._facts = learn(kept, self._linear.turn(statement))
        self._block(statement.body)
        self._facts = kept
        for _ in range(2):
            self.text.depth -= 1
            self._add("}", statement)

    def _is_near(self, statement: tree.For) -> bool:
        """Whether a loop's counter surely stays in i32 after its last turn."""
        assert isinstance(statement.step, tree.Lit)
        step = int(statement.step.value)  # type: ignore[arg-type]
        if step in {1, -1} or isinstance(statement.stop, tree.Size):
            return True
        known = interval(statement.stop, self.workgroup)
        return known is not None and abs(known[0]) + abs(known[1]) + 2 * abs(step) < INT_MAX

    def _jump(self, statement: tree.Jump) -> None:
        self._add(f"{statement.name};", statement)

    def _return(self, statement: tree.Return) -> None:
        value = "" if statement.value is None else f" {self.result(statement.value)}"
        self._add(f"return{value};", statement)

    def _barrier(self, statement: tree.Barrier) -> None:
        self._add("workgroupBarrier();", statement)
        if self.access is not None and self.access.has_storage_to_share:
            self._add("storageBarrier();", statement)

    def _clear(self, statement: tree.Clear) -> None:
        assert self.access is not None
        memory = statement.memory
        self._add(f"{self.access.name(memory)} = {self.access.array_type(memory)}();", statement)


def _all(body: Sequence[Stmt]) -> list[tree.Expr | Stmt]:
    return [each for statement in body for each in tree.walk(statement)]


def _values(function: Function) -> dict[Local, Expr]:
    """What each variable is set to, for those that one statement sets."""
    found: dict[Local, Expr] = {}
    for each in _all(function.body):
        if isinstance(each, tree.Set):
            found[each.local] = each.value
    return found


def _uses(function: Function) -> tuple[Counter[Local], Counter[Local]]:
    """How often each variable is read, and how often it is set, in the text."""
    reads: Counter[Local] = Counter()
    sets: Counter[Local] = Counter()
    for each in _all(function.body):
        if isinstance(each, tree.Var):
            reads[each.local] += 1
        elif isinstance(each, (tree.Set, tree.SetPart, tree.For)):
            sets[each.local] += 1
    return reads, sets


_WRITERS = {
    tree.Set: Emitter._set, tree.SetPart: Emitter._set_part, tree.Store: Emitter._store,
    tree.Evaluate: Emitter._evaluate, tree.If: Emitter._if, tree.While: Emitter._while,
    tree.For: Emitter._for, tree.Jump: Emitter._jump, tree.Return: Emitter._return,
    tree.Barrier: Emitter._barrier, tree.Clear: Emitter._clear,
}  # fmt: skip
