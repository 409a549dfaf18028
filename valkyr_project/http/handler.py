"""Run Django behind ASGI with each request in one thread of a pool.

Django runs the middleware of an ASGI application as coroutines. Nearly all middleware is written
for threads, and each such middleware switches to a thread and back, twice per request. Django
creates that thread for every request. Here a pool's thread runs the whole request, from its first
signal to its last, as under WSGI. Only streamed responses are read and closed outside that thread.
"""

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from http import HTTPStatus
from typing import IO, Any

from asgiref.sync import sync_to_async
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.signals import request_started
from django.db import close_old_connections
from django.http import FileResponse
from django.http.response import HttpResponse, HttpResponseBase
from django.urls import set_script_prefix

from executions.database.stepping_aside import leave
from executions.vendor_seams.django_requests import set_handler
from valkyr_project.http.load_shedding import place_for, shed
from valkyr_project.http.places import Overloaded, RequestPlace


class DisconnectWatch:
    """Detects that the client disconnected; the first call begins the watch.

    `receive` is the ASGI channel of a request whose body has been read.
    """

    def __init__(self, receive: Any) -> None:
        """Prepare without watching. Call this in the event loop."""
        self._loop = asyncio.get_running_loop()
        self._receive = receive
        self._watch: Future[None] | None = None

    def __call__(self) -> bool:
        """Return whether the client has disconnected; the first call returns False."""
        if self._watch is None:
            self._watch = asyncio.run_coroutine_threadsafe(self._until_gone(), self._loop)
        return self._watch.done()

    def forget(self) -> None:
        """Stop watching, because the response was sent."""
        if self._watch is not None:
            self._watch.cancel()

    async def _until_gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass


# Maximum number of requests that are handled at once; further requests are queued. Most of them
# wait for a database connection or for the end of an execution.
THREADS = 128


# Maximum bytes of a file, such as a static file of a page, that is sent as a whole. Streaming a
# file takes two more thread switches, and a first visit loads about 40 files.
SMALL_FILE = 512 * 1024


def _is_small_file(answer: Any) -> bool:
    return (
        isinstance(answer, FileResponse)
        and answer.status_code == HTTPStatus.OK
        and "Content-Type" in answer
        and int(answer.get("Content-Length") or SMALL_FILE + 1) <= SMALL_FILE
    )


class Handler(ASGIHandler):
    """Django's handler with a chain of synchronous middleware, called in a pool of threads."""

    def __init__(self) -> None:
        """Prepare the pool without starting a thread."""
        super().__init__()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="request")

    def load_middleware(self, is_async: bool = False) -> None:
        """Load the chain of synchronous middleware, regardless of `is_async`."""
        super().load_middleware(is_async=False)

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request; respond with 503 if no slot becomes free in time."""
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        try:
            try:
                place = await place_for(scope)
            except Overloaded:
                await shed(send)
                return
            answer = await self._answered(scope, receive, body, place)
            if answer.streaming:
                await self._stream(answer, receive, send)
            else:
                await self.send_response(answer, send)
        finally:
            body.close()

    async def _answered(
        self, scope: Any, receive: Any, body: IO[bytes], place: RequestPlace | None
    ) -> Any:
        """Return the response, created in a thread that can notice a disconnected client.

        Before the thread waits, it can return its slot with the callback `leave`.
        """
        departure = scope["valkyr.gone"] = DisconnectWatch(receive)
        give_back = None
        if place is not None:
            loop = asyncio.get_running_loop()
            give_back = partial(loop.call_soon_threadsafe, place.give_back)
        token = leave.set(give_back)
        try:
            return await sync_to_async(
                self._answer, thread_sensitive=False, executor=self._threads
            )(scope, body)
        finally:
            departure.forget()
            leave.reset(token)
            if place is not None:
                place.give_back()

    async def get_response_async(self, request: Any) -> Any:
        """Return the response to a WebSocket's subscription, created in that socket's thread."""
        return await sync_to_async(self.get_response, thread_sensitive=True)(request)

    def _answer(self, scope: Any, body: IO[bytes]) -> Any:
        """Create and return the response, and release the thread's database connection."""
        set_script_prefix(get_script_prefix(scope))
        request_started.send(sender=type(self), scope=scope)
        request, refusal = self.create_request(scope, body)
        answer: Any = refusal if request is None else self.get_response(request)
        set_handler(answer, type(self))
        if _is_small_file(answer):
            content = b"".join(answer)
            answer.close()
            return HttpResponse(content, headers=answer.headers)
        if not answer.streaming:
            answer.close()
            return answer
        if isinstance(answer, FileResponse):
            answer.block_size = self.chunk_size
        close_old_connections()
        return answer

    async def _stream(self, answer: HttpResponseBase, receive: Any, send: Any) -> None:
        """Send the response until its end, or until the client disconnects."""
        gone = asyncio.create_task(self.listen_for_disconnect(receive))
        sending = asyncio.create_task(self.send_response(answer, send))
        try:
            await asyncio.wait((gone, sending), return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            sending.cancel()
            _, failure = await asyncio.gather(gone, sending, return_exceptions=True)
            await sync_to_async(answer.close)()
        if isinstance(failure, Exception):
            raise failure
