"""The typed tree of a kernel: what `check` makes of Python, and `emit` and `simulate` read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import ast

    from aiogpu.dtypes import DType, Scalar
    from aiogpu.lang.source import Source
    from aiogpu.lang.types import Type

Interval = tuple[int, int]


@dataclass(eq=False, slots=True)
class Memory:
    """Something with elements: an array given to the kernel, or memory of its own.

    Attributes:
        name: The user's name of it.
        kind: ``in``, ``out`` or ``inout``; ``shared`` by a workgroup, ``local`` to an invocation.
        dtype: The dtype of its elements.
        rank: How many indices name one.
        shape: Its sizes, where the kernel sets them.
        is_atomic: Whether an atomic operation is made on it.
        is_read: Whether it is read.
        made: Where the kernel makes it, for messages.
    """

    name: str
    kind: Literal["in", "out", "inout", "shared", "local"]
    dtype: DType
    rank: int
    shape: tuple[int, ...] = ()
    is_atomic: bool = False
    is_read: bool = False
    made: tuple[Source, ast.AST] | None = None

    @property
    def is_buffer(self) -> bool:
        """Whether it is an array given to the kernel."""
        return self.kind in {"in", "out", "inout"}


@dataclass(eq=False, slots=True)
class Local:
    """A variable of a function.

    Attributes:
        name: The user's name of it, or one of ours.
        type: Its type.
        line: Where it gets its first value.
        interval: Where its values lie, if that is known.
    """

    name: str
    type: Type
    line: int
    interval: Interval | None = None


# Expressions


@dataclass(eq=False, slots=True)
class Expr:
    """An expression.

    Attributes:
        type: Its type.
        line: The line it stands on.
    """

    type: Type
    line: int


@dataclass(eq=False, slots=True)
class Lit(Expr):
    """A number."""

    value: Scalar


@dataclass(eq=False, slots=True)
class Var(Expr):
    """The value of a variable."""

    local: Local


@dataclass(eq=False, slots=True)
class Given(Expr):
    """The value of a scalar parameter of the kernel."""

    name: str


@dataclass(eq=False, slots=True)
class Op(Expr):
    """An operation of `aiogpu.lang.operations`."""

    name: str
    args: tuple[Expr, ...]


@dataclass(eq=False, slots=True)
class Load(Expr):
    """An element of a memory; ``default`` where there is none."""

    memory: Memory
    index: tuple[Expr, ...]
    default: Expr | None


@dataclass(eq=False, slots=True)
class Size(Expr):
    """The size of an axis of an array given to the kernel."""

    memory: Memory
    axis: int


@dataclass(eq=False, slots=True)
class Id(Expr):
    """A number of this invocation or its workgroup; axis 0 varies fastest.

    ``kind`` is ``local``, ``group``, ``global``, ``groups`` (how many there are) or ``index`` (this
    invocation's number in its workgroup).
    """

    kind: str
    axis: int


@dataclass(eq=False, slots=True)
class Apply(Expr):
    """A call of a function of the user's."""

    function: Function
    args: tuple[Expr, ...]


@dataclass(eq=False, slots=True)
class Part(Expr):
    """One of several values: of a `Pair`, or a component of a vector."""

    value: Expr
    at: int


@dataclass(eq=False, slots=True)
class Pick(Expr):
    """A component of a vector whose number is computed."""

    value: Expr
    at: Expr


@dataclass(eq=False, slots=True)
class Atomic(Expr):
    """An atomic operation; gives the element's value before it."""

    name: str
    memory: Memory
    index: tuple[Expr, ...]
    args: tuple[Expr, ...]


@dataclass(eq=False, slots=True)
class Subgroup(Expr):
    """An operation among the invocations of a subgroup."""

    name: str
    args: tuple[Expr, ...]


# Statements


@dataclass(eq=False, slots=True)
class Stmt:
    """A statement on a line."""

    line: int


@dataclass(eq=False, slots=True)
class Set(Stmt):
    """A variable gets a value."""

    local: Local
    value: Expr


@dataclass(eq=False, slots=True)
class SetPart(Stmt):
    """A component of a vector variable gets a value."""

    local: Local
    at: Expr
    value: Expr


@dataclass(eq=False, slots=True)
class Store(Stmt):
    """An element of a memory gets a value."""

    memory: Memory
    index: tuple[Expr, ...]
    value: Expr


@dataclass(eq=False, slots=True)
class Evaluate(Stmt):
    """An expression is computed for what it does."""

    value: Expr


@dataclass(eq=False, slots=True)
class If(Stmt):
    """A branch."""

    test: Expr
    then: list[Stmt]
    other: list[Stmt]


@dataclass(eq=False, slots=True)
class While(Stmt):
    """A loop as long as a test holds."""

    test: Expr
    body: list[Stmt]


@dataclass(eq=False, slots=True)
class For(Stmt):
    """A loop over a range, whose bounds are computed once."""

    local: Local
    start: Expr
    stop: Expr
    step: Expr
    body: list[Stmt]


@dataclass(eq=False, slots=True)
class Jump(Stmt):
    """``break`` or ``continue``."""

    name: str


@dataclass(eq=False, slots=True)
class Return(Stmt):
    """The function ends, with a value or without."""

    value: Expr | None


@dataclass(eq=False, slots=True)
class Clear(Stmt):
    """A memory of this invocation becomes zero."""

    memory: Memory


@dataclass(eq=False, slots=True)
class Barrier(Stmt):
    """All invocations of a workgroup wait for each other."""


@dataclass(eq=False, slots=True)
class Function:
    """A function of the user's, for the types of its arguments.

    Attributes:
        source: Where it stands.
        name: A name of its own among the kernel's functions.
        params: The variables that its arguments become.
        result: The type of what it returns; None where it returns nothing.
        body: What it does.
        locals: Its variables, the parameters among them.
        does: Whether calling it does something besides giving a value.
        waits: Whether there is a barrier in it, or in what it calls.
    """

    source: Source
    name: str
    params: list[Local] = field(default_factory=list)
    result: Type | None = None
    body: list[Stmt] = field(default_factory=list)
    locals: list[Local] = field(default_factory=list)
    does: bool = False
    waits: bool = False


@dataclass(eq=False, slots=True)
class Kernel:
    """A kernel for the types of its arguments.

    Attributes:
        main: Its function.
        functions: All functions, each after those that it calls; `main` is the last.
        arrays: The arrays given to it, in the order of its parameters.
        scalars: The numbers given to it, by name.
        memories: Memory of its own.
        workgroup: Invocations along each axis, the fastest last.
        naxes: Axes of the grid.
        captured: What it took from its surroundings: a name to look up, and what was there.
    """

    main: Function
    functions: list[Function]
    arrays: list[Memory]
    scalars: dict[str, DType]
    memories: list[Memory]
    workgroup: tuple[int, ...]
    naxes: int
    captured: list[tuple[dict[str, Any], str, Any]]


def walk(node: Expr | Stmt) -> list[Expr | Stmt]:
    """A node and all below it."""
    found: list[Expr | Stmt] = []
    stack: list[Any] = [node]
    while stack:
        each = stack.pop()
        found.append(each)
        for name in _FIELDS[type(each)]:
            value = getattr(each, name)
            if isinstance(value, (tuple, list)):
                stack.extend(value)
            elif value is not None:
                stack.append(value)
    return found


_FIELDS: dict[type, tuple[str, ...]] = {
    Lit: (), Var: (), Given: (), Op: ("args",), Load: ("index", "default"), Size: (), Id: (),
    Apply: ("args",), Part: ("value",), Pick: ("value", "at"), Atomic: ("index", "args"),
    Subgroup: ("args",), Set: ("value",), SetPart: ("at", "value"), Store: ("index", "value"),
    Evaluate: ("value",), If: ("test", "then", "other"), While: ("test", "body"),
    For: ("start", "stop", "step", "body"), Jump: (), Return: ("value",), Barrier: (), Clear: (),
}  # fmt: skip


def is_pure(expr: Expr) -> bool:
    """Whether computing an expression twice does no more than computing it once."""
    return not any(
        isinstance(each, (Atomic, Subgroup)) or (isinstance(each, Apply) and each.function.does)
        for each in walk(expr)
    )
