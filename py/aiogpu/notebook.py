"""Outputs of notebook cells that can be changed later, through IPython where it is.

IPython is never imported for its own sake: where it is not running, nothing here is called.
"""

from __future__ import annotations

import base64
import html
import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def cell() -> int | None:
    """The number of the notebook cell that runs; None where there is no notebook."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return None if shell is None else int(shell.execution_count)


class Output:
    """One output, shown in the cell that runs.

    Args:
        data: By media type what is shown; the notebook takes the richest that it can.
    """

    def __init__(self, data: Mapping[str, object]) -> None:
        display: Any = importlib.import_module("IPython.display")
        self._handle = display.display(_encoded(data), raw=True, display_id=True)

    def update(self, data: Mapping[str, object]) -> None:
        """Show something else in the same place, also after the cell has ended."""
        self._handle.update(_encoded(data), raw=True)


def _encoded(data: Mapping[str, object]) -> dict[str, object]:
    """With bytes as base64: not every kernel does that (JupyterLite's of 0.8 does not)."""
    return {
        kind: base64.b64encode(content).decode() if isinstance(content, bytes) else content
        for kind, content in data.items()
    }


class Bar:
    """A progress bar, in the cell that runs when it is told of first."""

    def __init__(self) -> None:
        self._output: Output | None = None

    def tell(self, done: float, total: float | None, message: str) -> None:
        """Show how far it is."""
        count = f"{done:g}" if total is None else f"{done:g} / {total:g}"
        value = "" if total is None else f'value="{done:g}" max="{total:g}"'
        shown = f"{message}: {count}" if message else count
        data = {
            "text/plain": shown,
            "text/html": f"<progress {value}></progress> {html.escape(shown)}",
        }
        if self._output is None:
            self._output = Output(data)
        else:
            self._output.update(data)
