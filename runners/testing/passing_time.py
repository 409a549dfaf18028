"""Time passes for some executions: every instant in their rows is moved into the past.

The clock itself is not touched, so a template's `execution.startedAt` moves, and `now` elsewhere
does not.
"""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from django.db.models import F, Min
from django.db.models.functions import Now

from executions.database.clock import database_now
from executions.models import WorkflowExecution
from executions.states import UNFINISHED
from runners.models import CachedResult, Run
from runners.states import LIVE, RunState

RUN_TIMES = ("started_at", "due_at", "retry_after", "deadline_at")
EXECUTION_TIMES = ("created_at", "started_at", "deadline_at")


def advance(ids: Sequence[UUID], span: timedelta) -> None:
    """Let so much time pass for these executions, and for kept results."""
    runs = Run.objects.filter(execution_id__in=ids, state__in=sorted(LIVE))
    runs.update(**{name: F(name) - span for name in RUN_TIMES})
    rows = WorkflowExecution.objects.filter(pk__in=ids, state__in=sorted(UNFINISHED))
    rows.update(**{name: F(name) - span for name in EXECUTION_TIMES})
    CachedResult.objects.update(expires_at=F("expires_at") - span)


def until_next(ids: Sequence[UUID]) -> timedelta | None:
    """How long until a timer, a retry or a deadline of theirs comes; None when none will."""
    runs = Run.objects.filter(execution_id__in=ids)
    retries = runs.filter(state=RunState.PENDING, retry_after__gt=Now())
    timers = runs.filter(state=RunState.WAITING, due_at__isnull=False)
    rows = WorkflowExecution.objects.filter(pk__in=ids, state__in=sorted(UNFINISHED))
    instants = [
        retries.aggregate(at=Min("retry_after"))["at"],
        timers.aggregate(at=Min("due_at"))["at"],
        rows.aggregate(at=Min("deadline_at"))["at"],
    ]
    known = [at for at in instants if at is not None]
    return max(timedelta(), min(known) - database_now()) if known else None
