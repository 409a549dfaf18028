"""Capacity: how many executions of a workspace may be active, and who is next.

An unlimited workspace is never locked. In a limited one, whoever starts or admits holds the
workspace's row, so that the limit is never exceeded under any concurrency.
"""

from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Coalesce

from executions import statements
from executions.clock import ClockTimestamp, Deadline
from executions.errors import QuotaExceeded
from executions.events import execution_admitted
from executions.models import Tier, WorkflowExecution, Workspace
from executions.states import ACTIVE, ExecutionState

BATCH = 100


@dataclass(frozen=True, slots=True)
class Admitted:
    """An execution that is RUNNING from this transaction on; `fresh` if it never ran before."""

    execution_id: UUID
    version_id: UUID
    priority: int
    epoch: int
    fresh: bool


def admitted(execution: WorkflowExecution, *, fresh: bool) -> Admitted:
    """The facts a runner needs of an admitted execution."""
    return Admitted(execution.pk, execution.version_id, execution.priority, execution.epoch, fresh)


def places(workspace_id: UUID, wanted: int) -> int:
    """How many of `wanted` new executions may run at once now; the others must wait.

    Locks the workspace's row when its tier has limits; call inside a transaction, before any
    other lock. Raises QuotaExceeded when more would have to wait than may.
    """
    tier = Tier.objects.get(workspaces=workspace_id)
    if tier.max_concurrent is None:
        return wanted
    lock_workspace(workspace_id)
    waiting = WorkflowExecution.objects.filter(
        workspace_id=workspace_id, state=ExecutionState.PENDING
    ).count()
    free = 0 if waiting else max(0, tier.max_concurrent - active(workspace_id))
    starting = min(wanted, free)
    if tier.max_pending is not None and waiting + wanted - starting > tier.max_pending:
        raise QuotaExceeded(
            f"{waiting} executions wait in this workspace already and its tier "
            f"({tier.name}) lets {tier.max_pending} wait. Try again when some have ended.",
            retry_after=30,
        )
    return starting


def lock_workspace(workspace_id: UUID) -> None:
    """Serialise admission in a workspace for the rest of the transaction."""
    list(
        Workspace.objects.select_for_update(no_key=True)
        .filter(pk=workspace_id)
        .values_list("pk", flat=True)
    )


def active(workspace_id: UUID) -> int:
    """How many root executions hold a place."""
    return WorkflowExecution.objects.filter(
        workspace_id=workspace_id, state__in=sorted(ACTIVE), parent__isnull=True
    ).count()


def limited(workspace_id: UUID) -> bool:
    """Whether the workspace's tier limits how many executions run at once."""
    return Tier.objects.filter(workspaces=workspace_id, max_concurrent__isnull=False).exists()


def admit(workspace_id: UUID) -> int:
    """Let waiting executions run while places are free, highest priority first, oldest first.

    Returns how many were admitted, at most 100 a call.
    """
    with transaction.atomic():
        lock_workspace(workspace_id)
        tier = Tier.objects.get(workspaces=workspace_id)
        free = BATCH
        if tier.max_concurrent is not None:
            free = min(BATCH, tier.max_concurrent - active(workspace_id))
        if free <= 0:
            return 0
        chosen = list(
            WorkflowExecution.objects.select_for_update(no_key=True)
            .filter(workspace_id=workspace_id, state=ExecutionState.PENDING)
            .order_by("-priority", "created_at")
            .only("id", "version_id", "priority", "epoch", "started_at", "timeout_seconds")[:free]
        )
        if not chosen:
            return 0
        fresh = {execution.pk: execution.started_at is None for execution in chosen}
        set_running([execution.pk for execution in chosen])
        execution_admitted.send(
            Workspace, executions=[admitted(e, fresh=fresh[e.pk]) for e in chosen]
        )
        return len(chosen)


def admit_next(ended_id: UUID) -> None:
    """An execution ended: let what waits in its workspace have the place."""
    row = statements.fetch_one("waiting", {"ended": ended_id})
    if row is not None:
        admit(row[0])


def set_running(ids: list[UUID]) -> None:
    """PENDING → RUNNING for locked rows; the clock of the execution's time-out starts."""
    WorkflowExecution.objects.filter(pk__in=ids, state=ExecutionState.PENDING).update(
        state=ExecutionState.RUNNING,
        started_at=Coalesce("started_at", ClockTimestamp()),
        deadline_at=Deadline("timeout_seconds"),
    )
