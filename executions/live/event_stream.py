"""The response to a subscriber: frames during one connection of at most five minutes.

Then the client reconnects, and its sign-in and permissions are checked again.
"""

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing, contextmanager
from enum import Enum
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse

from executions.configuration import settings as valkyr_settings
from executions.database import alias, connection
from executions.database.routing import serving
from executions.live.feed import Feed
from executions.live.hub import hub, opening, welcome
from executions.live.viewer import KEEP_ALIVE, RETRY, Frame, StreamEnded, Viewer

# The number of simultaneous viewers is limited per process, and per user within it.


class Full(Enum):
    """The connection limit that is reached: the user's or the process's."""

    PROCESS = "process"
    PERSON = "person"


class StreamSlots:
    """The connection slots of one process, used from threads and from the event loop."""

    def __init__(self) -> None:
        """Begin with all slots free."""
        self._taken: Counter[int] = Counter()
        self._lock = threading.Lock()

    def full(self, user_id: Any) -> Full | None:
        """Return the reason why the user gets no slot now; None if a slot is free."""
        with self._lock:
            return self._full(user_id)

    def taken(self) -> int:
        """Return the number of slots in use."""
        with self._lock:
            return self._taken.total()

    @contextmanager
    def held(self, user_id: Any) -> Iterator[bool]:
        """Hold a slot in the block, if one is free; yield whether a slot is held."""
        with self._lock:
            free = self._full(user_id) is None
            self._taken[user_id] += free
        try:
            yield free
        finally:
            with self._lock:
                self._taken[user_id] -= free
                self._taken += Counter()  # removes users without slots

    def _full(self, user_id: Any) -> Full | None:
        if self._taken.total() >= valkyr_settings().live_viewers:
            return Full.PROCESS
        return Full.PERSON if self._taken[user_id] >= valkyr_settings().live_viewers_each else None


PLACES = StreamSlots()


EVENTS = "text/event-stream"
LIFE, QUIET = 300.0, 15.0
# Seconds after which a viewer that was dropped as too slow is disconnected, if it does not even
# read the end of the stream.
PATIENCE = 30.0


class LiveAnswer(StreamingHttpResponse):
    """Server-sent events; a WebSocket sends the same `frames`.

    A frame of None means that nothing changed before the timeout.
    """

    def __init__(self, request: HttpRequest, user_id: Any, feed: Feed, pk: UUID, last: str) -> None:
        """Store the viewer's data; no work is done before the first read."""
        self._user_id, self._feed, self._pk, self._last = user_id, feed, pk, last
        self._alias = alias()  # a WebSocket reads the frames after the request's context ended
        # Under a synchronous server, the response contains one frame, and the client reconnects for
        # the next.
        streams = isinstance(request, ASGIRequest)
        headers = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}
        super().__init__(
            self._events() if streams else self._once(), content_type=EVENTS, headers=headers
        )

    async def frames(self) -> AsyncGenerator[Frame | None, None]:
        """Yield frames, or None after a quiet period, until the connection should end."""
        # The middleware has finished, so return the request's connection before waiting.
        # `connection` is a proxy for a different connection in each thread; close it in the thread
        # that used it.
        with serving(self._alias):
            await sync_to_async(lambda: connection.close())()  # noqa: PLW0108
        viewer = Viewer(self._feed, self._pk, self._last)
        with PLACES.held(self._user_id) as free:
            if not free:
                return
            loop = asyncio.get_running_loop()
            until = loop.time() + LIFE
            viewer.when_dropped(_cut_off(loop))
            with serving(self._alias):
                (own := hub()).join(viewer)
            try:
                while (left := until - loop.time()) > 0:
                    yield await viewer.next(min(QUIET, left))
            except StreamEnded:
                return
            finally:
                own.leave(viewer)

    async def _events(self) -> AsyncIterator[bytes]:
        yield RETRY
        async with aclosing(self.frames()) as frames:
            async for frame in frames:
                yield KEEP_ALIVE if frame is None else frame.event_stream()

    def _once(self) -> Iterator[bytes]:
        yield RETRY
        at, event, news = opening(self._feed, self._pk, self._last)
        for frame in [] if news is None else welcome(self._feed, at, event, news):
            yield frame.event_stream()


def _cut_off(loop: asyncio.AbstractEventLoop) -> Callable[[], None]:
    task = asyncio.current_task()
    assert task is not None

    def later() -> None:
        timer = loop.call_later(PATIENCE, task.cancel)
        task.add_done_callback(lambda _: timer.cancel())

    return later
