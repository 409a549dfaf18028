"""The WebSocket at `/v1/vaiworkflow/subscribe/{workflowId}`; other addresses have no WebSocket.

Django and its middleware handle the handshake as a GET request of the same address. Sign-in,
permissions, limits and errors are therefore the same as in the API. The frames are the same as in
the server-sent events.
"""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import aclosing
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.core import signals
from django.core.handlers.asgi import ASGIHandler, ASGIRequest, get_script_prefix
from django.http import HttpResponse, HttpResponseBase
from django.urls import Resolver404, resolve, set_script_prefix

from executions.live.event_stream import LiveAnswer
from executions.vendor_seams.django_requests import origin_verified
from runners.api.subscribing import SubscribeWorkflow

Message = MutableMapping[str, Any]
App = Callable[..., Awaitable[None]]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

# A browser learns the reason only from a close code, which can be sent only after the connection is
# accepted.
REFUSED = 4000
RECONNECT, TOO_MANY, TOO_BIG = 1001, 1008, 1009
# Limits for a client's messages. Clients need not send any, but some send short messages as a
# keep-alive.
MOST_MESSAGES, LONGEST_MESSAGE = 1_000, 1_024
BEARER = "bearer"


class Sockets:
    """An ASGI middleware that serves WebSockets and passes all other requests on."""

    def __init__(self, app: App, handler: ASGIHandler) -> None:
        """Wrap the ASGI application `app`; `handler` answers the requests of WebSockets."""
        self._app, self._handler = app, handler

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve a WebSocket, or pass another request on."""
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        await receive()
        if not _has_socket(scope):
            await _no_such_socket(send)
            return
        async with ThreadSensitiveContext():
            await self._serve(scope, receive, send)

    async def _serve(self, scope: Message, receive: Receive, send: Send) -> None:
        answer = await self._ask(_as_get(scope))
        spoken = BEARER if BEARER in scope.get("subprotocols", ()) else None
        await send({"type": "websocket.accept", "subprotocol": spoken})
        try:
            closing = await _converse(answer, receive, send)
        finally:
            await sync_to_async(answer.close)()
        if closing is not None:
            await send({"type": "websocket.close", "code": closing.code, "reason": closing.reason})

    async def _ask(self, scope: Message) -> HttpResponseBase:
        set_script_prefix(get_script_prefix(scope))
        await signals.request_started.asend(sender=type(self._handler), scope=scope)
        request, refusal = self._handler.create_request(scope, BytesIO())
        if request is None:
            return refusal or HttpResponse(status=400)
        if not await sync_to_async(_settle_cookies)(request):
            return HttpResponse(
                status=403, reason=("Cookies are accepted only from pages of this host.")
            )
        return await self._handler.run_get_response(request)


@dataclass(frozen=True, slots=True)
class Closing:
    """How a WebSocket connection is closed: the code and the reason."""

    code: int
    reason: str = ""


async def _converse(answer: HttpResponseBase, receive: Receive, send: Send) -> Closing | None:
    """Send frames until the stream ends; return how to close, or None after a disconnect."""
    if not isinstance(answer, LiveAnswer):
        return Closing(REFUSED + answer.status_code, answer.reason_phrase)
    tasks = [asyncio.create_task(_tell(answer, send)), asyncio.create_task(_listen(receive))]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    ended = done.pop()
    # It is cancelled if the client does not even read that it was too slow.
    return None if ended.cancelled() else ended.result()


async def _tell(answer: LiveAnswer, send: Send) -> Closing:
    async with aclosing(answer.frames()) as frames:
        async for frame in frames:
            if frame is not None:
                await send({"type": "websocket.send", "text": frame.message()})
    return Closing(RECONNECT, "Reconnect with ?last= and the last id.")


async def _listen(receive: Receive) -> Closing | None:
    for _ in range(MOST_MESSAGES):
        message = await receive()
        if message["type"] == "websocket.disconnect":
            return None
        content = message.get("text") or message.get("bytes") or ""
        if len(content) > LONGEST_MESSAGE:
            return Closing(TOO_BIG, "Message too large; clients need to send nothing.")
    return Closing(TOO_MANY, "Too many messages; clients need to send nothing.")


def _has_socket(scope: Message) -> bool:
    # Django resolves the path after the script name, which an ASGI scope's path may or may not
    # contain.
    script_name = get_script_prefix(scope).rstrip("/")
    try:
        view = resolve(scope["path"].removeprefix(script_name)).func
    except Resolver404:
        return False
    return issubclass(getattr(view, "cls", object), SubscribeWorkflow)


def _as_get(scope: Message) -> Message:
    """Return the handshake as a GET request; its second subprotocol can be the client's token."""
    headers = list(scope["headers"])
    names = {name for name, _ in headers}
    match scope.get("subprotocols", ()):
        case [first, token, *_] if first == BEARER and b"authorization" not in names:
            headers.append((b"authorization", f"Bearer {token}".encode("latin-1")))
    # Drop Accept: browsers cannot set it, and a socket has only one kind of response.
    kept = [(name, value) for name, value in headers if name != b"accept"]
    scheme = "https" if scope.get("scheme") == "wss" else "http"
    return {**scope, "type": "http", "method": "GET", "scheme": scheme, "headers": kept}


def _settle_cookies(request: ASGIRequest) -> bool:
    """Remove foreign cookies; return False if they were the request's only credentials.

    A browser sends cookies with the sockets of any page. The cookies are valid only with an
    `Origin` of this host or of VALKYR_TRUSTED_ORIGINS, as for forms.
    """
    if "HTTP_ORIGIN" in request.META and origin_verified(request):
        return True
    had = request.META.pop("HTTP_COOKIE", None) is not None
    return not had or "HTTP_AUTHORIZATION" in request.META


async def _no_such_socket(send: Send) -> None:
    await send({"type": "websocket.http.response.start", "status": 404, "headers": []})
    await send({"type": "websocket.http.response.body", "body": b""})
