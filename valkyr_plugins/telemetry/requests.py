"""The spans of requests, made by an ASGI middleware of the platform."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from valkyr_plugins.telemetry import switch

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[..., Awaitable[None]]

# Probes and scrapers that call every few seconds, and static files. Their spans would be useless.
UNTRACED = ("/actuator/", "/metrics", "/static/")


def traced(app: App) -> App:
    """Add a span to each HTTP request, except UNTRACED paths; if spans are off, return `app`."""
    if not switch.on():
        return app
    from valkyr_plugins.telemetry import spans
    from valkyr_plugins.telemetry.request_span import RequestSpan

    async def seen(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(UNTRACED):
            await app(scope, receive, send)
            return
        span = RequestSpan(scope)

        async def noticed(message: Message) -> None:
            if message["type"] == "http.response.start":
                span.answered(message)
            await send(message)

        with spans.current(span.span):
            try:
                await app(scope, receive, noticed)
            finally:
                span.end()

    return seen
