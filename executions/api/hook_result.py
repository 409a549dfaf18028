"""Waiting for an execution's end on behalf of a webhook's caller.

A waiter holds a thread and no database connection; only so many wait at once in a process.
"""

import time
from threading import BoundedSemaphore
from uuid import UUID

from django.conf import settings
from django.db import close_old_connections

from executions.models import WorkflowExecution
from executions.states import FINAL

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 1.0

_seats = BoundedSemaphore(settings.WEBHOOK_WAITERS)


def wait_for_end(execution_id: UUID, seconds: float) -> WorkflowExecution | None:
    """The execution once it has ended; None when it has not in time, or too many wait already."""
    if not _seats.acquire(blocking=False):
        return None
    try:
        return _wait(execution_id, time.monotonic() + seconds)
    finally:
        _seats.release()


def _wait(execution_id: UUID, until: float) -> WorkflowExecution | None:
    pause = FIRST_PAUSE
    ended = WorkflowExecution.objects.filter(pk=execution_id, state__in=sorted(FINAL))
    while True:
        found = ended.only("id", "state", "output").first()
        if found is not None:
            return found
        left = until - time.monotonic()
        if left <= 0:
            return None
        # The pool lends the connection to others meanwhile.
        close_old_connections()
        time.sleep(min(pause, left))
        pause = min(pause * 1.5, LONGEST_PAUSE)
