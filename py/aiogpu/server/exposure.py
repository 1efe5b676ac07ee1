"""What a page may call when it connected with ``expose: "marked"``."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

from aiogpu.errors import UsageError

_Function = TypeVar("_Function", bound=Callable[..., object])

_MARK: Final = "__aiogpu_exposed__"

#: The client's own methods are made of these.
_ALWAYS: Final = ("aiogpu:memory", "aiogpu:report")


def expose(function: _Function, /) -> _Function:
    """Marks a function as one that pages may call: ``@gpu.expose``.

    A page that connects with ``expose: "marked"`` is refused everything else, ``run`` included;
    any other page may call what it likes.

    Args:
        function: A function, or a class, of which then an object is made; its methods need marks
            of their own.

    Returns:
        The same function.

    Raises:
        UsageError: It cannot be marked, as functions written in C.
    """
    try:
        setattr(function, _MARK, True)
    except (AttributeError, TypeError):
        raise UsageError(f"expose: {type(function).__name__}: cannot be marked") from None
    return function


def check(target: str, function: Any) -> None:  # noqa: ANN401 - whatever the name led to
    """Checks that a function was marked.

    Raises:
        UsageError: It was not.
    """
    if target not in _ALWAYS and getattr(function, _MARK, False) is not True:
        raise refusal(f"call: {target}")


def refusal(what: str) -> UsageError:
    """The error for what is not marked."""
    return UsageError(
        f"{what}: not marked by aiogpu.expose, and this page asked for expose: marked"
    )
