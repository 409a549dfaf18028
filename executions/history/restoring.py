"""What going back does to the execution itself; its runs are the runners' business."""

from typing import Any
from uuid import UUID

from django.db.models import F

from executions.access.actor import Actor
from executions.events import execution_rolled_back
from executions.history.points import Point
from executions.models import Checkpoint, WorkflowExecution


def restore(execution: WorkflowExecution, point: Point, variables: dict[str, Any]) -> int:
    """Begin a new epoch with these variables; returns its number.

    The caller holds the execution's lock. Checkpoints up to the point come along into the new
    epoch; later ones stay behind in the old one, and nobody goes back to them.
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


def tell(execution_id: UUID, epoch: int, *, actor: Actor, label: str) -> None:
    """Tell whoever keeps something about runs that some of them are history now."""
    execution_rolled_back.send(
        WorkflowExecution, execution_id=execution_id, epoch=epoch, actor=actor, label=label
    )
