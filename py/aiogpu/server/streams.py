"""Generators that the page reads as it likes: nothing runs ahead of what it asks for."""

import inspect
from collections.abc import AsyncGenerator, Generator

from aiogpu.errors import UsageError
from aiogpu.server.protocol import Tree


class Streams:
    """One page's streams."""

    def __init__(self) -> None:
        """Holds none."""
        self._open: dict[int, Generator[object] | AsyncGenerator[object]] = {}
        self._last = 0

    def __len__(self) -> int:
        """How many are open."""
        return len(self._open)

    def open(self, generator: Generator[object] | AsyncGenerator[object]) -> Tree:
        """Keeps a generator, and gives the tree that names it."""
        self._last += 1
        self._open[self._last] = generator
        return {"$": "stream", "stream": self._last}

    async def next(self, stream: int) -> list[object]:
        """A list of the next value; an empty one at the end.

        Raises:
            UsageError: There is no such stream.
            BaseException: Whatever the generator raises; it is closed then.
        """
        generator = self._open.get(stream)
        if generator is None:
            raise UsageError(f"stream {stream}: has ended, or is not this client's")
        try:
            if inspect.isasyncgen(generator):
                return [await anext(generator)]
            assert inspect.isgenerator(generator)
            return [next(generator)]
        except (StopAsyncIteration, StopIteration):
            self._open.pop(stream, None)
            return []
        # A cancelled generator is finished too, and so is one that was left by SystemExit.
        except BaseException:
            self._open.pop(stream, None)
            raise

    async def stop(self, stream: int) -> None:
        """Closes a stream, so that its ``finally`` clauses run; one that has ended stays so."""
        generator = self._open.pop(stream, None)
        if inspect.isasyncgen(generator):
            await generator.aclose()
        elif inspect.isgenerator(generator):
            generator.close()

    async def stop_all(self) -> None:
        """Closes every stream, whatever one of them raises."""
        for stream in list(self._open):
            try:
                await self.stop(stream)
            # The page is going: there is nobody to tell.
            except Exception:  # noqa: BLE001
                continue
