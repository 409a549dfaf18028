"""The hub reads a database for all viewers of one event loop at once, if there are any.

Each read notes the position, reads the watched objects' rows that were written since the previous
position, and distributes them. A new viewer's first rows are read between two of these reads, so
that the next read finds all later changes. Between reads, the hub holds no connection.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TypeVar
from uuid import UUID
from weakref import WeakKeyDictionary

from asgiref.sync import sync_to_async
from django.db import InterfaceError, OperationalError

from executions.database import alias, connection
from executions.live import viewer as frames
from executions.live.feed import Feed, Mark, News, Row, mark, read_cursor
from executions.live.viewer import Frame, Viewer, frame

# The pauses of the hub between two reads, in seconds, which keep its load small.


SHORTEST, LONGEST = 0.2, 2.0
# Maximum share of the time that is spent reading.
SHARE = 0.1
# Number of reads of which the fastest counts, because a read that waited for a processor is not
# representative.
LOOKS = 3


class LookPacing:
    """The pause between reads, based on the durations of earlier reads."""

    def __init__(self) -> None:
        """Start without measured durations."""
        self._took: deque[float] = deque(maxlen=LOOKS)

    def rest_after(self, seconds: float) -> float:
        """Return the pause after a read that took `seconds`."""
        self._took.append(seconds)
        return min(max(SHORTEST, min(self._took) / SHARE), LONGEST)


# Fingerprints of the rows that were sent about a watched object, so that unchanged rows are not
# sent again.
#
# Rows are also written for reasons that viewers do not see, such as a renewed lease. The number of
# fingerprints is limited, because forgetting one only causes a superfluous frame and never loses a
# change.


MOST = 10_000


class RowFingerprints:
    """Fingerprints of rows, keyed by ID; the oldest fingerprints are dropped first."""

    def __init__(self) -> None:
        """Start with no fingerprints."""
        self._told: dict[str, int] = {}

    def unknown(self, rows: list[Row]) -> list[Row]:
        """Return the rows that differ from those sent before, and record them as sent."""
        return [row for row in rows if self._learns(row)]

    def _learns(self, row: Row) -> bool:
        fingerprint = hash(tuple(row.values()))
        if self._told.get(row["id"]) == fingerprint:
            return False
        self._told.pop(row["id"], None)
        self._told[row["id"]] = fingerprint
        if len(self._told) > MOST:
            del self._told[next(iter(self._told))]
        return True


log = logging.getLogger(__name__)
T = TypeVar("T")
Topic = tuple[Feed, UUID]


class Watched:
    """One watched object, its viewers, and the fingerprints of the rows sent to them."""

    def __init__(self) -> None:
        """Start without viewers."""
        self.viewers: set[Viewer] = set()
        self.memory = RowFingerprints()


class Hub:
    """Reads for the viewers of one event loop and database, and sends them the changes."""

    def __init__(self) -> None:
        """Start without a read: the first viewer that joins starts the reading."""
        self._watched: dict[Topic, Watched] = {}
        self._joining: list[Viewer] = []
        self._joined = asyncio.Event()
        self._since: int | None = None
        self._pace = LookPacing()
        self._task: asyncio.Task[None] | None = None

    def join(self, viewer: Viewer) -> None:
        """Start sending to a viewer: the rows that it has not received, then all changes."""
        self._joining.append(viewer)
        self._joined.set()
        if self._task is None:
            self._task = asyncio.create_task(self._run())

    @property
    def reading(self) -> bool:
        """Return whether the hub reads the database periodically."""
        return self._task is not None

    def leave(self, viewer: Viewer) -> None:
        """Stop sending to a viewer."""
        viewer.close()
        with suppress(ValueError):
            self._joining.remove(viewer)
        watched = self._watched.get(viewer.topic)
        if watched is not None:
            watched.viewers.discard(viewer)
            if not watched.viewers:
                del self._watched[viewer.topic]
        self._joined.set()

    async def _run(self) -> None:
        try:
            while self._watched or self._joining:
                await self._rest(await self._turn())
        except Exception:
            log.exception("the hub of live states failed; its viewers reconnect automatically")
            self._drop_all()
        finally:
            self._task, self._since = None, None

    async def _turn(self) -> float:
        """Read once, and return the pause before the next read."""
        try:
            began = time.monotonic()
            await self._look()
            rest = self._pace.rest_after(time.monotonic() - began)
            await self._welcome()
        except (OperationalError, InterfaceError) as error:
            # The cursor is not advanced, so nothing is lost.
            log.warning("the database did not answer the hub of live states: %s", error)
            return LONGEST
        return rest

    async def _rest(self, seconds: float) -> None:
        """Wait for the next read, or until no viewer is left; send new viewers their first rows."""
        until = time.monotonic() + seconds
        while (self._watched or self._joining) and (left := until - time.monotonic()) > 0:
            self._joined.clear()
            if self._joining and self._since is not None:
                with suppress(OperationalError, InterfaceError):
                    await self._welcome()
                continue
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._joined.wait()

    async def _look(self) -> None:
        ids: dict[Feed, list[UUID]] = {}
        for feed, pk in self._watched:
            ids.setdefault(feed, []).append(pk)
        since = self._since
        found = await _in_thread(lambda: _changes(ids, since))
        self._since = found[0].cursor
        for topic, news in found[1].items():
            await self._tell(topic, news, found[0])

    async def _tell(self, topic: Topic, news: News, at: Mark) -> None:
        """Send the changes of a watched object to its viewers."""
        watched = self._watched.get(topic)
        if watched is None:
            return
        if news.more:
            self._begin_anew(watched)
            return
        news.executions = watched.memory.unknown(news.executions)
        news.runs = watched.memory.unknown(news.runs)
        told: list[Frame] = []
        if news.executions or news.runs:
            told.append(frame(frames.STATE, at, topic[0].told(news)))
        if news.ended:
            told.append(frame(frames.END, at, {}))
        self._hand(list(watched.viewers), told, ended=news.ended)

    def _begin_anew(self, watched: Watched) -> None:
        """Queue the object's viewers for a new snapshot: its changes do not fit into one frame."""
        watched.memory = RowFingerprints()
        for viewer in watched.viewers:
            viewer.last = None
            self._joining.append(viewer)

    async def _welcome(self) -> None:
        """Send new viewers their first rows, which are read once per object and cursor."""
        joining, self._joining = self._joining, []
        asked: dict[tuple[Topic, str | None], list[Viewer]] = {}
        for viewer in joining:
            asked.setdefault((viewer.topic, viewer.last), []).append(viewer)
        try:
            for (topic, last), viewers in asked.items():
                await self._open(topic, last, viewers)
        except BaseException:
            for viewer in joining:
                viewer.close()
            raise

    async def _open(self, topic: Topic, last: str | None, viewers: list[Viewer]) -> None:
        feed, pk = topic
        at, event, news = await _in_thread(lambda: opening(feed, pk, last))
        # Some viewers may have left in the meantime, and would never be removed.
        viewers = [viewer for viewer in viewers if viewer.open]
        if news is None:
            self._hand(viewers, [], ended=True)
            return
        if viewers and not news.ended:
            self._watch(topic, viewers, news)
        told = welcome(feed, at, event, news)
        self._hand(viewers, told, ended=news.ended)

    def _watch(self, topic: Topic, viewers: Iterable[Viewer], news: News) -> None:
        watched = self._watched.get(topic)
        if watched is None:
            watched = self._watched[topic] = Watched()
            # Only if the object had no viewers before: earlier viewers may not have received these
            # rows.
            watched.memory.unknown(news.executions)
            watched.memory.unknown(news.runs)
        watched.viewers.update(viewers)

    def _hand(self, viewers: Iterable[Viewer], told: list[Frame], *, ended: bool) -> None:
        for viewer in viewers:
            if not viewer.offer(told) or ended:
                self.leave(viewer)

    def _drop_all(self) -> None:
        viewers = [v for watched in self._watched.values() for v in watched.viewers]
        for viewer in [*viewers, *self._joining]:
            viewer.close()
        self._watched.clear()
        self._joining.clear()


