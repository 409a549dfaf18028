"""Celery's soft time limit: an exception that the task can catch to clean up.

As in Celery, thread pools do not support it; there, only the step's limit applies.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from celery.exceptions import SoftTimeLimitExceeded


@contextmanager
def soft_time_limit(seconds: float | None) -> Iterator[None]:
    """Raise SoftTimeLimitExceeded in the block after `seconds`, but only in the main thread."""
    here = threading.current_thread()
    if seconds is None or here is not threading.main_thread():
        yield
        return
    running = True

    def raise_here(*_: Any) -> None:
        if running:  # the signal may arrive just after the task has returned
            raise SoftTimeLimitExceeded(seconds)

    before = signal.signal(signal.SIGUSR1, raise_here)
    timer = threading.Timer(seconds, signal.pthread_kill, (here.ident, signal.SIGUSR1))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        running = False
        timer.cancel()
        timer.join()
        signal.signal(signal.SIGUSR1, before)
