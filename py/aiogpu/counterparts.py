"""NumPy's functions on our arrays: what of ours does the same, called in NumPy's way.

NumPy hands over a call that has one of our arrays among its arguments. It becomes a call of the
function of our namespace that does the same, or raises: it never makes an array of objects.
"""

from __future__ import annotations

import inspect
import sys
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from aiogpu import spellings
from aiogpu.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_PACKAGE: Final = __name__.partition(".")[0]
_METHODS: Final = frozenset({"cumsum", "ravel", "swapaxes", "transpose"})
_FACTS: Final = frozenset({"ndim", "shape", "size"})


def namespace() -> Any:  # noqa: ANN401 - a module
    """The package, as a namespace of the Array API standard."""
    return sys.modules[_PACKAGE]


def ufunc(given: Any, method: str, inputs: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401 - NumPy's
    """What NumPy's ``given(*inputs)`` is here.

    Raises:
        UsageError: There is none, or an ``out``, ``where`` or the like, or a method such as reduce.
    """
    if method != "__call__" or kwargs:
        how = "" if method == "__call__" else f".{method}"
        what = f"np.{given.__name__}{how}({', '.join(kwargs)})"
        raise UsageError(f"{what}: not for arrays on the GPU; `await x.numpy()` first")
    return _counterpart(given.__name__)(*map(_ours, inputs))


def function(given: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401 - NumPy's
    """What NumPy's ``given(*args, **kwargs)`` is here.

    Raises:
        UsageError: There is none, or ours has no such argument.
    """
    name = given.__name__
    ours = [_ours(value) for value in args]
    named = {key: _ours(value) for key, value in kwargs.items()}
    if name in _FACTS and len(ours) == 1 and not named:
        return getattr(ours[0], name)
    if given.__module__ != "numpy":
        name = f"{given.__module__.removeprefix('numpy.')}.{name}"
    if name in _METHODS and ours:
        call: Callable[..., Any] = getattr(ours.pop(0), name)
    else:
        call = _counterpart(name)
        ours, named = _split(given, call, ours, named)
    try:
        inspect.signature(call).bind(*ours, **named)
    except TypeError as error:
        raise UsageError(
            f"np.{name}: {error}: write gpu.{call.__name__}{inspect.signature(call)}"
        ) from None
    return call(*ours, **named)


def _split(
    given: Any,  # noqa: ANN401 - NumPy's
    call: Callable[..., Any],
    args: list[Any],
    kwargs: dict[str, Any],
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments that NumPy takes by place and ours only by name get NumPy's names for them."""
    kinds = [parameter.kind for parameter in inspect.signature(call).parameters.values()]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return args, kwargs
    most = len(kinds) - kinds.count(inspect.Parameter.KEYWORD_ONLY)
    names = islice(inspect.signature(given).parameters, most, None)
    return args[:most], dict(zip(names, args[most:], strict=False)) | kwargs


def _counterpart(name: str) -> Any:  # noqa: ANN401 - a function
    """The function of the namespace that does what NumPy's ``name`` does.

    Raises:
        UsageError: There is none.
    """
    hint = spellings.FUNCTIONS.get(name, "")
    ours = hint if name in spellings.SAME else name
    owner = namespace()
    part, _, word = ours.rpartition(".")
    if part in {"fft", "linalg"}:
        owner, ours = getattr(owner, part), word
    if ours not in owner.__all__ or not callable(getattr(owner, ours)):
        shown = hint if "(" in hint or "x" in hint.split() or not hint else f"gpu.{hint}"
        better = f": write {shown}" if hint else ""
        raise UsageError(
            f"np.{name}: not for arrays on the GPU{better}, or `await x.numpy()` first"
        )
    return getattr(owner, ours)


def _ours(value: Any) -> Any:  # noqa: ANN401 - an argument of NumPy's
    """An argument with NumPy's arrays made ours."""
    numpy = sys.modules["numpy"]
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        return namespace().asarray(value)
    if type(value) in {list, tuple}:
        return type(value)([_ours(each) for each in value])
    return value