# By event loop and by database alias, because a hub reads in the context of its first viewer.
_hubs: "WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Hub]]" = WeakKeyDictionary()


def hub() -> Hub:
    """Return the hub of the running event loop, for this context's database."""
    own = _hubs.setdefault(asyncio.get_running_loop(), {})
    return own.setdefault(alias(), Hub())


def at_rest() -> bool:
    """Return whether no hub of this process reads the database.

    A hub without viewers completes its last read.
    """
    return not any(one.reading for own in list(_hubs.values()) for one in list(own.values()))


def _changes(ids: dict[Feed, list[UUID]], since: int | None) -> tuple[Mark, dict[Topic, News]]:
    """Return the position, and the watched objects' changes since `since` (if None, no changes)."""
    at = mark()
    found: dict[Topic, News] = {}
    if since is not None:
        for feed, pks in ids.items():
            found |= {(feed, pk): news for pk, news in feed.changes(pks, since).items()}
    return at, found


def opening(feed: Feed, pk: UUID, last: str | None) -> tuple[Mark, str, News | None]:
    """Return the position, the frame's event, and a new viewer's first rows.

    With a valid cursor `last`, the rows are the changes since then; without one, or if there are
    too many changes, all rows. They are None for a deleted object.
    """
    at = mark()
    since = read_cursor(last, at.cursor)
    if since is not None:
        news = feed.opening(pk, since)
        if news is None or not news.more:
            return at, frames.STATE, news
    return at, frames.SNAPSHOT, feed.opening(pk, None)


def welcome(feed: Feed, at: Mark, event: str, news: News) -> list[Frame]:
    """Return a new viewer's first frames: the rows, and the end if the object has ended."""
    data = feed.told(news) | ({"more": news.more} if event == frames.SNAPSHOT else {})
    ended = [frame(frames.END, at, {})] if news.ended else []
    return [frame(event, at, data), *ended]


async def _in_thread(read: Callable[[], T]) -> T:
    """Read in a thread of the pool, on a connection that is closed afterwards."""

    def with_connection() -> T:
        try:
            return read()
        finally:
            connection.close()

    return await sync_to_async(with_connection, thread_sensitive=False)()
