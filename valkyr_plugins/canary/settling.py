"""Roll a version back, and settle the executions that started on it: leave, cancel or fork them.

The versions change immediately; the executions follow in the order of their starts, each in its own
transaction. After a crash, the next turn continues after the last processed execution.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic
from typing import Any
from uuid import UUID

from django.db import InterfaceError, OperationalError
from django.db.models import Exists, OuterRef, Q, QuerySet

from dlq.public.models import DeadLetterEntry, Resolution
from dlq.public.resolving import discard
from executions.public.access import Actor
from executions.public.database import (
    AdvisoryLock,
    ClockTimestamp,
    alone,
    database_now,
    transaction,
)
from executions.public.errors import Compensated, ValkyrError, WrongState
from executions.public.lifecycle import cancel
from executions.public.models import ACTIVE, ExecutionState, WorkflowExecution
from executions.public.publishing import rollout
from runners.public.forks import ForkRequest, fork_execution
from runners.public.models import LIVE, Run, RunState
from valkyr_plugins.canary.models import Treatment, VersionRollback

log = logging.getLogger(__name__)

# A start that read the workflow just before the rollback commits within this time. A start inside a
# longer transaction of its caller is not settled.
GRACE = timedelta(seconds=2)
BATCH = 50
TURN_SECONDS = 0.4
MOST_REFUSED = 100
FAILED = (str(ExecutionState.FAILED), str(ExecutionState.TIMEOUT))
UNFINISHED = Q(state__in=[*sorted(ACTIVE), str(ExecutionState.PENDING)], finished_at=None)
ENDED_BADLY = Q(state__in=FAILED, finished_at__isnull=False)


def roll_back(
    workflow_id: UUID,
    *,
    actor: Actor,
    number: int | None = None,
    treatment: str = Treatment.LEAVE,
    reason: str = "",
) -> VersionRollback:
    """Withdraw a version immediately, and begin to settle the executions that started on it.

    By default, `number` is the canary's version or, without a canary, the latest version. Any
    running canary ends. If the version was withdrawn before, the latest version stays. Raises
    NotFound, NotPublished or WrongState.
    """
    if treatment == Treatment.FORK and not fork_execution.provided:
        raise WrongState(
            "Executions can be forked only with the plugin 'timetravel'. Install it, or choose to "
            "cancel or leave them.",
            "NO_FORKS",
        )
    with transaction.atomic():
        done = rollout.roll_back(workflow_id, actor=actor, number=number, reason=reason)
        leaves = treatment == Treatment.LEAVE
        return VersionRollback.objects.create(
            workspace_id=done.good.workflow.workspace_id,
            workflow_id=workflow_id,
            bad=done.bad,
            good=done.good,
            switched=done.switched,
            treatment=treatment,
            reason=reason,
            created_by_id=actor.user_id,
            created_by_name=actor.name[:200],
            finished_at=ClockTimestamp() if leaves else None,
        )


def started_on(version: Any) -> QuerySet[WorkflowExecution]:
    """Return the root executions that started on a version since the version was published."""
    return WorkflowExecution.objects.filter(
        version_id=version.pk,
        workflow_id=version.workflow_id,
        created_at__gte=version.created_at,
        parent=None,
    )


# The job that beat starts.


@dataclass(slots=True)
class SettlingTurn:
    """The number of processed executions, and whether more executions are waiting."""

    settled: int = 0
    more: bool = False


def settle_alone() -> SettlingTurn:
    """Settle executions for a short time; do nothing if another process is settling."""
    with alone(AdvisoryLock.ROLLBACK_SETTLING) as free:
        return settle() if free else SettlingTurn()


def settle() -> SettlingTurn:
    """Settle executions of unfinished rollbacks for a short time, the oldest rollback first."""
    done = SettlingTurn()
    until = monotonic() + TURN_SECONDS
    begun = database_now() - GRACE
    rows = VersionRollback.objects.filter(finished_at=None, created_at__lte=begun).order_by("id")
    for rollback in rows.select_related("bad", "good"):
        while True:
            found = _batch(rollback)
            done.settled += len(found)
            if len(found) < BATCH:
                VersionRollback.objects.filter(pk=rollback.pk).update(finished_at=ClockTimestamp())
                break
            if monotonic() > until:
                done.more = True
                return done
    return done


def _batch(rollback: VersionRollback) -> Sequence[UUID]:
    """Settle the next executions of a rollback; return their IDs."""
    forks = rollback.treatment == Treatment.FORK
    rows = started_on(rollback.bad).filter(UNFINISHED | ENDED_BADLY if forks else UNFINISHED)
    if rollback.at is not None:
        rows = rows.filter(pk__gt=rollback.at)
    found = list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH])
    for pk in found:
        _settle_one(rollback, pk)
    return found


def _settle_one(rollback: VersionRollback, execution_id: UUID) -> None:
    actor = Actor(rollback.created_by_id, rollback.created_by_name, "rollback")
    reason = f"Version {rollback.bad.number} was rolled back."
    rollback.at = execution_id
    try:
        with transaction.atomic():
            if rollback.treatment == Treatment.FORK:
                _fork(execution_id, rollback.good.number, actor, reason)
                rollback.forked += 1
            else:
                cancel(execution_id, actor=actor, reason=reason)
                rollback.cancelled += 1
            _save(rollback)
    except (OperationalError, InterfaceError):
        raise  # the database itself failed; the next turn tries again
    except ValkyrError as error:
        rollback.refresh_from_db(fields=["forked", "cancelled"])
        if isinstance(error, WrongState) and rollback.treatment == Treatment.CANCEL:
            _save(rollback)  # the execution ended meanwhile
        else:
            _refuse(rollback, execution_id, error.message)
    except Exception as error:
        log.exception("could not settle execution %s of rollback %s", execution_id, rollback.pk)
        rollback.refresh_from_db(fields=["forked", "cancelled"])
        _refuse(rollback, execution_id, type(error).__name__)


def _fork(execution_id: UUID, number: int, actor: Actor, reason: str) -> None:
    """Cancel a live execution, fork it at its first open step and discard its open dead letters."""
    execution = WorkflowExecution.objects.only("state").get(pk=execution_id)
    step = _first_open_step(execution_id)
    if execution.state not in FAILED:
        cancel(execution_id, actor=actor, reason=reason)
    try:
        with transaction.atomic():
            made = fork_execution(ForkRequest(execution_id, step, number, reason=reason), actor)
    except Compensated:  # the execution's steps are being undone
        made = fork_execution(ForkRequest(execution_id, None, number, reason=reason), actor)
    open_ones = DeadLetterEntry.objects.filter(
        execution_id=execution_id, resolution=Resolution.PENDING
    )
    for entry_id in open_ones.values_list("pk", flat=True):
        discard(entry_id, actor=actor, notes=f"{reason} Execution {made.pk} continues instead.")


def _first_open_step(execution_id: UUID) -> str | None:
    """Return the path of the first step that has a dead letter or has not ended, or None."""
    runs = Run.objects.filter(execution_id=execution_id, superseded=False)
    done = runs.filter(step_path=OuterRef("step_path"), state__in=["SUCCESS", "SKIPPED"])
    rows = runs.filter(~Exists(done), state__in=[*sorted(LIVE), RunState.DLQ])
    return rows.order_by("queued_at", "id").values_list("step_path", flat=True).first()


def _refuse(rollback: VersionRollback, execution_id: UUID, why: str) -> None:
    rollback.failed += 1
    if len(rollback.refused) < MOST_REFUSED:
        rollback.refused = [*rollback.refused, {"id": str(execution_id), "reason": why[:500]}]
    _save(rollback)


def _save(rollback: VersionRollback) -> None:
    rollback.save(update_fields=["at", "cancelled", "forked", "failed", "refused"])
