"""A server that generates a CSV of any size while it sends it."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

HEADER, ROW = b"id,text\n", 1024


@contextmanager
def csv_server() -> Iterator[str]:
    """Run a server that answers `/<rows>` with a CSV of that many rows of 1 KiB."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            rows = int(self.path.strip("/"))
            self.send_response(200)
            self.send_header("Content-Type", "text/csv")
            self.send_header("Content-Length", str(len(HEADER) + rows * ROW))
            self.end_headers()
            self.wfile.write(HEADER)
            for first in range(0, rows, 1_000):
                numbers = range(first, min(rows, first + 1_000))
                self.wfile.write(b"".join(b"%08d,%s\n" % (n, b"x" * (ROW - 10)) for n in numbers))

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
