"""What crosses between the page and the worker: every message shape, and the check of a text.

A message is JSON text with buffers (or other transferred objects) beside it, to which the text
refers by position. ``web/protocol.js`` is the other side; ``docs/protocol.md`` says it in prose.
"""

import json
from dataclasses import dataclass, fields
from typing import Any, Final, TypeAlias, TypedDict

from aiogpu.errors import ProtocolError

#: One for client, worker, wheel and protocol: they are released, and only fit, together.
VERSION: Final = "0.1.0"

#: JSON; an object with a "$" key is one of the tagged values of ``values``.
Tree: TypeAlias = "bool | int | float | str | list[Tree] | dict[str, Tree] | None"


@dataclass(frozen=True, slots=True)
class Hello:
    """The first message: who the client is, and what it wants to find."""

    version: str
    #: URL of a Python file, by the name under which to import it.
    modules: dict[str, str]
    #: Position of an OffscreenCanvas among the transferred objects, by its name.
    canvases: dict[str, int]
    #: What may be called: "all", or "marked" by `aiogpu.expose`.
    expose: str


@dataclass(frozen=True, slots=True)
class Run:
    """Python source to run, for the value of its last expression."""

    id: int
    source: str
    filename: str
    locals: dict[str, Tree]
    #: How arrays come back: by "value", or as a "handle".
    result: str


@dataclass(frozen=True, slots=True)
class Call:
    """A function to call, as ``module:function``."""

    id: int
    target: str
    args: list[Tree]
    kwargs: dict[str, Tree]
    #: As of `Run`.
    result: str


@dataclass(frozen=True, slots=True)
class Import:
    """A module to import, for a proxy of it."""

    id: int
    module: str


@dataclass(frozen=True, slots=True)
class Install:
    """Packages to install, by name or by the URL of a wheel."""

    id: int
    packages: list[str]


@dataclass(frozen=True, slots=True)
class Read:
    """Arrays of the page to read."""

    id: int
    handles: list[int]
    #: "data", "item" (the number in the only array) or "shape" (computes it, and tells its shape).
    form: str


@dataclass(frozen=True, slots=True)
class Next:
    """The next value of a stream."""

    id: int
    stream: int


@dataclass(frozen=True, slots=True)
class Op:
    """An operation on arrays of the page; has no answer: a failure stays with its result."""

    #: Of the result; the page chooses it, above zero.
    handle: int
    name: str
    args: list[Tree]
    kwargs: dict[str, Tree]


@dataclass(frozen=True, slots=True)
class Free:
    """Arrays that the page has let go."""

    handles: list[int]


@dataclass(frozen=True, slots=True)
class Stop:
    """A stream that the page reads no more."""

    stream: int


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Follows an interrupt that the page has set, so that it cannot reach later work."""

    serial: int


@dataclass(frozen=True, slots=True)
class Cancel:
    """Nobody waits for that answer any more."""

    id: int


@dataclass(frozen=True, slots=True)
class Close:
    """The page is done."""


#: What has an id and is answered.
Asked: TypeAlias = Run | Call | Import | Install | Read | Next
Request: TypeAlias = Hello | Asked | Op | Free | Stop | Interrupt | Cancel | Close

_REQUESTS: Final[dict[str, type[Request]]] = {
    "hello": Hello,
    "run": Run,
    "call": Call,
    "import": Import,
    "install": Install,
    "read": Read,
    "next": Next,
    "op": Op,
    "free": Free,
    "stop": Stop,
    "interrupt": Interrupt,
    "cancel": Cancel,
    "close": Close,
}

#: The JSON type of each field, and of what is in it.
_TYPES: Final[dict[str, tuple[type, type]]] = {
    "id": (int, object),
    "version": (str, object),
    "source": (str, object),
    "filename": (str, object),
    "target": (str, object),
    "args": (list, object),
    "kwargs": (dict, object),
    "locals": (dict, object),
    "modules": (dict, str),
    "canvases": (dict, int),
    "expose": (str, object),
    "result": (str, object),
    "module": (str, object),
    "packages": (list, str),
    "handle": (int, object),
    "handles": (list, int),
    "name": (str, object),
    "form": (str, object),
    "stream": (int, object),
    "serial": (int, object),
}

#: The only values of some fields.
_CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "expose": ("all", "marked"),
    "result": ("value", "handle"),
    "form": ("data", "item", "shape"),
}


class WireError(TypedDict):
    """An exception on its way to the page."""

    code: str
    name: str
    message: str
    #: What has failed, as the message of an error of aiogpu's own begins.
    operation: str | None
    #: Of a kernel written in Python.
    line: "WireLine | None"
    traceback: str | None
    cause: "WireError | None"


class WireLine(TypedDict):
    """A line of Python on its way to the page."""

    file: str
    line: int
    text: str


def parse(text: object) -> Request:
    """The request that a text is.

    Raises:
        ProtocolError: It is none; the message names the field.
    """
    try:
        message = json.loads(text)  # type: ignore[arg-type]  # what is no text raises TypeError
    except (TypeError, ValueError, RecursionError) as error:
        raise ProtocolError(f"message: not JSON: {error}") from None
    if not isinstance(message, dict):
        raise ProtocolError(f"message: {type(message).__name__}: must be an object")
    kind = message.get("type")
    request = _REQUESTS.get(kind) if isinstance(kind, str) else None
    if request is None:
        raise ProtocolError(f"message: type {kind!r}: must be one of {', '.join(_REQUESTS)}")
    values: dict[str, Any] = {
        field.name: _checked(kind, field.name, message) for field in fields(request)
    }
    return request(**values)


def identity(text: object) -> int | None:
    """The id in a text that `parse` refused, to tell its sender; None when there is none."""
    try:
        message = json.loads(text)  # type: ignore[arg-type]  # what is no text raises TypeError
    except (TypeError, ValueError, RecursionError):
        return None
    identity = message.get("id") if isinstance(message, dict) else None
    return identity if isinstance(identity, int) and not isinstance(identity, bool) else None


def _checked(kind: object, name: str, message: dict[str, object]) -> object:
    value = message.get(name)
    outer, inner = _TYPES[name]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if not _is(value, outer) or not all(_is(item, inner) for item in items):
        raise ProtocolError(
            f"{kind}: {name}: {type(value).__name__}: must be {_named(outer, inner)}"
        )
    if name in _CHOICES and value not in _CHOICES[name]:
        raise ProtocolError(f"{kind}: {name}: {value!r:.80}: must be {' or '.join(_CHOICES[name])}")
    return value


def _is(value: object, kind: type) -> bool:
    if kind is int:
        # bool is an int in Python, and none on the wire; past 2^53 JavaScript rounds.
        is_exact = isinstance(value, int) and abs(value) < 2**53
        return is_exact and not isinstance(value, bool)
    return isinstance(value, kind)


def _named(outer: type, inner: type) -> str:
    return outer.__name__ if inner is object else f"{outer.__name__} of {inner.__name__}"
