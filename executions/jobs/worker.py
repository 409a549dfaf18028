"""Run jobs in a worker: at most once, with a time limit and a result of bounded size.

A job whose worker crashed is not run again, because the job may have caused the crash. It fails at
its deadline.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from importlib import import_module
from typing import Any
from uuid import UUID

from executions import payloads
from executions.database import connection, transaction
from executions.database.clock import ClockTimestamp, database_now
from executions.errors import ValkyrError
from executions.jobs.requests import send
from executions.models import Job
from executions.models.job import UNFINISHED
from executions.states import JobState

# The kinds of jobs. Each app registers its own in `AppConfig.ready`.


Work = Callable[[UUID], Any]


@dataclass(frozen=True, slots=True)
class JobKind:
    """A kind of job: its name, the function that computes the result, and its time limit.

    `work` is `module:function`, imported only in the worker. The function accepts the subject's ID
    and returns a value that JSON can represent; it raises ValkyrError if there is no result.
    """

    name: str
    work: str
    seconds: float


_kinds: dict[str, JobKind] = {}


def register(kind: JobKind) -> None:
    """Register a kind of job by its name."""
    _kinds[kind.name] = kind


def kind_named(name: str) -> JobKind:
    """Return a kind of job by its name. Raises KeyError for a name that no app registered."""
    return _kinds[name]


@lru_cache(maxsize=64)
def work_of(kind: JobKind) -> Work:
    """Return the function that computes jobs of a kind."""
    module, _, function = kind.work.partition(":")
    work: Work = getattr(import_module(module), function)
    return work


log = logging.getLogger(__name__)

MAX_RESULT = 4 * 1024 * 1024  # bytes of JSON
# Seconds for writing the result, in addition to the kind's time limit.
GRACE = 10.0
FAILED = "job_failed"


def run(job_id: UUID) -> bool:
    """Run a queued job; return False if it is not queued, or has failed at its deadline."""
    job = Job.objects.filter(pk=job_id, state=JobState.QUEUED).first()
    if job is None or not _begin(job, kind_named(job.kind)):
        return False
    try:
        result = work_of(kind_named(job.kind))(job.subject)
        payloads.dump(result, "result of the job", MAX_RESULT)
    except ValkyrError as error:
        return _finish(job, JobState.FAILED, error_code=error.code, error=error.message)
    except Exception as error:  # including MemoryError
        log.exception("job %s (%s) failed", job.pk, job)
        connection.close()  # the job may have left it in any state
        reason = "it needs too much memory" if isinstance(error, MemoryError) else "see the log"
        message = f"The job could not be computed: {reason}."
        return _finish(job, JobState.FAILED, error_code=FAILED, error=message)
    return _finish(job, JobState.SUCCESS, result=result)


def _begin(job: Job, kind: JobKind) -> bool:
    """Claim the job; return False if another worker claimed it or it has failed already."""
    began = Job.objects.filter(pk=job.pk, state=JobState.QUEUED).update(
        state=JobState.RUNNING,
        started_at=ClockTimestamp(),
        deadline_at=database_now() + timedelta(seconds=kind.seconds + GRACE),
    )
    return began == 1


def _finish(job: Job, state: JobState, **fields: Any) -> bool:
    """Record the end; return False if the job had already failed at its deadline."""
    running = Job.objects.filter(pk=job.pk, state=JobState.RUNNING)
    return running.update(state=state, finished_at=ClockTimestamp(), **fields) == 1


# Send or fail lost jobs, and delete old ones.


RESEND = timedelta(seconds=15)
KEPT = timedelta(hours=1)
BATCH = 500
LOST = "job_lost"
NOT_BEGUN = "No worker started this job in time. Check that a worker of the queue `default` runs."
NOT_FINISHED = (
    "The job took too long, or its worker process ended. Try again, with less data if possible."
)


def sweep() -> int:
    """Resend jobs that no worker has started, fail overdue jobs and delete old finished jobs.

    Returns how many jobs it resent or marked as failed.
    """
    count = _fail(JobState.QUEUED, NOT_BEGUN) + _fail(JobState.RUNNING, NOT_FINISHED)
    count += _send_again()
    _delete()
    return count


def _fail(state: JobState, message: str) -> int:
    late = Job.objects.filter(state=state, deadline_at__lte=database_now())
    ids = list(late.values_list("pk", flat=True)[:BATCH])
    return Job.objects.filter(pk__in=ids, state=state, deadline_at__lte=database_now()).update(
        state=JobState.FAILED, finished_at=ClockTimestamp(), error_code=LOST, error=message
    )


def _send_again() -> int:
    with transaction.atomic():
        unsent = Job.objects.select_for_update(skip_locked=True).filter(
            state=JobState.QUEUED, sent_at__lte=database_now() - RESEND
        )
        ids = list(unsent.values_list("pk", flat=True)[:BATCH])
        Job.objects.filter(pk__in=ids).update(sent_at=ClockTimestamp())
    for pk in ids:
        send(pk)
    return len(ids)


def _delete() -> None:
    old = Job.objects.filter(created_at__lt=database_now() - KEPT).exclude(state__in=UNFINISHED)
    ids = list(old.order_by("created_at").values_list("pk", flat=True)[:BATCH])
    if ids:
        Job.objects.filter(pk__in=ids).delete()
