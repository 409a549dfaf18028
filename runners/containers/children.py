"""Parents and children: a child's end wakes the run that waits for it, a parent's takes it along.

Nobody holds two executions' locks for it: each message is sent after the commit, and what is lost
is found by the sweeper.
"""

from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from executions import lifecycle
from executions.access.actor import Actor
from executions.errors import PayloadError, WrongState
from executions.models import WorkflowExecution
from executions.states import FINAL, UNFINISHED, ExecutionState
from runners.dispatch import messages
from runners.models import Run
from runners.states import RunState, WaitKind
from runners.waits import wake_runs

ENDED = "runners.child_ended"
CANCEL = "runners.cancel_children"
LEAVE = "runners.leave_child"
TAKES_CHILDREN_ALONG = (ExecutionState.CANCELLED, ExecutionState.TIMEOUT)
ACTOR = Actor.system("its parent execution")
BATCH = 100


def wake_parent(child_id: UUID) -> bool:
    """Wake the run that waits for a child which has ended; False when none does (any more)."""
    child = (
        WorkflowExecution.objects.filter(
            pk=child_id, state__in=sorted(FINAL), parent_run_id__isnull=False
        )
        .only("state", "output", "error_message", "parent_run_id")
        .first()
    )
    if child is None or child.parent_run_id is None:
        return False
    told = {"by": "child", "executionId": str(child.pk), "state": child.state}
    try:
        return wake_runs.wake(
            child.parent_run_id,
            WaitKind.CHILD,
            told | {"output": child.output, "error": child.error_message},
        )
    except PayloadError as error:  # the output fits by itself, and not with what stands around it
        return wake_runs.wake(child.parent_run_id, WaitKind.CHILD, told | {"error": error.message})


def has_unfinished(parent_id: UUID) -> bool:
    """Whether any child of an execution is under way."""
    return _unfinished().filter(parent_id=parent_id).exists()


def cancel_of(parent_id: UUID) -> int:
    """Cancel an execution's children that nobody needs any more; returns how many."""
    count = 0
    while found := list(abandoned().filter(parent_id=parent_id)[:BATCH]):
        cancelled = sum(cancel(child, parent) for child, parent in found)
        count += cancelled
        if not cancelled:
            break
    return count


def awaited(run_id: UUID) -> UUID | None:
    """The child that a run waited for, if it did."""
    progress = (
        Run.objects.filter(pk=run_id, waits_for=WaitKind.CHILD)
        .values_list("progress", flat=True)
        .first()
    )
    return UUID(progress["executionId"]) if progress else None


def leave_awaited(run_id: UUID) -> None:
    """After the commit, cancel the child that a run waited for: a requeue starts another."""
    child = awaited(run_id)
    if child is not None:
        messages.tell_after_commit(LEAVE, child)


def leave(child_id: UUID) -> int:
    """Cancel a child whose result nobody waits for any more; 0 when it has ended."""
    child = WorkflowExecution.objects.filter(pk=child_id, parent__isnull=False)
    parent = child.values_list("parent_id", flat=True).first()
    return 0 if parent is None else cancel(child_id, parent)


def cancel(child_id: UUID, parent_id: UUID) -> int:
    """Cancel one child in a transaction of its own; 0 when it ended meanwhile."""
    try:
        lifecycle.cancel(
            child_id, actor=ACTOR, reason=f"Its parent execution {parent_id} needs it no more."
        )
    except WrongState:
        return 0
    return 1


def abandoned() -> QuerySet[WorkflowExecution, tuple[UUID, Any]]:
    """Children, with their parents, whose parent or waiting run was cancelled or timed out."""
    undone = Run.objects.filter(pk=OuterRef("parent_run_id"), state=RunState.CANCELLED)
    return (
        _unfinished()
        .filter(Q(parent__state__in=TAKES_CHILDREN_ALONG) | Exists(undone))
        .order_by("pk")
        .values_list("pk", "parent_id")
    )


def _unfinished() -> QuerySet[WorkflowExecution]:
    return WorkflowExecution.objects.filter(parent__isnull=False, state__in=sorted(UNFINISHED))
