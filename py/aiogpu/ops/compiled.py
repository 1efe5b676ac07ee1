"""`compile`: a function whose launches are recorded once for each form of its arguments."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, ParamSpec, TypeVar

from aiogpu import evaluate, execute
from aiogpu.array import Array
from aiogpu.errors import UsageError
from aiogpu.graph import build
from aiogpu.graph.node import caller
from aiogpu.recipe import Recipe, UnrepeatableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiogpu.dtypes import DType
    from aiogpu.graph.node import Node
    from aiogpu.runtime.runtime import Runtime
    from aiogpu.shapes import Shape

__all__ = ["Compiled", "compile"]

P = ParamSpec("P")
R = TypeVar("R")

MAX_RECIPES: Final = 32  # of one function


def compile(function: Callable[P, R]) -> Compiled[P, R]:
    """A function of arrays whose launches are recorded once, and then repeated.

    For each form of the arguments (shapes and dtypes of arrays, values of everything else), within
    `eager` and `fast_math` apart, Python runs the function once. From then on a call costs one step
    whatever the function does: no graph, no planning. What the function gives depends on its
    arguments alone: what else it reads, random numbers among it, is as it was when it ran. Memory
    for what is computed on the way is kept.

    What cannot be repeated blindly (indexing that may fault, `wgsl`, launches that must be cut for
    a software adapter) runs as it would without this, at each call.

    Args:
        function: Takes arrays, and hashable values; gives an array, or a tuple, list or dict of
            arrays.

    Returns:
        The function; its results are being computed when it returns.

    Raises:
        UsageError: At the call: an argument is not hashable, or a result is not an array.
    """
    return Compiled(function)


class Compiled(Generic[P, R]):
    """A function as `compile` makes it."""

    def __init__(self, function: Callable[P, R]) -> None:
        """Records nothing yet."""
        self.function = function
        self._recipes: dict[object, tuple[Recipe, Any] | None] = {}
        functools.update_wrapper(self, function)

    def __repr__(self) -> str:
        return f"<aiogpu.compile({getattr(self.function, '__name__', self.function)})>"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """See `compile`."""
        runtime = evaluate.DEFAULT.runtime
        if runtime is None or evaluate.DEFAULT.is_recording:
            # Nothing is open, and all is lazy; or it is a part of what another one records.
            return self.function(*args, **kwargs)
        given = [*args, *kwargs.values()]
        nodes = [each._node for each in given if isinstance(each, Array)]
        key = (
            *[(x._node.shape, x._node.dtype) if isinstance(x, Array) else x for x in given],
            *[type(x) for x in given if not isinstance(x, Array)],
            len(args),
            *kwargs,
            evaluate.EAGER.get(),
            build.FAST.get(),
        )
        try:
            found = self._recipes.get(key, _UNKNOWN)
        except TypeError as error:
            raise UsageError(f"compile: an argument: {error}") from None
        if found is _UNKNOWN or not _is_usable(found, runtime):
            found = self._record(runtime, key, args, kwargs)
        if found is None:
            return self.function(*args, **kwargs)
        recipe, form = found
        pending = [node for node in nodes if not node.is_done]
        if pending:
            evaluate.DEFAULT.drain(pending)
        buffers = recipe.repeat([execute.buffer(runtime, node) for node in nodes], caller(1))
        results = iter(buffers)
        made: R = _rebuilt(form, lambda node: Array(build.leaf(next(results), *node)))
        return made

    def _record(
        self, runtime: Runtime, key: object, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Recipe, Any] | None:
        given: list[Node] = []

        def stand_in(value: object) -> object:
            if not isinstance(value, Array):
                return value
            given.append(build.leaf(_STAND_IN, value._node.shape, value._node.dtype))
            return Array(given[-1])

        arguments = [stand_in(each) for each in args]
        named = {name: stand_in(each) for name, each in kwargs.items()}
        with evaluate.DEFAULT.only_recording():
            result = self.function(*arguments, **named)  # type: ignore[arg-type]
        wanted: list[Node] = []

        def take(array: Array) -> _Form:
            wanted.append(array._node)
            return _Form(array._node.shape, array._node.dtype)

        form = _rebuilt(result, take)
        recorded: tuple[Recipe, Any] | None = None
        tasks = evaluate.DEFAULT.tasks(wanted)
        try:
            recorded = Recipe(runtime, tasks, given, wanted), form
        except UnrepeatableError as error:
            if error.is_for_now:
                evaluate.DEFAULT.prepare(tasks)
                return None
        if len(self._recipes) >= MAX_RECIPES:
            self._recipes.pop(next(iter(self._recipes)))
        self._recipes[key] = recorded
        return recorded


class _Form(NamedTuple):
    """What is known of a result before it is computed."""

    shape: Shape
    dtype: DType


_UNKNOWN: Final[Any] = object()
_STAND_IN: Final = object()


def _is_usable(found: tuple[Recipe, Any] | None, runtime: Runtime) -> bool:
    if found is None:
        return True
    recipe = found[0]
    return recipe.runtime is runtime and recipe.budget == runtime.stream.budget


def _rebuilt(result: Any, make: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - what the user's function gives
    """The same structure, with something for each array."""
    if isinstance(result, (Array, _Form)):
        return make(result)
    if isinstance(result, dict):
        return {name: _rebuilt(each, make) for name, each in result.items()}
    if isinstance(result, (tuple, list)):
        parts = [_rebuilt(each, make) for each in result]
        if isinstance(result, tuple):
            return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
        return parts
    raise UsageError(f"compile: a result: {type(result).__name__}: must be an array, or several")
