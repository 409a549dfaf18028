"""A misbehaving HTTP server on real sockets: each path has its own fault.

It writes to the connection directly, so that it can send what no server library would. A request to
`/good` is answered correctly; `GOOD` and `VICES` list the paths. `requests` are the targets of
requests in the order of arrival, `connections` is the number of connections. The first request to a
target in `cut_once` is cut off.
"""

import gzip
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from urllib.parse import parse_qs, urlsplit

MEBIBYTE = 1024 * 1024
PAGES = 10_000
Vice = Callable[["BadServer", socket.socket, dict[str, str]], None]


class BadServer:
    """Listens on a free port of 127.0.0.1 until `stop`; one thread per connection."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.connections = 0
        self.cut_once: set[str] = set()
        self.closing = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port: int = self._listener.getsockname()[1]
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        """The server's address, without a trailing slash."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def open_connections(self) -> int:
        """The number of connections that are open on the server's side."""
        return len(self._open)

    def stop(self) -> None:
        """Close the port and every connection."""
        self.closing.set()
        # Closing the socket would leave the thread in `accept`.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self.connections += 1
                self._open.add(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            while (target := _target(connection)) and not self.closing.is_set():
                self.requests.append(target)
                if target in self.cut_once:
                    self.cut_once.discard(target)
                    _cut(self, connection, {})
                    break
                parts = urlsplit(target)
                query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                vice = GOOD.get(parts.path.strip("/"))
                if vice is None:
                    VICES[parts.path.strip("/")](self, connection, query)
                    break
                vice(self, connection, query)
        with self._lock:
            self._open.discard(connection)


@contextmanager
def bad_server() -> Iterator[BadServer]:
    """Run a server that ends with the block."""
    server = BadServer()
    try:
        yield server
    finally:
        server.stop()


def _target(connection: socket.socket) -> str:
    """Return the next request's target; read and drop its body. Return "" at the end of the
    connection.
    """
    head = b""
    while b"\r\n\r\n" not in head:
        data = connection.recv(65_536)
        if not data:
            return ""
        head += data
        if head[:1] == b"\x16":  # the client begins a TLS handshake
            connection.sendall(b"this is no TLS\r\n")
            return ""
    head, _, body = head.partition(b"\r\n\r\n")
    length = next(
        (
            int(line.split(b":")[1])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length:")
        ),
        0,
    )
    while len(body) < length:
        body += connection.recv(65_536)
    return head.split(b" ", 2)[1].decode("latin-1")


def reply(connection: socket.socket, body: bytes, *headers: str, status: str = "200 OK") -> None:
    """Send a correct answer."""
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "", ""]
    connection.sendall("\r\n".join(lines).encode() + body)


