"""Run a job in a worker: once, within its time, with a result of bounded size.

A job whose worker died is not run again, since it may be what ended the worker: it fails at its
deadline.
"""

import logging
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import connection

from executions import payloads
from executions.database.clock import ClockTimestamp, database_now
from executions.errors import ValkyrError
from executions.jobs.kinds import JobKind, kind_named, work_of
from executions.models import Job
from executions.states import JobState

log = logging.getLogger(__name__)

MAX_RESULT = 4 * 1024 * 1024  # bytes of JSON
# Beyond a kind's own time, for writing the result.
GRACE = 10.0
FAILED = "job_failed"


def run(job_id: UUID) -> bool:
    """Run a queued job; False when somebody else began it, or it is not queued any more."""
    job = Job.objects.filter(pk=job_id, state=JobState.QUEUED).first()
    if job is None or not _begin(job, kind_named(job.kind)):
        return False
    try:
        result = work_of(kind_named(job.kind))(job.subject)
        payloads.dump(result, "result of the job", MAX_RESULT)
    except ValkyrError as error:
        return _finish(job, JobState.FAILED, error_code=error.code, error=error.message)
    except Exception as error:  # MemoryError, too
        log.exception("job %s (%s) failed", job.pk, job)
        connection.close()  # whatever state it was left in
        reason = "it needs too much memory" if isinstance(error, MemoryError) else "see the log"
        message = f"The job could not be computed: {reason}."
        return _finish(job, JobState.FAILED, error_code=FAILED, error=message)
    return _finish(job, JobState.SUCCESS, result=result)


def _begin(job: Job, kind: JobKind) -> bool:
    """Take the job; False when it was taken, or failed, meanwhile."""
    began = Job.objects.filter(pk=job.pk, state=JobState.QUEUED).update(
        state=JobState.RUNNING,
        started_at=ClockTimestamp(),
        deadline_at=database_now() + timedelta(seconds=kind.seconds + GRACE),
    )
    return began == 1


def _finish(job: Job, state: JobState, **fields: Any) -> bool:
    """Record the end, unless the job failed at its deadline meanwhile."""
    running = Job.objects.filter(pk=job.pk, state=JobState.RUNNING)
    return running.update(state=state, finished_at=ClockTimestamp(), **fields) == 1
