"""The bridge's worker side: serves a page with the same arrays and device as everything else."""

from aiogpu.server.exposure import expose
from aiogpu.server.reporter import progress, track

__all__ = ["expose", "progress", "serve", "track"]


def serve(port: object, interrupt: object = None) -> None:
    """Serves one page over a message port, until it says that it is done.

    Returns at once: requests are handled on the event loop, each in a task of its own.

    Args:
        port: A JavaScript ``MessagePort`` (or a worker's ``self``), whose other end is a client.
        interrupt: A ``Uint8Array`` of two bytes that are shared with the page, and that Pyodide
            has as its interrupt buffer; None where the page cannot share memory.

    Raises:
        UsageError: The port is no JavaScript object.
    """
    # Here and not above: the door to JavaScript opens in Pyodide only.
    from aiogpu.server.port import open_session

    open_session(port, interrupt)
