"""Every request has an id and a trace; both are on its log lines and in its answer's headers.

Stands before everything else of the ASGI application, so that the server's access line, which is
written while an answer leaves, has them too.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from executions.observability import log_context, tracing
from executions.telemetry import switch
from executions.telemetry.incoming import Incoming, read

if TYPE_CHECKING:
    from opentelemetry.trace import Span

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[..., Awaitable[None]]

# Asked every few seconds by probes and scrapers, or files: nobody wants their spans.
UNTRACED = ("/actuator/", "/metrics", "/static/")
SERVER_ERROR = 500


class Requests:
    """An ASGI application before another one."""

    def __init__(self, app: App) -> None:
        """Stand before `app`."""
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Hand the request on, named."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        given = read(scope["headers"])
        token = tracing.request_trace.set(given.trace_id)
        try:
            with log_context.bound(request_id=given.request_id, trace_id=given.trace_id):
                await self._serve(given, scope, receive, send)
        finally:
            tracing.request_trace.reset(token)

    async def _serve(self, given: Incoming, scope: Message, receive: Receive, send: Send) -> None:
        seen = _Seen(scope, given)

        async def marked(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.accept"):
                message.setdefault("headers", [])
                message["headers"] = [*message["headers"], *_headers(given)]
                seen.answered(message)
            await send(message)

        with seen.current():
            try:
                await self._app(scope, receive, marked)
            finally:
                seen.end()


class _Seen:
    """The span of a request, where there is one."""

    def __init__(self, scope: Message, given: Incoming) -> None:
        self._span: Span | None = None
        if switch.on() and scope["type"] == "http" and not scope["path"].startswith(UNTRACED):
            self._span = _begin(scope, given)

    def current(self) -> Any:
        """The block in which others' spans belong to this one."""
        if self._span is None:
            return nullcontext()
        from executions.telemetry import spans

        return spans.current(self._span)

    def answered(self, message: Message) -> None:
        """The answer begins; one that streams states for hours is not waited for."""
        if self._span is None or "status" not in message:
            return
        from opentelemetry.trace import Status, StatusCode

        self._span.set_attribute("http.response.status_code", message["status"])
        if message["status"] >= SERVER_ERROR:
            self._span.set_attribute("error.type", str(message["status"]))
            self._span.set_status(Status(StatusCode.ERROR))
        if any(value.startswith(b"text/event-stream") for _, value in message["headers"]):
            self.end()

    def end(self) -> None:
        """It is over; said twice, the first time counts."""
        span, self._span = self._span, None
        if span is not None:
            span.end()


def _headers(given: Incoming) -> list[tuple[bytes, bytes]]:
    return [
        (b"x-request-id", given.request_id.encode()),
        (b"x-trace-id", given.trace_id.encode()),
    ]


def _begin(scope: Message, given: Incoming) -> "Span":
    from opentelemetry.trace import SpanKind

    from executions.telemetry import spans

    parent = None
    if given.parent is not None:
        spans.believe(int(given.trace_id, 16), given.parent.flags)
        parent = spans.place(given.trace_id, given.parent.span_id)
    route = _route(scope["path"])
    # Never the address itself: those of callbacks and webhooks are what gives access.
    facts = {
        "http.request.method": scope["method"],
        "http.route": route or None,
        "url.scheme": scope.get("scheme", "http"),
        "network.protocol.version": scope.get("http_version"),
        "http.request.id": given.request_id,
    }
    name = f"{scope['method']} {route}" if route else str(scope["method"])
    return spans.start(name, parent, facts, trace_id=given.trace_id, kind=SpanKind.SERVER)


def _route(path: str) -> str:
    """The pattern that serves a path; empty where none does."""
    from django.urls import Resolver404, resolve

    try:
        return f"/{resolve(path).route}"
    except Resolver404:
        return ""
