"""Arrays in notebooks: a placeholder that fills itself when the values arrive."""

from __future__ import annotations

import asyncio
import html
from typing import TYPE_CHECKING, Any, Final

from aiogpu import picture
from aiogpu.errors import AioGpuError, UsageError
from aiogpu.notebook import Output

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiogpu.array import Array

_EDGE: Final = 3  # of a long axis so many elements are shown at each end
_ROWS: Final = {"values": 2 * _EDGE, "table": 10, "image": 0}
_MOST: Final = 1000  # elements at most: the axes before the last two are cut to few as well
_GAP: Final = "…"

_filling: set[asyncio.Task[None]] = set()  # a loop holds its tasks weakly


def display(x: Array, kind: str = "values") -> None:
    """Show an array in a notebook: at once its shape and dtype, the rest when it is computed.

    Only what is shown is read: of a long axis some elements at both ends. An array that is the last
    expression of a cell is shown as by ``display(x)``.

    Args:
        x: The array.
        kind: ``"values"``, ``"table"`` (at most 2 axes), or ``"image"`` (what `Canvas.show` takes).

    Raises:
        UsageError: Another kind, or an array that it cannot show.
    """
    if kind not in _ROWS:
        raise UsageError(f"display: {kind!r}: one of {', '.join(_ROWS)}")
    if kind == "table" and x.ndim > 2:
        raise UsageError(f"display: a table of shape {x.shape}: has at most 2 axes")
    if kind == "image":
        picture.check(x.shape, x.dtype, "display")
    output = Output(_placeholder(x))
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return  # the placeholder says how to read
    task = loop.create_task(_fill(output, x, kind))
    _filling.add(task)
    task.add_done_callback(_filling.discard)


async def _fill(output: Output, x: Array, kind: str) -> None:
    try:
        if kind == "image":
            made = await picture.read(x._node)
            output.update({"image/png": bytes(made), "text/plain": _caption(x)})
            return
        await x.evaluate()
        values, cuts = await _edges(x, _ROWS[kind])
    except AioGpuError as error:
        output.update(_failure(x, error))
    else:
        output.update(_table(x, values, cuts) if kind == "table" else _text(x, values, cuts))


async def _edges(x: Array, most: int) -> tuple[Any, tuple[bool, ...]]:
    """Nested lists of the elements to show, and which axes were cut."""
    whole = x.size <= most * most
    cuts = tuple(not whole and size > most for size in x.shape)
    shown: Any = x
    for axis, is_cut in enumerate(cuts):
        if is_cut:
            ends = [*range(most // 2), *range(x.shape[axis] - most // 2, x.shape[axis])]
            shown = shown.take(ends, axis=axis)
    # Of many axes even the ends are many: then the first of them only.
    while shown.size > _MOST:
        shown = shown[:1]
        if shown.shape[0] == 1 and shown.ndim > 2:
            shown = shown[0]
    return await shown.tolist(), cuts[len(cuts) - shown.ndim :]


def _caption(x: Array) -> str:
    return f"aiogpu.Array shape={x.shape} dtype={x.dtype.name}"


def _framed(x: Array, content: str) -> str:
    style = "color: var(--jp-ui-font-color2, gray); font-size: 85%"
    return f'<div class="aiogpu-array"><div style="{style}">{_caption(x)}</div>{content}</div>'


def _placeholder(x: Array) -> Mapping[str, object]:
    return {"text/plain": repr(x), "text/html": _framed(x, "<em>computing …</em>")}


def _failure(x: Array, error: AioGpuError) -> Mapping[str, object]:
    said = f"{type(error).__name__}: {error}"
    style = "color: var(--jp-error-color1, firebrick)"
    shown = f'<pre style="{style}">{html.escape(said)}</pre>'
    return {"text/plain": f"{_caption(x)}\n{said}", "text/html": _framed(x, shown)}


def _number(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, (float, complex)) else str(value)


def _text(x: Array, values: Any, cuts: tuple[bool, ...]) -> Mapping[str, object]:  # noqa: ANN401 - nested lists
    width = max(map(len, map(_number, _flat(values))), default=0)
    text = _lines(values, cuts, width, 1)
    shown = f'<pre style="margin: 0">{html.escape(text)}</pre>'
    return {"text/plain": f"{_caption(x)}\n{text}", "text/html": _framed(x, shown)}


def _flat(values: Any) -> list[object]:  # noqa: ANN401 - nested lists
    if not isinstance(values, list):
        return [values]
    return [number for each in values for number in _flat(each)]


def _lines(values: Any, cuts: tuple[bool, ...], width: int, depth: int) -> str:  # noqa: ANN401 - nested lists
    """As NumPy writes nested lists: an axis a bracket, a row a line."""
    if not isinstance(values, list):
        return _number(values).rjust(width)
    parts = [_lines(each, cuts[1:], width, depth + 1) for each in values]
    if cuts[0]:
        parts.insert(len(parts) // 2, _GAP)
    between = " " if len(cuts) == 1 else "\n" * (len(cuts) - 1) + " " * depth
    return f"[{between.join(parts)}]"


def _table(x: Array, values: Any, cuts: tuple[bool, ...]) -> Mapping[str, object]:  # noqa: ANN401 - nested lists
    plain = _text(x, values, cuts)["text/plain"]
    rows = values if x.ndim == 2 else [values if x.ndim else [values]]
    cuts = (False, False, *cuts)[-2:]
    heads = _numbers(x.shape[-1] if x.ndim else 1, len(rows[0]) if rows else 0, is_cut=cuts[1])
    names = _numbers(x.shape[0] if x.ndim == 2 else 1, len(rows), is_cut=cuts[0])
    lines = [[_number(each) for each in row] for row in rows]
    for line in lines if cuts[1] else []:
        line.insert(len(line) // 2, _GAP)
    if cuts[0]:
        lines.insert(len(lines) // 2, [_GAP] * len(heads))
    body = "".join(
        f"<tr><th>{name}</th>{''.join(f'<td>{html.escape(each)}</td>' for each in line)}</tr>"
        for name, line in zip(names, lines, strict=True)
    )
    head = "".join(f"<th>{each}</th>" for each in heads)
    table = f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table>"
    return {"text/plain": plain, "text/html": _framed(x, table)}


def _numbers(size: int, shown: int, *, is_cut: bool) -> list[str]:
    """The numbers of the elements that are shown of an axis."""
    if not is_cut:
        return [str(at) for at in range(shown)]
    half = shown // 2
    return [*map(str, range(half)), _GAP, *map(str, range(size - half, size))]
