"""Serve the project's root as static files, as any plain web server would.

No header is special by default: what works here works from a folder of static files anywhere.
``--isolated`` adds COOP and COEP (SharedArrayBuffer, finer timers). A page may post JSON to
``/result``; it is printed, or handed to the test that started the server.

    python tools/serve.py [--port 8000] [--isolated] [FOLDER]
"""

import argparse
import contextlib
import functools
import http.server
import queue
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ISOLATION = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Handler(http.server.SimpleHTTPRequestHandler):
    """Static files with the right types, and ``POST /result``."""

    server: "Server"
    protocol_version = "HTTP/1.1"
    # Python takes the types of the rest from the machine, where some are wrong or absent.
    extensions_map = {  # noqa: RUF012 - the class of the standard library declares it so
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".json": "application/json",
        ".wasm": "application/wasm",
        ".whl": "application/zip",
    }

    def end_headers(self) -> None:
        """Add what every answer has."""
        # A page under test must never see the previous build.
        self.send_header("Cache-Control", "no-cache")
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        super().end_headers()

    def do_POST(self) -> None:
        """Keep what a page posts to /result; 404 for any other path."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        known = self.path.partition("?")[0] == "/result"
        if known:
            self.server.results.put(body)
        self.send_response(204 if known else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - as inherited
        """Log only when asked to; tests stay silent."""
        if self.server.verbose:
            super().log_message(format, *arguments)


class Server(http.server.ThreadingHTTPServer):
    """A static server on the loopback interface.

    Attributes:
        results: Bodies posted to ``/result``, in order.
        url: ``http://127.0.0.1:<port>``, a secure context, so WebGPU is there.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(
        self, root: Path = ROOT, *, port: int = 0, isolated: bool = False, verbose: bool = False
    ) -> None:
        """Bind.

        Args:
            root: The folder to serve.
            port: 0 takes a free one.
            isolated: Send the COOP and COEP headers.
            verbose: Log each request to standard error.

        Raises:
            OSError: The port is taken.
        """
        super().__init__(("127.0.0.1", port), functools.partial(Handler, directory=str(root)))
        self.results: queue.Queue[bytes] = queue.Queue()
        self.headers = ISOLATION if isolated else {}
        self.verbose = verbose
        self.url = f"http://127.0.0.1:{self.server_port}"


@contextlib.contextmanager
def serving(root: Path = ROOT, *, isolated: bool = False) -> Iterator[Server]:
    """Serve on a free port in a thread until the block ends.

    Args:
        root: The folder to serve.
        isolated: Send the COOP and COEP headers.
    """
    with Server(root, isolated=isolated) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def main() -> None:
    """Serve until interrupted."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("folder", type=Path, nargs="?", default=ROOT)
    arguments.add_argument("--port", type=int, default=8000, help="default: 8000; 0: a free one")
    arguments.add_argument("--isolated", action="store_true", help="send the COOP and COEP headers")
    given = arguments.parse_args()
    try:
        server = Server(given.folder, port=given.port, isolated=given.isolated, verbose=True)
    except OSError as error:
        sys.exit(f"serve: port {given.port}: {error.strerror}; give another with --port")
    with server:
        print(f"The demo: {server.url}/web/demo/index.html", flush=True)
        print(f"The numerics of your adapter: {server.url}/tests/conformance.html", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()


if __name__ == "__main__":
    main()
