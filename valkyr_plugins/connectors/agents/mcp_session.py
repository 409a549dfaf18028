"""Hold one session with an MCP server, with the official SDK over Valkyr's guarded connections.

The SDK is asynchronous and brings its own HTTP client; steps are synchronous, and only the guarded
transport may open connections. So the guarded transport sends the SDK's requests, in threads that
apply the step's egress rules, credential boundaries and deadline.
"""

import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import UTC, datetime
from functools import lru_cache, partial
from os import getpid
from typing import Any, TypeVar

import anyio
import httpx
import httpx2
from anyio.to_thread import run_sync
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import INTERNAL_ERROR, Implementation

from runners.public.modules import (
    ErrorType,
    StepContext,
    StepError,
    error_type_of,
    parse_retry_after,
    status_error_type,
)
from valkyr_plugins.connectors.agents.mcp_modules import McpCallInputs, McpInputs, McpToolsInputs
from valkyr_plugins.connectors.network.exchange import authorization
from valkyr_plugins.connectors.network.transport import GuardedTransport, request_deadline

MAX_SAID = 500
MAX_TOOLS = 100
MAX_PAGES = 100
TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
KEY = "valkyr/idempotencyKey"
T = TypeVar("T")


def call_tool(inputs: McpCallInputs, ctx: StepContext) -> dict[str, Any]:
    """Call the tool and return `McpCallOutputs` as a mapping. Raises StepError."""

    async def work(client: Client) -> dict[str, Any]:
        meta: Any = {KEY: ctx.idempotency_key}
        answer = await client.call_tool(inputs.tool, inputs.arguments, meta=meta)
        parts = [part.model_dump(mode="json", by_alias=True, exclude_none=True)
                 for part in answer.content]  # fmt: skip
        return {
            "text": "\n".join(part["text"] for part in parts if part.get("type") == "text"),
            "structured": answer.structured_content,
            "content": parts,
            "isError": bool(answer.is_error),
        }

    found = _in_session(inputs, ctx, work, f"tool {inputs.tool!r}")
    if found["isError"] and inputs.on_tool_error == "fail":
        raise StepError(
            f"tool {inputs.tool!r} of {_host(inputs)} reports an error: "
            f"{found['text'][:MAX_SAID] or 'without a text'}",
            details={"content": found["content"][:10]},
            fingerprint=f"mcp:{inputs.tool}"[:200],
        )
    return found


def list_tools(inputs: McpToolsInputs, ctx: StepContext) -> list[dict[str, Any]]:
    """Return all tools, or those in `only`, with the fields of `McpTool`. Raises StepError."""

    async def work(client: Client) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        cursor = None
        for _ in range(MAX_PAGES):
            page = await client.list_tools(cursor=cursor)
            found += [
                {"name": tool.name, "description": tool.description or "",
                 "parameters": tool.input_schema}
                for tool in page.tools
                if not inputs.only or tool.name in inputs.only
            ]  # fmt: skip
            cursor = page.next_cursor
            if cursor is None or len(found) > MAX_TOOLS:
                break
        return found

    tools = _in_session(inputs, ctx, work, "the list of tools")
    _require_usable(tools, inputs)
    return tools


def _require_usable(tools: list[dict[str, Any]], inputs: McpToolsInputs) -> None:
    missing = sorted(set(inputs.only) - {tool["name"] for tool in tools})
    if missing:
        raise StepError(f"{_host(inputs)} has no tool {', '.join(missing)}: correct `only`")
    if len(tools) > MAX_TOOLS:
        raise StepError(
            f"{_host(inputs)} has more than {MAX_TOOLS} tools: name those you need in `only`"
        )
    for tool in tools:
        if TOOL_NAME.fullmatch(tool["name"]) is None:
            raise StepError(
                f"{_host(inputs)} has a tool whose name models cannot use: {tool['name'][:100]!r}. "
                "Name the tools you need in `only`"
            )


def _in_session(
    inputs: McpInputs, ctx: StepContext, work: Callable[[Client], Awaitable[T]], what: str
) -> T:
    remaining = ctx.remaining()
    left = remaining - min(0.2, remaining * 0.05)
    seconds = min(left, inputs.timeout_seconds or ctx.target_timeout or left)
    request_deadline.set(time.monotonic() + seconds)
    bridge = _Bridge(inputs.max_bytes)
    who = f"{what} at {_host(inputs)}"
    try:
        return anyio.run(partial(_session, inputs, ctx, bridge, work, seconds))
    except Exception as error:
        raise _told(error, bridge, who, seconds) from error


async def _session(
    inputs: McpInputs,
    ctx: StepContext,
    bridge: "_Bridge",
    work: Callable[[Client], Awaitable[T]],
    seconds: float,
) -> T:
    headers = {name: str(value) for name, value in inputs.headers.items()}
    # A compressed response could become larger than the limit when it is unpacked.
    headers["accept-encoding"] = "identity"
    if ctx.credential is not None:
        if any(name.lower() == "authorization" for name in headers):
            raise StepError("headers and the credential both set Authorization: remove one")
        headers["authorization"] = authorization(ctx.credential)
    with anyio.fail_after(seconds):
        async with httpx2.AsyncClient(transport=bridge, headers=headers, trust_env=False) as http:
            transport = streamable_http_client(
                inputs.url, http_client=http, max_sse_event_size=inputs.max_bytes
            )
            async with Client(
                transport, client_info=Implementation(name="valkyr", version="1"), cache=None
            ) as client:
                return await work(client)


