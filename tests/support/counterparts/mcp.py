"""An MCP server of the official SDK, on its own port, which counts its calls."""

import threading
from collections import Counter
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.support.waiting import wait_until


class ShopServer:
    """Offers tools of a shop; `stateless` servers keep no session, `json` servers send no
    streams.
    """

    def __init__(self, *, stateless: bool = False, json: bool = False, token: str = "") -> None:
        self.calls: Counter[str] = Counter()
        self.keys: list[str] = []
        self.statuses: list[int] = []  # given to the next requests instead of an answer
        self._token = token
        self._stopping = threading.Event()
        app = self._tools().streamable_http_app(stateless_http=stateless, json_response=json)
        config = uvicorn.Config(
            _Door(app, self),
            host="127.0.0.1",
            port=0,
            log_level="warning",
            lifespan="on",
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        wait_until(lambda: self._server.started, 10)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/mcp"

    def stop(self) -> None:
        """Stop serving."""
        self._stopping.set()
        self._server.should_exit = True
        self._thread.join(10)

    def refused(self, request: Request) -> Response | None:
        """Return the response to a request that is rejected before the tools; None for any other
        request.
        """
        if self.statuses:
            return PlainTextResponse("no", self.statuses.pop(0))
        if self._token and request.headers.get("authorization") != f"Bearer {self._token}":
            return PlainTextResponse("sign in", 401)
        return None

    def _tools(self) -> MCPServer:
        server = MCPServer("shop")

        @server.tool()
        def find_order(number: str, context: Context) -> dict[str, Any]:
            """Finds an order by its number."""
            self.calls["find_order"] += 1
            meta = context.request_context.meta or {}
            self.keys.append(str(meta.get("valkyr/idempotencyKey")))
            return {"number": number, "total": 12}

        @server.tool()
        def refund(number: str) -> str:
            """Refunds an order."""
            self.calls["refund"] += 1
            raise ToolError(f"order {number} is already refunded")

        @server.tool()
        def slow() -> str:
            """Does not answer before the server stops."""
            self._stopping.wait()
            return "done"

        @server.tool()
        def long() -> str:
            """Answers at length."""
            return "x" * 300_000

        return server


class _Door:
    """Rejects some requests before they reach the tools."""

    def __init__(self, app: ASGIApp, shop: ShopServer) -> None:
        self._app, self._shop = app, shop

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            refused = self._shop.refused(Request(scope))
            if refused is not None:
                await refused(scope, receive, send)
                return
        await self._app(scope, receive, send)
