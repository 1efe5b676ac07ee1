"""Reads, and what they say when an ``await`` or the parentheses were forgotten."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NoReturn, overload

from aiogpu.errors import SyncAccessError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator


class _NoValue:
    """What is not a value yet: every use as one raises."""

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise NotImplementedError

    def _refused(self, *_: object, **__: object) -> NoReturn:
        self._refuse()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = (
        _refused
    )
    __getitem__ = __iter__ = __len__ = __float__ = __int__ = __bool__ = __index__ = __array__ = (
        _refused
    )
    __lt__ = __le__ = __gt__ = __ge__ = __matmul__ = __neg__ = _refused


class Read(_NoValue):
    """What ``x.numpy()`` and its kin return: an awaitable that starts when it is awaited."""

    __slots__ = ("_form", "_name", "_start")

    def __init__(
        self, name: str, start: Callable[[], Awaitable[Any]], form: str | None = None
    ) -> None:
        self._name = name
        self._start = start
        self._form = f"await {form or f'x.{name}()'}"

    def __await__(self) -> Generator[Any, None, Any]:
        return self._start().__await__()

    def __repr__(self) -> str:
        return f"<a read that was not awaited: write `{self._form}`>"

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise SyncAccessError(f"{self._name}: a read: add await: `{self._form}`")

    __call__ = _refuse


class _Uncalled(_NoValue):
    """A reading method of one array."""

    __slots__ = ("__self__", "__wrapped__")

    def __init__(self, function: Callable[[Any], Read], owner: object) -> None:
        self.__wrapped__ = function
        self.__self__ = owner

    def __call__(self) -> Read:
        return self.__wrapped__(self.__self__)

    def __repr__(self) -> str:
        name = self.__wrapped__.__name__
        return f"<{name} is a method: write `await x.{name}()`>"

    def __await__(self) -> NoReturn:
        self._refuse()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        name = self.__wrapped__.__name__
        raise SyncAccessError(f"{name}: a method that was not called: `await x.{name}()`")


class reader:  # noqa: N801 - a decorator
    """Makes a method that reads say so where it is not called: ``await x.numpy``."""

    def __init__(self, function: Callable[[Any], Read]) -> None:
        self._function = function
        functools.update_wrapper(self, function)

    @overload
    def __get__(self, owner: None, kind: type) -> reader: ...
    @overload
    def __get__(self, owner: object, kind: type) -> Callable[[], Read]: ...
    def __get__(self, owner: object | None, kind: type) -> reader | Callable[[], Read]:
        return self if owner is None else _Uncalled(self._function, owner)

    def __call__(self, owner: object) -> Read:
        """As a function of the array: ``Array.numpy(x)``."""
        return self._function(owner)
