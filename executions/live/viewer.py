"""One viewer's connection, and its bounded queue of frames."""

import asyncio
import json
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from executions.live.feed import Feed, Mark, rfc3339

# A message to a viewer, and its text on the two kinds of connection.


SNAPSHOT, STATE, END = "snapshot", "state", "end"
# Tells the client how many milliseconds to wait before it reconnects.
RETRY = b"retry: 1000\n\n"
KEEP_ALIVE = b": keep-alive\n\n"


@dataclass(frozen=True, slots=True)
class Frame:
    """One message to a viewer: `id` is the cursor for a reconnect; `data` is a line of JSON."""

    event: str
    id: str
    data: str

    def event_stream(self) -> bytes:
        """Return the frame as a server-sent event."""
        return f"id: {self.id}\nevent: {self.event}\ndata: {self.data}\n\n".encode()

    def message(self) -> str:
        """Return the frame as a WebSocket text message."""
        event, cursor = json.dumps(self.event), json.dumps(self.id)
        return f'{{"event":{event},"id":{cursor},"data":{self.data}}}'


def frame(event: str, mark: Mark, data: dict[str, Any]) -> Frame:
    """Return a frame with data that was read at a position."""
    line = json.dumps({"now": rfc3339(mark.now), **data}, separators=(",", ":"))
    return Frame(event, str(mark.cursor), line)


MOST_FRAMES = 256
MOST_CHARACTERS = 8_000_000


class StreamEnded(Exception):
    """The stream ended, or the viewer was too slow and should reconnect."""


class Viewer:
    """A viewer of `pk` in a feed; `last` is the cursor of a viewer that reconnects.

    A viewer belongs to one event loop; only `next` waits.
    """

    def __init__(self, feed: Feed, pk: UUID, last: str | None = None) -> None:
        """Begin with an empty queue, to which the hub adds frames."""
        self.feed, self.pk, self.last = feed, pk, last
        self._waiting: deque[Frame] = deque()
        self._characters = 0
        self.open = True
        self._news = asyncio.Event()
        self._dropped: Callable[[], None] | None = None

    def when_dropped(self, call: Callable[[], None]) -> None:
        """Set the function to call if the viewer is dropped because it is too slow."""
        self._dropped = call

    @property
    def topic(self) -> tuple[Feed, UUID]:
        """Return the feed and the ID of the object that the viewer watches."""
        return self.feed, self.pk

    def offer(self, frames: Sequence[Frame]) -> bool:
        """Add frames; close the viewer and return False if it reads too slowly."""
        for frame in frames:
            full = len(self._waiting) >= MOST_FRAMES or self._characters > MOST_CHARACTERS
            if full:
                self._drop()
                return False
            self._waiting.append(frame)
            self._characters += len(frame.data)
            self._news.set()
        return True

    def close(self) -> None:
        """End the stream: `next` returns the frames in the queue, then raises StreamEnded."""
        self.open = False
        self._news.set()

    async def next(self, seconds: float) -> Frame | None:
        """Return the next frame; None after a timeout. Raises StreamEnded."""
        if not self._waiting and self.open:
            self._news.clear()
            # Not `wait_for`, which loses a cancellation that arrives together with the news before
            # Python 3.12.
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._news.wait()
        if not self._waiting:
            if self.open:
                return None
            raise StreamEnded
        frame = self._waiting.popleft()
        self._characters -= len(frame.data)
        return frame

    def _drop(self) -> None:
        # When the viewer reconnects, it gets the newest states instead of the frames that it has
        # not read.
        self._waiting.clear()
        self._characters = 0
        self.close()
        if self._dropped is not None:
            self._dropped()
