"""Read from each database of this process at the same time, in bounded time.

With several databases, each read has its own thread. If a read hangs, it delays no other read, and
the caller's wait is limited. No second read of that database starts until the first ends.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Generic, TypeVar

from django.db import DatabaseError, InterfaceError, connections

from executions.database.routing import aliases, cell_of, serving

log = logging.getLogger(__name__)
Found = TypeVar("Found")


class BackgroundLook(Generic[Found]):
    """Runs a read in a thread, so that callers can limit their wait; at most one read at a time."""

    def __init__(self, work: Callable[[], Found]) -> None:
        """Set `work`, which reads and returns the result."""
        self._work = work
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._found: Found | None = None

    def begin(self) -> None:
        """Start a read, unless the previous one is still running."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._found = None
                self._thread = threading.Thread(target=self._run, name="look", daemon=True)
                self._thread.start()

    def end(self, until: float) -> Found | None:
        """Return the result; None if the read failed, or did not end by monotonic time `until`."""
        assert self._thread is not None
        self._thread.join(max(0.0, until - time.monotonic()))
        return self._found

    def _run(self) -> None:
        self._found = self._work()


class EachDatabase(Generic[Found]):
    """Performs the same read in each of Valkyr's databases at the same time."""

    def __init__(self, look: Callable[[], Found]) -> None:
        """Set `look`, which reads in the context of each database and returns the result."""
        self._look = look
        self._threads: dict[str, BackgroundLook[Found | None]] = {}

    def ask(self, seconds: float, databases: Iterable[str] = ()) -> dict[str, Found | None]:
        """Return the results, keyed by alias, of the given or all databases, within `seconds`.

        The result of a database that does not respond is None. If this process has only one
        database, the calling thread reads from it, without a time limit, and errors are raised.
        """
        if len(aliases()) == 1:
            return {of: self._look() for of in databases or aliases()}
        asked = {of: self._of(of) for of in databases or aliases()}
        for look in asked.values():
            look.begin()
        until = time.monotonic() + seconds
        return {of: look.end(until) for of, look in asked.items()}

    def _of(self, alias: str) -> BackgroundLook[Found | None]:
        made = BackgroundLook(partial(self._in, alias))
        return self._threads.setdefault(alias, made)

    def _in(self, alias: str) -> Found | None:
        try:
            with serving(alias):
                return self._look()
        except (DatabaseError, InterfaceError) as error:
            log.warning("the database of %r did not answer: %s", cell_of(alias), error)
            return None
        finally:
            connections[alias].close()
