"""Serve one HTTP request with the official MCP SDK, in the thread of a Django request.

The SDK's streamable HTTP transport is an ASGI application. It runs here without sessions and with
plain JSON responses: one POST, one response. So any web process can answer, including one under
WSGI. The request passes through the project's middleware like every other request of the API. Tools
run in the request's own thread, with its database connection.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from asgiref.sync import async_to_sync
from django.http import HttpRequest, HttpResponse
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

# No limit here, because Django has already read the body, up to its own limit.
ANY_SIZE = 2**31


@dataclass
class _Exchange:
    """One request and its response, as ASGI messages."""

    body: bytes
    status: int = 500
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    parts: list[bytes] = field(default_factory=list)
    read: bool = False

    async def receive(self) -> dict[str, Any]:
        if self.read:
            # The response is not streamed, so nothing needs to know when the client disconnects.
            await asyncio.Event().wait()
        self.read = True
        return {"type": "http.request", "body": self.body, "more_body": False}

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], list(message.get("headers", ()))
        else:
            self.parts.append(message.get("body", b""))


def answer(server: Server[Any], request: HttpRequest) -> HttpResponse:
    """Return the SDK's response to a POST request."""
    exchange = _Exchange(request.body)
    async_to_sync(_serve)(server, _scope(request), exchange)
    content = b"".join(exchange.parts)
    response = HttpResponse(content, status=exchange.status)
    del response.headers["Content-Type"]
    for name, value in exchange.headers:
        if name != b"content-length":
            response.headers[name.decode("latin-1")] = value.decode("latin-1")
    return response


async def _serve(server: Server[Any], scope: dict[str, Any], exchange: _Exchange) -> None:
    manager = StreamableHTTPSessionManager(
        server, json_response=True, stateless=True, max_request_body_size=ANY_SIZE
    )
    async with manager.run():
        await manager.handle_request(scope, exchange.receive, exchange.send)


def _scope(request: HttpRequest) -> dict[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.scheme,
        "path": request.path,
        "raw_path": request.path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [
            (name.lower().encode("latin-1"), value.encode("latin-1"))
            for name, value in request.headers.items()
            # Credentials are omitted, because the request is already authenticated.
            if name.lower() not in {"authorization", "cookie", "content-length"}
        ],
        "client": None,
        "server": None,
    }
