"""Every request has an id and a trace; both are on its log lines and in its answer's headers.

Stands before everything else of the ASGI application, so that the server's access line, which is
written while an answer leaves, has them too.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from executions.observability import log_context
from executions.observability.trace_context import incoming, read

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[..., Awaitable[None]]


class RequestIds:
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
