"""The span of one request. It is a child of the caller's span if the request names that span."""

from collections.abc import Mapping
from typing import Any

from django.urls import Resolver404, resolve
from opentelemetry.trace import SpanKind, Status, StatusCode

from executions.public.tracing import incoming
from valkyr_plugins.telemetry import spans

SERVER_ERROR = 500


class RequestSpan:
    """The span of a request, begun when this object is created; `span` is OpenTelemetry's span."""

    def __init__(self, scope: Mapping[str, Any]) -> None:
        given = incoming.get()
        assert given is not None, "a request gets its ids before its span"
        parent = None
        if given.parent is not None:
            spans.believe(int(given.trace_id, 16), given.parent.flags)
            parent = spans.place(given.trace_id, given.parent.span_id)
        route = _route(scope["path"])
        # Never record the URL itself, because URLs of callbacks and webhooks grant access.
        facts = {
            "http.request.method": scope["method"],
            "http.route": route or None,
            "url.scheme": scope.get("scheme", "http"),
            "network.protocol.version": scope.get("http_version"),
            "http.request.id": given.request_id,
        }
        name = f"{scope['method']} {route}" if route else str(scope["method"])
        self.span = spans.start(name, parent, facts, trace_id=given.trace_id, kind=SpanKind.SERVER)
        self._open = True

    def answered(self, message: Mapping[str, Any]) -> None:
        """Record the status; end the span at once if the response is an event stream.

        Such a stream may last for hours.
        """
        if not self._open:
            return
        self.span.set_attribute("http.response.status_code", message["status"])
        if message["status"] >= SERVER_ERROR:
            self.span.set_attribute("error.type", str(message["status"]))
            self.span.set_status(Status(StatusCode.ERROR))
        headers = message.get("headers", ())
        if any(value.startswith(b"text/event-stream") for _, value in headers):
            self.end()

    def end(self) -> None:
        """End the span; further calls have no effect."""
        if self._open:
            self._open = False
            self.span.end()


def _route(path: str) -> str:
    """Return the route pattern of a path; "" if there is none."""
    try:
        return f"/{resolve(path).route}"
    except Resolver404:
        return ""
