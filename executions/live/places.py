"""How many may watch at once: in one process, and one person in it."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum

from django.conf import settings


class Full(Enum):
    """Whose places are taken."""

    PROCESS = "process"
    PERSON = "person"


class StreamSlots:
    """The places of one process; used from threads and from the event loop."""

    def __init__(self) -> None:
        """All free."""
        self._taken: Counter[int] = Counter()
        self._lock = threading.Lock()

    def full(self, user_id: int) -> Full | None:
        """Why the user gets no place just now; None when there is one."""
        with self._lock:
            return self._full(user_id)

    def taken(self) -> int:
        """How many are taken."""
        with self._lock:
            return self._taken.total()

    @contextmanager
    def held(self, user_id: int) -> Iterator[bool]:
        """Hold a place, if there still is one; yields whether."""
        with self._lock:
            free = self._full(user_id) is None
            self._taken[user_id] += free
        try:
            yield free
        finally:
            with self._lock:
                self._taken[user_id] -= free
                self._taken += Counter()  # without those at zero

    def _full(self, user_id: int) -> Full | None:
        if self._taken.total() >= settings.LIVE_VIEWERS:
            return Full.PROCESS
        return Full.PERSON if self._taken[user_id] >= settings.LIVE_VIEWERS_EACH else None


PLACES = StreamSlots()
