"""Exceptions on their way to the page."""

import re
import traceback
from pathlib import Path
from typing import Final

from aiogpu.errors import AioGpuError, ImportFailedError, OutOfMemoryError
from aiogpu.server.protocol import WireError, WireLine

_HERE: Final = str(Path(__file__).parent)
_MOST_CAUSES: Final = 8
_OPERATION: Final = re.compile(r"[\w.]+(?=: )")

#: Exceptions of Python's own that have a class on the page, where others are "remote". The memory
#: is WebAssembly's.
_CODES: Final[dict[type[BaseException], str]] = {
    ImportError: ImportFailedError.code,
    MemoryError: OutOfMemoryError.code,
}


def describe(error: BaseException) -> WireError:
    """What the page is told of an exception: class, message, place and what caused it."""
    return _describe(error, _MOST_CAUSES)


def _describe(error: BaseException, most_causes: int) -> WireError:
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return {
        "code": _code(error),
        "name": type(error).__name__,
        "message": _text(error),
        "operation": _operation(error),
        "line": _line(error),
        "traceback": _traceback(error),
        "cause": None if cause is None or most_causes == 0 else _describe(cause, most_causes - 1),
    }


def _code(error: BaseException) -> str:
    if isinstance(error, AioGpuError):
        return error.code
    return next((code for kind, code in _CODES.items() if isinstance(error, kind)), "remote")


def _operation(error: BaseException) -> str | None:
    """What an error of aiogpu's is about; what the user's Python says is not looked into."""
    found = _OPERATION.match(_text(error)) if isinstance(error, AioGpuError) else None
    return None if found is None else found[0]


def _line(error: BaseException) -> WireLine | None:
    line = error.kernel_line if isinstance(error, AioGpuError) else None
    return None if line is None else {"file": line.file, "line": line.line, "text": line.text}


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001  # the user's __str__ may raise anything, and the page must be told all the same
        return f"<{type(error).__name__} whose __str__ raises>"


def _traceback(error: BaseException) -> str:
    """The traceback from the user's first frame on, without the server's own above it."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename.startswith(_HERE):
        frames = frames.tb_next
    return "".join(traceback.format_exception(type(error), error, frames))
