"""Look at each database of this process at the same time, in bounded time.

Each look has a thread of its own. If one hangs, for example on a frozen server, it delays neither
the others nor the caller, and until it ends no second one starts.
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
    """One look, at most one at a time, in a thread that no caller has to wait for."""

    def __init__(self, work: Callable[[], Found]) -> None:
        """Create a look whose result `work` returns."""
        self._work = work
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._found: Found | None = None

    def begin(self) -> None:
        """Start the look, unless the last one is not over."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._found = None
                self._thread = threading.Thread(target=self._run, name="look", daemon=True)
                self._thread.start()

    def end(self, until: float) -> Found | None:
        """Return the result; None if there is none at the time `until` (monotonic)."""
        assert self._thread is not None
        self._thread.join(max(0.0, until - time.monotonic()))
        return self._found

    def _run(self) -> None:
        self._found = self._work()


class EachDatabase(Generic[Found]):
    """The same look at each database."""

    def __init__(self, look: Callable[[], Found]) -> None:
        """Create looks whose results `look` returns in the context of each database."""
        self._look = look
        self._threads: dict[str, BackgroundLook[Found | None]] = {}

    def ask(self, seconds: float, databases: Iterable[str] = ()) -> dict[str, Found | None]:
        """Return the results by alias after at most so many seconds, for all or some databases.

        None for a database that does not answer. An only database is asked in this thread.
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
