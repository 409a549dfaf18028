"""A collector of spans, sent as OTLP over HTTP, parsed and kept in memory."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

ERROR = 2


@dataclass(frozen=True)
class Span:
    """One span as it arrived; ids in hexadecimal."""

    name: str
    trace: str
    id: str
    parent: str
    kind: int
    facts: dict[str, Any]
    events: tuple[tuple[str, dict[str, Any]], ...]
    links: tuple[tuple[str, str, dict[str, Any]], ...]  # trace, span, attributes
    failed: bool
    process: dict[str, Any]
    seconds: float


class Collector:
    """Keeps the spans that have arrived, with their headers."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.headers: list[dict[str, str]] = []
        self.raw = b""
        self.requests: list[tuple[str, dict[str, str]]] = []  # of anything else
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """The collector's address."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def of(self, trace: str, name: str = "") -> list[Span]:
        """Return the spans of a trace, or only those with a name."""
        return [s for s in list(self.spans) if s.trace == trace and name in ("", s.name)]

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"] or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                if self.path == "/v1/traces":
                    collector.headers.append(headers)
                    collector.raw += body
                    collector.spans += list(_spans(body))
                else:
                    collector.requests.append((self.path, headers))
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            do_GET = do_POST  # noqa: N815 - named by the library

            def log_message(self, *_: object) -> None:
                return

        return Handler


@contextmanager
def collecting() -> Iterator[Collector]:
    """Run a collector that listens during the block."""
    made = Collector()
    try:
        yield made
    finally:
        made.close()


def _spans(body: bytes) -> Iterator[Span]:
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        process = _facts(resource.resource.attributes)
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield Span(
                    name=span.name,
                    trace=span.trace_id.hex(),
                    id=span.span_id.hex(),
                    parent=span.parent_span_id.hex(),
                    kind=span.kind,
                    facts=_facts(span.attributes),
                    events=tuple((e.name, _facts(e.attributes)) for e in span.events),
                    links=tuple(
                        (li.trace_id.hex(), li.span_id.hex(), _facts(li.attributes))
                        for li in span.links
                    ),
                    failed=span.status.code == ERROR,
                    process=process,
                    seconds=(span.end_time_unix_nano - span.start_time_unix_nano) / 1e9,
                )


def _facts(attributes: Any) -> dict[str, Any]:
    return {a.key: getattr(a.value, a.value.WhichOneof("value")) for a in attributes}
