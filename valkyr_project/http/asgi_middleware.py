"""ASGI middleware: reject oversized bodies, remove declared charsets, and assign request IDs.

Django would write a body of any size to disk before a view could reject it. It would also decode
the query with any codec that the caller names.
"""

import json
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from executions.addresses import explanation
from executions.observability import log_context
from executions.observability.trace_context import incoming, read

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[..., Awaitable[None]]

# Maximum bytes of a rejected body that are read and discarded, so that its sender can read the
# response.
PATIENCE = 64 * 1024 * 1024
_CHARSET = re.compile(rb";\s*charset=[^;]*", re.IGNORECASE)


class Gate:
    """An ASGI middleware that limits bodies to `limit` bytes and removes declared charsets."""

    def __init__(self, app: App, limit: int) -> None:
        """Wrap the ASGI application `app`."""
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass the request on, or respond with 413 if its body is too large."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope["headers"] = [(name, _plain(name, value)) for name, value in scope["headers"]]
        body = _Body(receive, self._limit)
        if _declared(scope) > self._limit:
            await body.throw_away()
        else:
            await self._app(scope, body.receive, body.unless_too_large(send))
        if body.too_large:
            detail = f"The body is too large; at most {self._limit:,} bytes are accepted."
            end = (b"connection", b"close")
            await refuse(send, 413, "Content Too Large", "body_too_large", detail, end)


class _Body:
    """A body whose bytes are counted; beyond the limit, the application sees a disconnect."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._limit = limit
        self._seen = 0
        self.too_large = False

    async def receive(self) -> Message:
        message = await self._receive()
        self._seen += len(message.get("body", b""))
        if self._seen > self._limit and message["type"] == "http.request":
            await self.throw_away(more=message.get("more_body", False))
            return {"type": "http.disconnect"}
        return message

    async def throw_away(self, *, more: bool = True) -> None:
        self.too_large = True
        while more and self._seen < PATIENCE:
            message = await self._receive()
            self._seen += len(message.get("body", b""))
            more = message["type"] == "http.request" and message.get("more_body", False)

    def unless_too_large(self, send: Send) -> Send:
        async def guarded(message: Message) -> None:
            if not self.too_large:
                await send(message)

        return guarded


def _plain(name: bytes, value: bytes) -> bytes:
    return _CHARSET.sub(b"", value) if name == b"content-type" else value


def _declared(scope: Message) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0


async def refuse(
    send: Send, status: int, title: str, code: str, detail: str, *more: tuple[bytes, bytes]
) -> None:
    """Respond with a problem document (RFC 9457) and additional headers."""
    body = json.dumps(
        {
            "type": explanation(code),
            "title": title,
            "status": status,
            "detail": detail,
            "code": code,
        }
    ).encode()
    headers = [
        (b"content-type", b"application/problem+json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        *more,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


# Every request has an ID and a trace, which are in its log lines and in the headers of its
# response.
#
# The middleware wraps the whole ASGI application, so that they are also in the server's access
# line, which is written while a response is sent.


class RequestIds:
    """An ASGI middleware that assigns an ID to each request."""

    def __init__(self, app: App) -> None:
        """Wrap the ASGI application `app`."""
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Handle a request; add its request ID and trace ID to log lines and response headers."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        given = read(scope["headers"])
        headers = [
            (b"x-request-id", given.request_id.encode()),
            (b"x-trace-id", given.trace_id.encode()),
        ]

        async def marked(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.accept"):
                message["headers"] = [*message.get("headers", ()), *headers]
            await send(message)

        token = incoming.set(given)
        try:
            with log_context.bound(request_id=given.request_id, trace_id=given.trace_id):
                await self._app(scope, receive, marked)
        finally:
            incoming.reset(token)
