"""Wait for a job on behalf of a request.

A waiter holds a thread and no database connection; only so many wait at once in a process.
"""

import time
from threading import BoundedSemaphore

from django.db import close_old_connections, connection

from executions.models import Job
from executions.models.job import UNFINISHED

SECONDS = 3.0
FIRST_PAUSE = 0.02
LONGEST_PAUSE = 0.25
# Threads of a web process that wait for jobs, of the 128 that answer requests.
MOST = 16

_seats = BoundedSemaphore(MOST)


def wait(job: Job, seconds: float = SECONDS) -> Job:
    """Return the job as it is once it has finished, or after `seconds`.

    Does not wait where too many requests wait already, nor inside a transaction, since the worker
    sees the job only after the commit.
    """
    if job.state not in UNFINISHED or connection.in_atomic_block:
        return job
    if not _seats.acquire(blocking=False):
        return job
    try:
        return _wait(job, time.monotonic() + seconds)
    finally:
        _seats.release()


def _wait(job: Job, until: float) -> Job:
    pause = FIRST_PAUSE
    while job.state in UNFINISHED and (left := until - time.monotonic()) > 0:
        # The pool lends the connection to others meanwhile.
        close_old_connections()
        time.sleep(min(pause, left))
        pause = min(pause * 1.5, LONGEST_PAUSE)
        found = Job.objects.filter(pk=job.pk).exclude(state__in=UNFINISHED).first()
        job = job if found is None else found
    return job
