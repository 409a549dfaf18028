"""Open connections between two uses: taken by one request at a time, given back when it is read.

httpcore's own pool looks at each of its connections several times a request, some of it squared,
and closes idle ones as soon as more are open than may idle: at 256 calls in flight that is most of
what a call costs, and few connections are used twice. Here a request looks at the idle ones once.
How many are in use is bounded by the threads that send.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Self

import httpcore

Connection = httpcore.HTTPConnection
# Scheme, host and port: comparing these is cheaper than comparing httpcore's Origin.
Place = tuple[bytes, bytes, int]


class Connections:
    """A pool of HTTP/1.1 connections, safe for threads; `make` opens a new one to an origin."""

    def __init__(self, make: Callable[[httpcore.Origin], Connection], most_idle: int) -> None:
        self._make = make
        self._most_idle = most_idle
        self._lock = threading.Lock()
        self._idle: list[tuple[Place, Connection]] = []  # the longest idle first

    def handle_request(self, request: httpcore.Request) -> httpcore.Response:
        """Send a request; its connection comes back once the response is closed."""
        if request.url.scheme not in (b"http", b"https"):
            raise httpcore.UnsupportedProtocol(
                f"expected http or https, found {request.url.scheme.decode('ascii', 'replace')!r}"
            )
        origin = request.url.origin
        place = (origin.scheme, origin.host, origin.port)
        connection = self._taken(place) or self._make(origin)
        try:
            response = connection.handle_request(request)
        except BaseException:
            connection.close()
            raise
        body = _Body(response.stream, lambda: self._give_back(place, connection))
        return httpcore.Response(
            response.status, headers=response.headers, content=body, extensions=response.extensions
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what is idle."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, connection in idle:
            connection.close()

    def _taken(self, place: Place) -> Connection | None:
        """The connection to that place that was used last and is still open."""
        while (connection := self._newest(place)) is not None:
            # Also true where the other side has closed it meanwhile.
            if not connection.has_expired():
                return connection
            connection.close()
        return None

    def _newest(self, place: Place) -> Connection | None:
        with self._lock:
            for index in range(len(self._idle) - 1, -1, -1):
                if self._idle[index][0] == place:
                    return self._idle.pop(index)[1]
        return None

    def _give_back(self, place: Place, connection: Connection) -> None:
        if not connection.is_idle():
            connection.close()
            return
        with self._lock:
            self._idle.append((place, connection))
            old = self._left_too_long()
        for too_old in old:
            too_old.close()

    def _left_too_long(self) -> list[Connection]:
        """Those from the front that are too many, or have idled too long; under the lock."""
        old: list[Connection] = []
        while len(self._idle) > self._most_idle or self._idle[0][1].has_expired():
            old.append(self._idle.pop(0)[1])
            if not self._idle:
                break
        return old


class _Body:
    """A response's body that gives its connection back when it is closed, once."""

    def __init__(self, stream: object, done: Callable[[], None]) -> None:
        self._stream = stream
        self._done: Callable[[], None] | None = done

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._stream  # type: ignore[misc]
        except BaseException:
            with suppress(Exception):
                self.close()
            raise

    def close(self) -> None:
        done, self._done = self._done, None
        if done is None:
            return
        try:
            self._stream.close()  # type: ignore[attr-defined]
        finally:
            done()
