"""What is looked up to explain an execution: its place in line, who paused it."""

from typing import Any

from executions.database import statements
from executions.explain.reason import Reason
from executions.explain.standing import COUNTED, PauseRecord, QueuePosition, standing
from executions.models import Activity, WorkflowExecution
from executions.states import CapacityState, ExecutionState


def reason_of(row: WorkflowExecution) -> Reason:
    """Why an execution is where it is; one query at most."""
    return standing(row, _line(row), _pause(row))


def _line(row: WorkflowExecution) -> QueuePosition | None:
    if row.state != ExecutionState.PENDING and row.place != CapacityState.WANTED:
        return None
    found: tuple[Any, ...] | None = statements.fetch_one(
        "line", {"execution": row.pk, "most": COUNTED}
    )
    if found is None:
        return None
    workspace, limit, active, ahead, holders, held, key_ahead = found
    return QueuePosition(workspace, limit, active, ahead, tuple(holders or ()), held, key_ahead)


def _pause(row: WorkflowExecution) -> PauseRecord | None:
    if row.state != ExecutionState.PAUSED:
        return None
    found = (
        Activity.objects.filter(object_id=row.pk, action="execution.pause")
        .order_by("-created_at")
        .only("actor_name", "created_at", "reason")
        .first()
    )
    return None if found is None else PauseRecord(found.actor_name, found.created_at, found.reason)
