"""Roll back to a point in one transaction, after which the execution is planned again.

Runs after the point are kept as history, marked superseded. The epoch increases, so that results
and messages of older holders are rejected.
"""

from typing import Any
from uuid import UUID

from django.db.models import F

from executions.public.access import Actor, record
from executions.public.database import transaction, uuid7
from executions.public.errors import Compensated, NotFound, WrongState
from executions.public.events import execution_rolled_back
from executions.public.lifecycle import announce, reopen
from executions.public.models import WorkflowExecution
from runners.public.models import LIVE, Waiter
from valkyr_plugins.timetravel import restore_points, statements
from valkyr_plugins.timetravel.models import Checkpoint
from valkyr_plugins.timetravel.point_in_time import Point


def roll_back(
    execution_id: UUID,
    *,
    checkpoint_id: UUID | None = None,
    step_path: str | None = None,
    actor: Actor,
    reason: str = "",
    named: bool = True,
) -> WorkflowExecution:
    """Roll an execution back to a checkpoint, or to right after a finished step, and continue it.

    RUNNING and PAUSED executions keep their state; a FAILED one continues as after a requeue. Steps
    after the point run again, with the same idempotency keys if the inputs are the same. Pass
    either `checkpoint_id` or `step_path`. With `named`, errors may name steps to the caller. Raises
    NotFound, NoSuchPoint or WrongState.
    """
    workspace_id = _workspace(execution_id)
    with transaction.atomic():
        execution = _reopened(execution_id, workspace_id)
        if checkpoint_id is not None:
            point = restore_points.at_checkpoint(execution, checkpoint_id)
        elif step_path:
            point = restore_points.after_step(execution, step_path, named=named)
        else:
            raise restore_points.NoSuchPoint("Name a checkpoint or a step to roll back to.")
        figures = _go_back(execution, point, actor)
        record(
            actor,
            "execution.rollback",
            workspace_id=workspace_id,
            object_type="WorkflowExecution",
            object_id=execution_id,
            reason=reason,
            details={"to": point.label, "epoch": execution.epoch, **figures},
        )
        announce(execution)
        # Read now to return the state after the roll-back: after the commit, workers change it at
        # once.
        return WorkflowExecution.objects.get(pk=execution_id)


def _workspace(execution_id: UUID) -> UUID:
    row = WorkflowExecution.objects.filter(pk=execution_id).values_list("workspace_id", flat=True)
    found = row.first()
    if found is None:
        raise NotFound(f"There is no execution {execution_id}.")
    return found


def _reopened(execution_id: UUID, workspace_id: UUID) -> WorkflowExecution:
    try:
        return reopen(execution_id, workspace_id=workspace_id)
    except WrongState as error:
        if error.state == "PENDING" or isinstance(error, Compensated):
            raise
        raise WrongState(
            f"Execution {execution_id} is {error.state}; only RUNNING, PAUSED and FAILED "
            "executions can be rolled back. Fork it instead, to start a new execution from the "
            "same point.",
            error.state,
        ) from None


def _go_back(execution: WorkflowExecution, point: Point, actor: Actor) -> dict[str, Any]:
    """Roll back rows and variables; return the numbers of superseded and cancelled runs.

    The caller holds the execution's lock.
    """
    told = restore_points.params(execution, point) | {
        "around": restore_points.around(execution, point)
    }
    variables = restore_points.variables_at(execution, point)
    superseded, cancelled = statements.fetch("supersede_after_point", told)[0]
    epoch = _begin_epoch(execution, point, variables)
    ids = [uuid7() for _ in told["around"]]
    statements.fetch("reopen_containers", told | {"epoch": epoch, "ids": ids})
    statements.fetch("move_runs_to_epoch", {"execution": execution.pk, "epoch": epoch})
    Waiter.objects.filter(execution_id=execution.pk).exclude(run__state__in=sorted(LIVE)).delete()
    _tell(execution.pk, epoch, actor=actor, label=point.label)
    return {"superseded": superseded, "cancelled": cancelled}


def _begin_epoch(execution: WorkflowExecution, point: Point, variables: dict[str, Any]) -> int:
    """Begin a new epoch with these variables; return the number of the epoch.

    The caller holds the execution's lock. Checkpoints up to the point move into the new epoch;
    later checkpoints stay in the old epoch and cannot be used.
    """
    before = execution.epoch
    moved = WorkflowExecution.objects.filter(pk=execution.pk, epoch=before).update(
        epoch=F("epoch") + 1, context_data=variables
    )
    assert moved == 1, "the row is locked"
    execution.epoch = before + 1
    Checkpoint.objects.filter(
        execution_id=execution.pk, epoch=before, created_at__lte=point.at
    ).update(epoch=execution.epoch)
    return execution.epoch


def _tell(execution_id: UUID, epoch: int, *, actor: Actor, label: str) -> None:
    """Send the signal that the execution was rolled back."""
    execution_rolled_back.send(
        WorkflowExecution, execution_id=execution_id, epoch=epoch, actor=actor, label=label
    )
