"""Arrays of unknown length in a value that is to cross: the page has no word for such a shape."""

import dataclasses
from collections.abc import Iterable, Mapping

from aiogpu.server.values import MOST_LEVELS
from aiogpu.unknown import UnknownLength


async def settle_lengths(value: object) -> None:
    """Make ordinary arrays of those in ``value``, wherever they are, that do not know their length.

    Resolves when the lengths were read; at once where there is none.

    Raises:
        AioGpuError: The work that makes one failed.
    """
    layer: list[object] = [value]
    for _ in range(MOST_LEVELS + 1):  # deeper ones are refused, and so is what contains itself
        for item in layer:
            if isinstance(item, UnknownLength):
                await item.evaluate()
        layer = [inner for item in layer for inner in _items(item)]
        if not layer:
            return


def _items(value: object) -> Iterable[object]:
    if isinstance(value, Mapping):
        return value.values()
    if isinstance(value, list | tuple):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    return ()
