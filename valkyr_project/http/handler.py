"""Django behind ASGI: a request is answered in one thread, with one hop there and back.

Django runs the middleware of an ASGI application as coroutines, and each of them that is written
for threads (nearly all) hops to a thread and back, twice a request; and it makes that thread anew
for every request. Here the whole of a request, from the signal that it has begun to the one that it
is over, is done in a thread of a pool, as it would be under WSGI. Only an answer that streams is
sent from a coroutine, in Django's way.
"""

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import IO, Any

from asgiref.sync import sync_to_async
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.signals import request_started
from django.db import close_old_connections
from django.http import FileResponse
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix

from executions.database.stepping_aside import leave
from executions.vendor_seams.django_requests import set_handler
from valkyr_project.http.load_shedding import place_for, shed
from valkyr_project.http.places import Overloaded, RequestPlace


class DisconnectWatch:
    """Asked from the request's thread; until it is, nothing is watched.

    `receive` is the request's ASGI channel, of which the body has been read.
    """

    def __init__(self, receive: Any) -> None:
        """Watch nothing yet; made in the event loop."""
        self._loop = asyncio.get_running_loop()
        self._receive = receive
        self._watch: Future[None] | None = None

    def __call__(self) -> bool:
        """Whether the client is gone; the first question is answered with no."""
        if self._watch is None:
            self._watch = asyncio.run_coroutine_threadsafe(self._until_gone(), self._loop)
        return self._watch.done()

    def forget(self) -> None:
        """Watch no longer: the request is answered."""
        if self._watch is not None:
            self._watch.cancel()

    async def _until_gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass


# Answered at once, at most; more wait their turn. Most of these wait for a connection or an end.
THREADS = 128


class Handler(ASGIHandler):
    """Django's handler with a chain of plain functions, called in a thread of its own pool."""

    def __init__(self) -> None:
        """Start no thread yet."""
        super().__init__()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="request")

    def load_middleware(self, is_async: bool = False) -> None:
        """The chain, whatever the caller asks for: of plain functions."""
        super().load_middleware(is_async=False)

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
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
        """The answer, made in a thread that may ask whether anybody waits for it.

        A thread that waits gives the place back before its answer is made.
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
        """The answer to who subscribes by a socket, made in that socket's thread."""
        return await sync_to_async(self.get_response, thread_sensitive=True)(request)

    def _answer(self, scope: Any, body: IO[bytes]) -> Any:
        """The answer; the thread has given its connection back."""
        set_script_prefix(get_script_prefix(scope))
        request_started.send(sender=type(self), scope=scope)
        request, refusal = self.create_request(scope, body)
        answer: Any = refusal if request is None else self.get_response(request)
        set_handler(answer, type(self))
        if not answer.streaming:
            answer.close()
            return answer
        if isinstance(answer, FileResponse):
            answer.block_size = self.chunk_size
        close_old_connections()
        return answer

    async def _stream(self, answer: HttpResponseBase, receive: Any, send: Any) -> None:
        """Send until all is sent or the client is gone."""
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