def _head(connection: socket.socket, *headers: str, status: str = "200 OK") -> None:
    connection.sendall("\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode())


JSON = "Content-Type: application/json"


def _good(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    reply(connection, b'{"good": true}', JSON)


def _goodbye(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    """Send a correct answer, after which the connection is closed without notice."""
    reply(connection, b'{"good": true}', JSON)


def _pages(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    """Send one of 10,000 pages, by `page`; each links to the next in every supported way."""
    page = int(query.get("page", "1"))
    following = page + 1 if page < PAGES else None
    link = [f'Link: </pages?page={following}>; rel="next"'] if following else []
    body = {"items": [{"n": page}], "next": following and f"/pages?page={following}"}
    body |= {"cursor": following and str(following)}
    reply(connection, json.dumps(body).encode(), JSON, *link)


def _same_page(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    body = {"items": [1, 2], "next": "/same-page?again=1", "cursor": "again"}
    reply(connection, json.dumps(body).encode(), JSON)


def _page(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    reply(connection, b"<!doctype html><title>Hello</title><p>a page", "Content-Type: text/html")


def _empty(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    reply(connection, b"")


def _circle(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    reply(connection, b"", "Location: /circle", status="302 Found")


def _away(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    reply(connection, b"", f"Location: {query['to']}", status="302 Found")


def _silent(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    server.closing.wait(60)


def _drip(server: BadServer, connection: socket.socket, data: bytes) -> None:
    # Each byte arrives within any timeout for one read; all of them never do.
    for byte in data:
        if server.closing.wait(0.02):
            return
        connection.sendall(bytes([byte]))


def _slow_headers(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    _drip(server, connection, b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 3_000)


def _drip_body(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    _head(connection, "Content-Length: 3000")
    _drip(server, connection, b"a" * 3_000)


def _endless(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    _head(connection, "Connection: close")
    while not server.closing.is_set():
        connection.sendall(b"x" * 65_536)


def _endless_error(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    _head(connection, "Connection: close", status="422 Unprocessable Content")
    while not server.closing.is_set():
        connection.sendall(b"x" * 65_536)


def _endless_redirect(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    _head(connection, "Location: /silent", "Connection: close", status="302 Found")
    while not server.closing.is_set():
        connection.sendall(b"x" * 65_536)


def _long_length(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    _head(connection, "Content-Length: 1000000000")
    connection.sendall(b"far less")


def _short_length(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    _head(connection, "Content-Length: 4")
    connection.sendall(b"four" + b"and much more" * 1_000)


def _two_lengths(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    _head(connection, "Content-Length: 4", "Content-Length: 5")
    connection.sendall(b"fours")


def _gzip_bomb(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    # 64 members of a mebibyte each: packing one takes no time, even on a busy machine.
    reply(connection, gzip.compress(bytes(MEBIBYTE)) * 64, "Content-Encoding: gzip")


def _gzip_cut(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    reply(connection, gzip.compress(b"x" * 1_000)[:-9], "Content-Encoding: gzip")


def _brotli(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    reply(connection, b"\x0b\x02\x80hello\x03", "Content-Encoding: br")


def _chunked_nonsense(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    _head(connection, "Transfer-Encoding: chunked")
    connection.sendall(b"5\r\nhello\r\nnot a length\r\n")


def _chunked_endless(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    _head(connection, "Transfer-Encoding: chunked")
    while not server.closing.is_set():
        connection.sendall(b"1\r\nx\r\n" * 10_000)


def _header_flood(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while not server.closing.is_set():
        connection.sendall(b"X-Flood: " + b"a" * 100 + b"\r\n")


def _long_header(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
    while not server.closing.is_set():
        connection.sendall(b"a" * 65_536)


def _informing(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    """Send interim answers (103) until the server closes."""
    while not server.closing.is_set():
        connection.sendall(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100)


def _no_http(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    connection.sendall(b"SSH-2.0-OpenSSH_9.6\r\n")


def _cut(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    _head(connection, JSON, "Content-Length: 100")
    connection.sendall(b'{"half": ')


def _reset(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    # Closing with a linger of zero sends RST instead of FIN.
    linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)


def _invalid_utf8(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    reply(connection, b'{"name": "\xff\xfe"}', JSON)


def _nul_json(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    reply(connection, b'{"name": "a\\u0000b"}', JSON)


def _surrogate_json(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    reply(connection, b'{"name": "\\ud800"}', JSON)


def _deep_json(server: BadServer, connection: socket.socket, query: dict[str, str]) -> None:
    reply(connection, b"[" * 100_000 + b"]" * 100_000, JSON)


GOOD: dict[str, Vice] = {
    "good": _good,
    "page": _page,
    "empty": _empty,
    "pages": _pages,
    "same-page": _same_page,
    "circle": _circle,
    "away": _away,
    "brotli": _brotli,
    "invalid-utf8": _invalid_utf8,
    "nul-json": _nul_json,
    "surrogate-json": _surrogate_json,
    "deep-json": _deep_json,
    "gzip-bomb": _gzip_bomb,
    "gzip-cut": _gzip_cut,
}
# The connection is closed after these.
VICES: dict[str, Vice] = {
    "goodbye": _goodbye,
    "silent": _silent,
    "slow-headers": _slow_headers,
    "drip-body": _drip_body,
    "endless": _endless,
    "endless-error": _endless_error,
    "endless-redirect": _endless_redirect,
    "long-length": _long_length,
    "short-length": _short_length,
    "two-lengths": _two_lengths,
    "chunked-nonsense": _chunked_nonsense,
    "chunked-endless": _chunked_endless,
    "header-flood": _header_flood,
    "long-header": _long_header,
    "informing": _informing,
    "no-http": _no_http,
    "cut": _cut,
    "reset": _reset,
}
