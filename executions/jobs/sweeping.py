"""Jobs that were lost are sent again or fail, and old ones are deleted."""

from datetime import timedelta

from django.db import transaction

from executions.database.clock import ClockTimestamp, database_now
from executions.jobs.asking import send
from executions.models import Job
from executions.models.job import UNFINISHED
from executions.states import JobState

RESEND = timedelta(seconds=15)
KEPT = timedelta(hours=1)
BATCH = 500
LOST = "job_lost"
NOT_BEGUN = "No worker began this job in time. Check that a worker of the queue `default` runs."
NOT_FINISHED = "The job took too long, or its worker process ended. Ask again, or for less."


def sweep() -> int:
    """Send, fail and delete a batch each; returns how many jobs were sent or failed."""
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
