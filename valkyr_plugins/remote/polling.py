"""Waiting for work on behalf of a remote runner that asked to be kept waiting.

A waiter holds a thread and no database connection; only so many wait at once in a process.
"""

import time
from collections.abc import Callable
from functools import lru_cache
from threading import BoundedSemaphore
from typing import TypeVar

from django.db import close_old_connections

from valkyr_plugins.remote.conf import waiters

T = TypeVar("T")
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 1.0


def poll(look: Callable[[], list[T]], seconds: float, gone: Callable[[], bool]) -> list[T]:
    """What `look` finds, as soon as it is something; nothing after `seconds`.

    Where too many wait already, what the first look found. Once its client is `gone` nothing is
    looked for: what is found is taken, and would be nobody's until its lease is over.
    """
    found = look()
    if found or seconds <= 0 or not _seats().acquire(blocking=False):
        return found
    try:
        return _wait(look, time.monotonic() + seconds, gone)
    finally:
        _seats().release()


def _wait(look: Callable[[], list[T]], until: float, gone: Callable[[], bool]) -> list[T]:
    pause = FIRST_PAUSE
    while (left := until - time.monotonic()) > 0 and not gone():
        # The pool lends the connection to others meanwhile.
        close_old_connections()
        time.sleep(min(pause, left))
        pause = min(pause * 1.5, LONGEST_PAUSE)
        if not gone() and (found := look()):
            return found
    return []


@lru_cache(maxsize=1)
def _seats() -> BoundedSemaphore:
    return BoundedSemaphore(waiters())
