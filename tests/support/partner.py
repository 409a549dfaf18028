"""A real HTTP server that answers correctly, incorrectly, slowly, endlessly or not at all."""

import gzip
import json
import threading
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

MEBIBYTE = 1024 * 1024
SLOW = 4.0  # seconds


class Partner(ThreadingHTTPServer):
    """Serves on a free port of 127.0.0.1; `received` lists requests in the order of their
    arrival.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.received: list[dict[str, Any]] = []
        self.sent_bytes = 0
        self.closing = threading.Event()
        self.answers_slowly = threading.Event()  # after that, `/knock` answers after `SLOW` seconds
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def stop(self) -> None:
        self.closing.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors: some tests close the connection."""


class Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Partner

    def _serve(self) -> None:
        parts = urlsplit(self.path)
        length = int(self.headers.get("content-length", 0))
        self.query = parse_qs(parts.query)
        self.seen = {
            "method": self.command,
            "path": parts.path,
            "query": self.query,
            "headers": {name.lower(): value for name, value in self.headers.items()},
            "body": self.rfile.read(length).decode("utf-8", "replace"),
        }
        self.server.received.append(self.seen)
        name = parts.path.strip("/").replace("-", "_") or "echo"
        answer: Callable[[], None] = getattr(self, f"answer_{name}")
        with suppress(ConnectionError, TimeoutError):
            answer()

    # The names are http.server's.
    for _method in ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"):
        locals()[f"do_{_method}"] = _serve

    def log_message(self, *arguments: Any) -> None:
        pass

    def reply(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if "Content_Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def answer_echo(self) -> None:
        self.reply(200, json.dumps(self.seen).encode(), Content_Type="application/json")

    def answer_knock(self) -> None:
        self.seen["at"] = time.time()
        if self.server.answers_slowly.is_set():
            self.server.closing.wait(SLOW)
        self.reply(204)

    def answer_status(self) -> None:
        status = int(self.query["code"][0])
        retry = {"Retry_After": self.query["retry"][0]} if "retry" in self.query else {}
        self.reply(status, b"what went wrong", Content_Type="text/plain", **retry)

    def answer_digest(self) -> None:
        if self.headers.get("authorization", "").startswith("Digest "):
            return self.answer_echo()
        challenge = 'Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256'
        return self.reply(401, b"who are you?", WWW_Authenticate=challenge)

    def answer_refuse(self) -> None:
        self.reply(403, json.dumps(self.seen).encode(), Content_Type="application/json")

    def answer_empty(self) -> None:
        self.send_response(204)
        self.end_headers()

    def answer_text(self) -> None:
        self.reply(200, "Grüße".encode("latin-1"), Content_Type="text/plain; charset=latin-1")

    def answer_nul(self) -> None:
        self.reply(200, b"a\x00b", Content_Type="text/plain")

    def answer_binary(self) -> None:
        self.reply(200, bytes(range(256)), Content_Type="image/png")

    def answer_broken_json(self) -> None:
        self.reply(200, b'{"a": NaN}', Content_Type="application/json")

    def answer_deep_json(self) -> None:
        self.reply(200, b"[" * 100_000 + b"]" * 100_000, Content_Type="application/json")

    def answer_gzip(self) -> None:
        body = gzip.compress(b'{"packed": ') + bytes(8) + gzip.compress(b"true}") + bytes(8)
        self.reply(200, body, Content_Type="application/json", Content_Encoding="gzip")

    def answer_bomb(self) -> None:
        packer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
        zeros = bytes(MEBIBYTE)
        body = b"".join(packer.compress(zeros) for _ in range(128)) + packer.flush()
        self.reply(200, body, Content_Encoding="gzip")

    def answer_double_gzip(self) -> None:
        body = gzip.compress(gzip.compress(b"x"))
        self.reply(200, body, Content_Encoding="gzip, gzip")

    def answer_cut_gzip(self) -> None:
        self.reply(200, gzip.compress(b"x" * 1000)[:-12], Content_Encoding="gzip")

    def answer_short(self) -> None:
        self.reply(200, b"only this", Content_Length="1000")
        self.close_connection = True

    def answer_hang_up(self) -> None:
        self.close_connection = True
        self.connection.close()

    def answer_cookie(self) -> None:
        self.reply(200, b"", Set_Cookie="session=secret; Path=/")

    def answer_redirect(self) -> None:
        code = int(self.query.get("code", ["302"])[0])
        self.reply(code, b"moved", Location=self.query["to"][0])

    def answer_circle(self) -> None:
        self.reply(302, b"", Location="/circle")

    def answer_endless_redirect(self) -> None:
        self.send_response(302)
        self.send_header("Location", "/echo")
        self.end_headers()
        self._pour()

    def answer_endless(self) -> None:
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        self._pour()

    def _pour(self) -> None:
        self.close_connection = True
        while not self.server.closing.is_set():
            self.server.sent_bytes += self.connection.send(b"x" * 65_536)

    def answer_silent(self) -> None:
        self.server.closing.wait(30)

    def answer_drip_headers(self) -> None:
        self._drip(b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 10_000)

    def answer_drip_body(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "10000")
        self.end_headers()
        self._drip(b"a" * 10_000)

    def _drip(self, data: bytes) -> None:
        # Each byte comes well within any timeout for one read; all of them never do.
        self.close_connection = True
        end = time.monotonic() + 30
        for byte in data:
            if self.server.closing.wait(0.02) or time.monotonic() > end:
                return
            self.connection.send(bytes([byte]))
