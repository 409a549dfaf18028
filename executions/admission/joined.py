"""Count and queue starts after their callers' transactions commit.

A start locks its counters, or the workspace's row, until its caller commits. So with hourly, daily
or queue limits, a start that joins the caller's transaction is only inserted, as ASKED. After the
commit, and in the sweeper, starts are counted and queued while the limits allow it. The others stay
ASKED, so no limit is exceeded.
"""

from uuid import UUID

from django.db.models import QuerySet

from executions.admission.capacity import admit, check_waiting, lock_workspace
from executions.database import transaction
from executions.models import WorkflowExecution
from executions.quotas import Ceilings, ceilings, count, room
from executions.quotas import check as check_windows
from executions.states import CapacityState, ExecutionState

BATCH = 100
ROUNDS = 20


def is_counted_later(tier: Ceilings) -> bool:
    """Return whether joined starts are counted after the commit, because counting takes a lock."""
    return bool(tier.limits) or tier.max_pending is not None


def check(tier: Ceilings, workspace_id: UUID, more: int) -> None:
    """Raise QuotaExceeded if `more` starts would exceed a limit of the workspace; take no lock.

    Counts committed executions and those that the caller's transaction created.
    """
    check_waiting(tier, workspace_id, more)
    if tier.limits:
        check_windows(workspace_id, tier, more + _asked(workspace_id).count())


def enter(workspace_id: UUID) -> int:
    """Queue joined starts up to the limits, and admit executions; return the number admitted."""
    running = 0
    for _ in range(ROUNDS):
        entered = _enter(workspace_id)
        admitted = admit(workspace_id)
        running += admitted
        if not (entered or admitted):
            break
    return running


def _enter(workspace_id: UUID) -> int:
    with transaction.atomic():
        tier = ceilings(workspace_id)
        rooms = [BATCH, _room_in_line(tier, workspace_id), room(workspace_id, tier)]
        most = min(one for one in rooms if one is not None)
        rows = _asked(workspace_id).order_by("-priority", "created_at", "pk")
        found = list(rows.values_list("pk", flat=True)[:most])
        # Some may have been cancelled since they were read.
        entered = _asked(workspace_id).filter(pk__in=found).update(place=CapacityState.HELD)
        count(workspace_id, tier, entered)
    return entered


def _room_in_line(tier: Ceilings, workspace_id: UUID) -> int | None:
    """Return the number of executions that may still be queued; None if there is no limit.

    Locks the workspace if the queue is limited.
    """
    if tier.max_pending is None:
        return None
    lock_workspace(workspace_id)
    line = WorkflowExecution.objects.filter(workspace_id=workspace_id, state=ExecutionState.PENDING)
    standing = line.exclude(place=CapacityState.ASKED)[: tier.max_pending + 1].count()
    # At least one, even if the tier allows no waiting executions: an execution that can run at once
    # also waits for a moment.
    return max(0, max(1, tier.max_pending) - standing)


def _asked(workspace_id: UUID) -> QuerySet[WorkflowExecution]:
    return WorkflowExecution.objects.filter(
        workspace_id=workspace_id, state=ExecutionState.PENDING, place=CapacityState.ASKED
    )
