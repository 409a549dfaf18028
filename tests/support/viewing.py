"""A viewer that reports what it has received so far, while it keeps watching."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpx

from tests.support.waiting import wait_until
from tests.support.watching import LiveRun, read_events


class View:
    """One connection, read in a thread."""

    def __init__(self, url: str, headers: dict[str, str], last: str = "") -> None:
        self.seen = LiveRun()
        self._client = httpx.Client(timeout=120)
        sent = headers | ({"Last-Event-ID": last} if last else {})
        self.answer = self._client.send(
            self._client.build_request("GET", url, headers=sent), stream=True
        )
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @property
    def finished(self) -> bool:
        """Return whether the server ended the connection."""
        return not self._thread.is_alive()

    def until(self, condition: Callable[[LiveRun], Any], what: str = "what it waits for") -> None:
        """Return when the received states match the condition."""
        wait_until(lambda: condition(self.seen), 30, f"{what}: {self.seen}")

    def until_run(self, pk: Any, state: str) -> None:
        """Return when that run was received in that state."""
        self.until(lambda seen: seen.states().get(str(pk)) == state, f"run {pk} in {state}")

    def close(self) -> None:
        """Disconnect at once: an orderly close would wait for the thread that reads."""
        with suppress(OSError):
            stream = self.answer.extensions["network_stream"]
            stream.get_extra_info("socket").shutdown(socket.SHUT_RDWR)
        self._thread.join(10)
        self.answer.close()
        self._client.close()

    def _read(self) -> None:
        with suppress(httpx.HTTPError, httpx.StreamError, OSError, ValueError, AttributeError):
            for event in read_events(self.answer.iter_lines()):
                self.seen.take(*event)


@contextmanager
def viewing(url: str, headers: dict[str, str], last: str = "") -> Iterator[View]:
    """Watch during the block, which begins after the first frame."""
    view = View(url, headers, last)
    try:
        view.until(lambda seen: seen.events, "the first frame")
        yield view
    finally:
        view.close()
