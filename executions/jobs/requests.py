"""Create a job (a row, and a message to a worker after the commit) and wait for it."""

import logging
import time
from datetime import timedelta
from functools import partial
from threading import BoundedSemaphore
from uuid import UUID

from django.db import IntegrityError

from executions import messaging
from executions.database import connection, transaction
from executions.database.clock import database_now
from executions.database.stepping_aside import step_aside
from executions.errors import QuotaExceeded
from executions.models import Job
from executions.models.job import UNFINISHED
from executions.states import JobState

log = logging.getLogger(__name__)

RUN_JOB = "executions.run_job"
QUEUE = "default"
# Time within which a worker must begin a job; otherwise, the job fails.
PATIENCE = timedelta(minutes=5)
# Maximum number of unfinished jobs of one workspace, because jobs share the workers with all steps.
MOST_UNFINISHED = 20
RETRY_SECONDS = 5


def ask(
    kind: str, subject: UUID, *, workspace_id: UUID, requested_by: str, fresh: float = 0
) -> Job:
    """Return the subject's newest job of this kind if it is unfinished, or else a new job.

    The newest job is also returned if it succeeded within the last `fresh` seconds. Raises
    QuotaExceeded if the workspace has too many unfinished jobs.
    """
    known = _known(kind, subject, fresh)
    if known is not None:
        return known
    unfinished = Job.objects.filter(workspace_id=workspace_id, state__in=UNFINISHED)
    if unfinished.count() >= MOST_UNFINISHED:
        raise QuotaExceeded(
            f"The workspace has {MOST_UNFINISHED} unfinished jobs. Wait until one has finished.",
            retry_after=RETRY_SECONDS,
        )
    try:
        with transaction.atomic():
            job = Job.objects.create(
                kind=kind,
                subject=subject,
                workspace_id=workspace_id,
                requested_by=requested_by[:200],
                deadline_at=database_now() + PATIENCE,
            )
            transaction.on_commit(partial(send, job.pk), robust=True)
    except IntegrityError:
        known = _known(kind, subject, fresh)
        if known is None:  # it finished just now
            return ask(
                kind, subject, workspace_id=workspace_id, requested_by=requested_by, fresh=fresh
            )
        return known
    return job


def newest(kind: str, subject: UUID) -> Job | None:
    """Return the subject's newest job of this kind; None if there is none."""
    return Job.objects.filter(kind=kind, subject=subject).order_by("-created_at", "-id").first()


def send(job_id: UUID) -> None:
    """Send a job to a worker; if this fails, the sweeper sends it again."""
    try:
        messaging.send(RUN_JOB, (str(job_id),), QUEUE)
    except Exception as error:
        log.warning("job %s not sent (%s); the sweeper will send it", job_id, error)


def _known(kind: str, subject: UUID, fresh: float) -> Job | None:
    job = newest(kind, subject)
    if job is None or job.state in UNFINISHED:
        return job
    assert job.finished_at is not None
    young = job.finished_at > database_now() - timedelta(seconds=fresh)
    return job if job.state == JobState.SUCCESS and young else None


# Wait for a job on behalf of a request.
#
# A waiting request holds a thread, but no database connection. The number of waiting requests of a
# process is limited.


SECONDS = 3.0
FIRST_PAUSE = 0.02
LONGEST_PAUSE = 0.25
# Maximum number of a web process's 128 request threads that wait for jobs.
MOST = 16

_seats = BoundedSemaphore(MOST)


def wait(job: Job, seconds: float = SECONDS) -> Job:
    """Return the job once it has finished, or after `seconds`.

    Does not wait if too many requests wait already. Does not wait inside a transaction, because the
    worker sees the job only after the commit.
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
        step_aside()
        time.sleep(min(pause, left))
        pause = min(pause * 1.5, LONGEST_PAUSE)
        found = Job.objects.filter(pk=job.pk).exclude(state__in=UNFINISHED).first()
        job = job if found is None else found
    return job
