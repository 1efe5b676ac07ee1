"""What each request does."""

import importlib
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from aiogpu.errors import UsageError
from aiogpu.server import source
from aiogpu.server.protocol import Call, Run
from aiogpu.server.values import decode, decode_items


async def perform(
    request: Run | Call, buffers: Sequence[object], namespace: dict[str, Any], *, to_numpy: bool
) -> object:
    """Does what a request asks, and gives the value that it is answered with.

    Args:
        request: From `protocol.parse`.
        buffers: What came beside it.
        namespace: The client's global names.
        to_numpy: Whether arrays become ``numpy.ndarray`` or ``memoryview``.

    Raises:
        ProtocolError: The message does not hold together.
        UsageError: There is no such function.
        BaseException: Whatever the user's Python raises.
    """
    if isinstance(request, Run):
        own = decode_items(request.locals, buffers, to_numpy=to_numpy)
        _check_names("locals", own)
        text = source.dedented(request.source)
        filename = source.register(text, request.filename)
        return await source.evaluate(text, filename, namespace, own)
    args = [decode(item, buffers, to_numpy=to_numpy) for item in request.args]
    kwargs = decode_items(request.kwargs, buffers, to_numpy=to_numpy)
    value = find(request.target, namespace)(*args, **kwargs)
    return await value if inspect.isawaitable(value) else value


def find(target: str, namespace: dict[str, Any]) -> Callable[..., object]:
    """The function that ``module:function`` names; ``__main__`` is the client's own namespace.

    Raises:
        UsageError: The module is there and the name is not, or it is not callable.
        ImportError: There is no such module.
        Exception: Whatever the module raises when it is imported.
    """
    module, _, path = target.partition(":")
    first, *rest = path.split(".")
    names: dict[str, Any] = (
        namespace if module == "__main__" else vars(importlib.import_module(module))
    )
    if first not in names:
        raise UsageError(f"call: {target}: {module} has no {first!r}")
    function: Any = names[first]
    for name in rest:
        if not hasattr(function, name):
            raise UsageError(f"call: {target}: {type(function).__name__} has no {name!r}")
        function = getattr(function, name)
    if not callable(function):
        raise UsageError(f"call: {target}: {type(function).__name__}: not callable")
    checked: Callable[..., object] = function
    return checked


def _check_names(what: str, names: dict[str, object]) -> None:
    for name in names:
        if not name.isidentifier():
            raise UsageError(f"{what}: {name!r}: not a Python name")