def _told(error: BaseException, bridge: "_Bridge", who: str, seconds: float) -> StepError:
    """Return the StepError for a session's failure, based on the most specific known cause."""
    causes = list(_causes(error))
    ours = (one for one in [bridge.failure, *causes] if isinstance(one, StepError))
    if (known := next(ours, None)) is not None:
        return known
    late = any(isinstance(cause, TimeoutError) for cause in causes)
    if late or time.monotonic() >= request_deadline.get():
        return StepError(
            f"{who}: no result after {seconds:.3g} s. Raise timeoutSeconds (and the step's)",
            ErrorType.TIMEOUT,
        )
    if bridge.failure is not None:
        text = f"{who}: {type(bridge.failure).__name__}: {bridge.failure}"[:MAX_SAID]
        return StepError(text.rstrip(": "), error_type_of(bridge.failure))
    return _by_status(bridge, who) or _by_protocol(causes, bridge, who)


def _by_status(bridge: "_Bridge", who: str) -> StepError | None:
    """Return the StepError if the HTTP status explains the failure; otherwise None."""
    if bridge.status in (401, 403):
        return StepError(
            f"{who}: the server rejected the sign-in ({bridge.status}). Check the step's credential"
        )
    if bridge.status >= 500 or bridge.status in (408, 425, 429):
        return StepError(
            f"{who}: the server answered {bridge.status}",
            status_error_type(bridge.status),
            retry_after=parse_retry_after(bridge.retry_after, datetime.now(UTC)),
        )
    return None


def _by_protocol(causes: list[BaseException], bridge: "_Bridge", who: str) -> StepError:
    refused = next((cause for cause in causes if isinstance(cause, MCPError)), None)
    if refused is None:
        last = causes[-1]
        return StepError(f"{who}: {type(last).__name__}: {last}"[:MAX_SAID].rstrip(": "))
    kind = ErrorType.TRANSIENT if refused.code == INTERNAL_ERROR else ErrorType.PERMANENT
    status = f" (status {bridge.status})" if bridge.status else ""
    said = " ".join(refused.message.split())[:MAX_SAID]
    return StepError(f"{who}: the server rejected the call: {said}{status}", kind)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes; for an exception group, its members and their causes."""
    found: BaseException | None = error
    while found is not None:
        if isinstance(found, BaseExceptionGroup):
            for one in found.exceptions:
                yield from _causes(one)
        else:
            yield found
        found = found.__cause__


def _host(inputs: McpInputs) -> str:
    parsed = httpx.URL(inputs.url)
    return parsed.host if parsed.port is None else f"{parsed.host}:{parsed.port}"


@lru_cache(maxsize=1)
def _guarded(pid: int) -> GuardedTransport:
    # One client per process, because a process must not use connections that its parent opened.
    return GuardedTransport()


class _Bridge(httpx2.AsyncBaseTransport):
    """The SDK's transport. It uses the guarded transport, and keeps the last failure."""

    def __init__(self, limit: int) -> None:
        self.failure: BaseException | None = None
        self.status = 0  # status of the last response if it was an error, otherwise 0
        self.retry_after: str | None = None
        self._limit = limit

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request in a thread; answer a GET with 405, because no stream is needed."""
        if request.method == "GET":
            # With a GET, the client asks for a stream of messages that the server begins. A single
            # call does not need this stream, and a thread that waits for it would outlive the call.
            return httpx2.Response(405, request=request)
        sent = httpx.Request(
            request.method,
            str(request.url),
            headers=request.headers.raw,
            content=await request.aread(),
        )
        try:
            answer = await run_sync(_guarded(getpid()).handle_request, sent, abandon_on_cancel=True)
        except Exception as error:
            self.failure = error
            raise
        self.status = answer.status_code if answer.status_code >= 400 else 0
        self.retry_after = answer.headers.get("retry-after")
        if answer.headers.get("content-encoding", "identity").strip().lower() != "identity":
            answer.close()
            self.failure = StepError(
                f"{request.url.host} answered in an encoding that was not requested"
            )
            raise self.failure
        return httpx2.Response(
            answer.status_code,
            headers=answer.headers.raw,
            stream=_Body(answer, self, request.url.host),
            request=request,
        )

    def limit_exceeded(self, host: str) -> StepError:
        """Record and return the StepError for a response that is too long."""
        self.failure = StepError(
            f"{host} responded with more than {self._limit:,} bytes: request less, or raise "
            "maxBytes"
        )
        return self.failure

    @property
    def limit(self) -> int:
        """Return the maximum number of bytes of a response."""
        return self._limit


class _Body(httpx2.AsyncByteStream):
    """A response's body, read in threads, up to the limit."""

    def __init__(self, answer: httpx.Response, bridge: _Bridge, host: str) -> None:
        self._answer = answer
        self._bridge = bridge
        self._host = host

    async def __aiter__(self) -> AsyncIterator[bytes]:
        assert isinstance(self._answer.stream, httpx.SyncByteStream)
        pieces, total = iter(self._answer.stream), 0
        while True:
            try:
                piece = await run_sync(next, pieces, None, abandon_on_cancel=True)
            except Exception as error:
                self._bridge.failure = error
                raise
            if piece is None:
                return
            total += len(piece)
            if total > self._bridge.limit:
                raise self._bridge.limit_exceeded(self._host)
            yield piece

    async def aclose(self) -> None:
        """Return the connection to the pool, or close it if the body was not read to its end."""
        self._answer.close()
