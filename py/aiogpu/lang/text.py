"""WGSL with the Python line that each of its lines comes from."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiogpu.errors import KernelLine
    from aiogpu.lang.source import Source
    from aiogpu.program import Origin

#: How compilers begin what they say about a place.
POSITION: Final = re.compile(r"^\s*(?:wgsl:|<wgsl>:|:)?(\d+):(\d+):?\s*(.*)$")


def excerpt(place: str, line: str, start: int = -1, end: int = -1) -> str:
    """Where something is wrong: the place, the line there, and carets under a part of it.

    Args:
        place: File and number of the line.
        line: The line.
        start: Where the part begins, in characters; negative for none.
        end: Where it ends.
    """
    shown = line.strip()
    message = f"  {place}\n    {shown}"
    if start < 0 or not shown:
        return message
    margin = len(line) - len(line.lstrip())
    start = max(0, start - margin)
    width = max(1, min(end - margin - start, len(shown) - start))
    return f"{message}\n    {' ' * start}{'^' * width}"


@dataclass(slots=True)
class Text:
    """Lines of WGSL.

    Attributes:
        lines: The lines, each with where it comes from, or None.
    """

    lines: list[tuple[str, Source | None, int]] = field(default_factory=list)
    depth: int = 0

    def add(self, line: str, source: Source | None = None, number: int = 0) -> None:
        """Append a line."""
        self.lines.append(("  " * self.depth + line, source, number))

    def plain(self) -> str:
        """The WGSL alone."""
        return "".join(line + "\n" for line, _, _ in self.lines)

    def origins(self) -> Origins:
        """Which line comes from where."""
        return Origins(self.plain(), tuple((source, number) for _, source, number in self.lines))


@dataclass(frozen=True, eq=False, slots=True)
class Origins:
    """From lines of WGSL back to lines of Python.

    Attributes:
        declarations: The part of a shader that comes from Python.
        places: For each of its lines the function and the line there.
    """

    declarations: str
    places: tuple[tuple[Source | None, int], ...]

    def explain(self, wgsl: str, said: str) -> str:
        """What a compiler said about a shader, with the lines of Python that are meant."""
        at = wgsl.find(self.declarations)
        if at < 0:
            return said
        first = wgsl.count("\n", 0, at) + 1
        shown = []
        for line in said.splitlines():
            shown.append(line)
            match = POSITION.match(line)
            at = int(match[1]) - first if match else -1
            if match and 0 <= at < len(self.places):
                source, number = self.places[at]
                text = wgsl.splitlines()[int(match[1]) - 1].strip()
                shown.append(f"    in WGSL: {text}")
                if source is not None and number:
                    where = source.said(number, "", -1).split("\n", 1)[1]
                    shown.append(f"  {source.name}:\n{where}")
        return "\n".join(shown)

    @classmethod
    def within(cls, wgsl: str, *texts: Text) -> Origins:
        """The origins of a shader that some texts are parts of, in this order."""
        places: list[tuple[Source | None, int]] = []
        end = 0
        for text in texts:
            part = text.plain()
            at = wgsl.index(part, end)
            places += [(None, 0)] * wgsl.count("\n", end, at)
            end = at + len(part)
            places += [(source, number) for _, source, number in text.lines]
        places += [(None, 0)] * wgsl.count("\n", end)
        return cls(wgsl, tuple(places))

    def blamed(self, wgsl: str, said: str) -> KernelLine | None:
        """The first line of Python that a compiler complained of."""
        first = wgsl.count("\n", 0, max(0, wgsl.find(self.declarations))) + 1
        for match in filter(None, map(POSITION.match, said.splitlines())):
            at = int(match[1]) - first
            source, number = self.places[at] if 0 <= at < len(self.places) else (None, 0)
            if source is not None and number:
                return source.place(number)
        return None

    def fault(self, line: int, index: int, size: int) -> str:
        """An index out of range: not asked for, arrays are `aiogpu.lang.launch.Compiled`'s."""
        return f"line {line}: index {index} is out of range: there are {size}"

    def place(self, line: int) -> KernelLine | None:  # noqa: ARG002 - the form that all have
        """Not asked for, as `fault`."""
        return None

    def annotated(self, wgsl: str) -> str:
        """A shader with the Python lines as comments."""
        start = wgsl.find(self.declarations)
        if start < 0:
            return wgsl
        lines = []
        last: tuple[Source | None, int] = (None, 0)
        for line, place in zip(self.declarations.splitlines(), self.places, strict=True):
            source, number = place
            if source is not None and number and place != last:
                margin = line[: len(line) - len(line.lstrip())]
                lines.append(
                    f"{margin}// {source.filename}:{number}: {source.line(number).strip()}"
                )
                last = place
            lines.append(line)
        end = start + len(self.declarations)
        return wgsl[:start] + "\n".join(lines) + "\n" + wgsl[end:]


class Together:
    """The user's texts that are parts of one shader."""

    def __init__(self, parts: Sequence[Origin]) -> None:
        self._parts = parts

    def explain(self, wgsl: str, said: str) -> str:
        """What a compiler said about the shader, each place by the text that it lies in."""
        for part in self._parts:
            said = part.explain(wgsl, said)
        return said

    def fault(self, line: int, index: int, size: int) -> str:
        """An index out of range, in the first of them."""
        return self._parts[0].fault(line, index, size)

    def blamed(self, wgsl: str, said: str) -> KernelLine | None:
        """The first of the user's lines that a compiler complained of."""
        return next(filter(None, (part.blamed(wgsl, said) for part in self._parts)), None)

    def place(self, line: int) -> KernelLine | None:
        """A line, in the first of them."""
        return self._parts[0].place(line)
