"""What each request does."""

import importlib
import inspect
import sys
from collections.abc import Callable
from typing import Any

from aiogpu.errors import ImportFailedError, UnknownFunctionError, UsageError
from aiogpu.server import exposure, source
from aiogpu.server.incoming import Incoming
from aiogpu.server.protocol import Call, Run


async def perform(
    request: Run | Call,
    incoming: Incoming,
    namespace: dict[str, Any],
    *,
    marked_only: bool = False,
    decoded: Callable[[], None] = lambda: None,
) -> object:
    """Does what a request asks, and gives the value that it is answered with.

    Args:
        request: From `protocol.parse`.
        incoming: Reads the values in it.
        namespace: The client's global names.
        marked_only: Whether only what `exposure` has marked may be called.
        decoded: Called when the values have been read.

    Raises:
        ProtocolError: The message does not hold together.
        UsageError: There is no such function, or it may not be called.
        BaseException: Whatever the user's Python raises.
    """
    if isinstance(request, Run):
        if marked_only:
            raise exposure.refusal("run")
        own = incoming.items(request.locals)
        decoded()
        _check_names("locals", own)
        text = source.dedented(request.source)
        filename = source.register(text, request.filename)
        return await source.evaluate(text, filename, namespace, own)
    args = [incoming.value(item) for item in request.args]
    kwargs = incoming.items(request.kwargs)
    decoded()
    function = find(request.target, namespace, marked_only=marked_only)
    value = function(*args, **kwargs)
    return await value if inspect.isawaitable(value) else value


def import_module(name: str, *, marked_only: bool = False) -> None:
    """Imports a module for its proxy.

    Raises:
        UsageError: That is no module's name, or it may not be imported.
        BaseException: Whatever the module raises.
    """
    if not all(part.isidentifier() for part in name.split(".")):
        raise UsageError(f"pyimport: {name!r:.80}: not a module's name")
    if name != "__main__":
        _module(name, f"pyimport: {name}", marked_only=marked_only)


async def install(packages: list[str], *, marked_only: bool = False) -> None:
    """Installs packages, by Pyodide's own installer.

    Raises:
        UsageError: This page may not.
        ImportFailedError: There is no such package, or no version of it for Pyodide; the cause is
            what the installer raised.
    """
    if marked_only:
        raise exposure.refusal("install")
    micropip = importlib.import_module("micropip")
    try:
        await micropip.install(packages)
    # What a server or a wheel makes it raise is of many kinds.
    except Exception as error:
        raise ImportFailedError(f"install: {', '.join(packages)}: {error}") from error
    importlib.invalidate_caches()


def _module(name: str, what: str, *, marked_only: bool) -> dict[str, Any]:
    if marked_only and name not in sys.modules:
        # Importing is already running its code.
        raise exposure.refusal(what)
    return vars(importlib.import_module(name))


def find(
    target: str, namespace: dict[str, Any], *, marked_only: bool = False
) -> Callable[..., object]:
    """The function that ``module:function`` names; ``__main__`` is the client's own namespace.

    Raises:
        UnknownFunctionError: The module is there and the name is not.
        UsageError: It is not callable, or was not marked.
        ImportError: There is no such module.
        Exception: Whatever the module raises when it is imported.
    """
    module, _, path = target.partition(":")
    first, *rest = path.split(".")
    if not module or not first:
        raise UsageError(f"call: {target!r:.80}: must be module:function")
    names: dict[str, Any] = (
        namespace
        if module == "__main__"
        else _module(module, f"call: {target}", marked_only=marked_only)
    )
    if first not in names:
        raise UnknownFunctionError(f"call: {target}: {module} has no {first!r}")
    function: Any = names[first]
    for name in rest:
        if not hasattr(function, name):
            message = f"call: {target}: {type(function).__name__} has no {name!r}"
            raise UnknownFunctionError(message)
        function = getattr(function, name)
    if not callable(function):
        raise UsageError(f"call: {target}: {type(function).__name__}: not callable")
    if marked_only:
        exposure.check(target, function)
    checked: Callable[..., object] = function
    return checked


def _check_names(what: str, names: dict[str, object]) -> None:
    for name in names:
        if not name.isidentifier():
            raise UsageError(f"{what}: {name!r}: not a Python name")
