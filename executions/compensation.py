"""Compensation: undo an execution's successful steps, then end the execution.

Before an execution fails, times out or is cancelled, or when a user undoes a failed execution,
`begin` stores its final state, `proceed` starts the undo steps when no other step is running, and
`end` ends it. Until then the execution keeps its concurrency key, and its end is not announced.
"""

from typing import Any
from uuid import UUID

from executions import ports
from executions.admission import ended
from executions.admission.capacity import request_slot
from executions.database.clock import ClockTimestamp
from executions.definition.versions import compiled
from executions.errors import Compensated
from executions.models import WorkflowExecution
from executions.sealing.columns import stored
from executions.states import ACTIVE, CapacityState, CompensationState, ExecutionState

State = CompensationState


def begin(execution: WorkflowExecution, ending: ExecutionState, **changes: Any) -> bool:
    """Begin to undo a locked execution, which ends as `ending` unless its undo fails.

    Returns False if there is nothing to undo. The execution is PAUSED until its running steps have
    ended, or PENDING while it waits for a slot.
    """
    if not compiled(execution.version_id).graph.undone or not ports.stop_to_undo(execution.pk):
        return False
    state = ExecutionState.PAUSED if execution.state in ACTIVE else execution.state
    moved = WorkflowExecution.objects.filter(
        pk=execution.pk, state=execution.state, compensation=State.NONE
    ).update(
        state=state,
        compensation=State.WAITING,
        ending=ending,
        deadline_at=None,
        **stored(execution, **changes),
    )
    assert moved == 1, "the row is locked"
    return True


def fail(execution_id: UUID, *, message: str, trace: str) -> bool:
    """Begin to undo a RUNNING execution that failed; the caller holds the execution's lock.

    Returns False if there is nothing to undo.
    """
    execution = WorkflowExecution.objects.only("version_id", "state", "workspace_id").get(
        pk=execution_id
    )
    return begin(execution, ExecutionState.FAILED, error_message=message, error_stack_trace=trace)


def proceed(execution_id: UUID) -> None:
    """Move a compensation from WAITING to RUNNING, so that its undo steps can start.

    No other step of the execution may be running.
    """
    moved = WorkflowExecution.objects.filter(
        pk=execution_id,
        compensation=State.WAITING,
        state__in=[ExecutionState.PAUSED, ExecutionState.RUNNING],
    ).update(state=ExecutionState.RUNNING, compensation=State.RUNNING)
    assert moved == 1, "the row is locked"
    request_slot([execution_id])


def end(execution_id: UUID, *, failed: bool, metrics: Any) -> None:
    """Move a compensation from RUNNING to DONE, or to FAILED if an undo step `failed`.

    Then end the execution, as FAILED if the compensation failed. The caller holds the execution's
    lock, and none of the execution's runs is live.
    """
    rows = WorkflowExecution.objects.filter(
        pk=execution_id, state=ExecutionState.RUNNING, compensation=State.RUNNING
    )
    ending, parent_run_id, trigger_id = rows.values_list(
        "ending", "parent_run_id", "trigger_id"
    ).get()
    state = ExecutionState.FAILED if failed else ExecutionState(ending)
    rows.update(
        state=state,
        compensation=State.FAILED if failed else State.DONE,
        place=CapacityState.HELD,
        finished_at=ClockTimestamp(),
        metrics_snapshot=metrics,
    )
    ended.tell(execution_id, state, parent_run_id, trigger_id)


def refuse(execution: WorkflowExecution, verb: str, *, undoing: bool = False) -> None:
    """Raise Compensated if an execution's undo has begun, so that the execution cannot `verb`.

    With `undoing`, the step to run again is an undo step, which is allowed while the compensation
    is FAILED.
    """
    found = execution.compensation
    if not found or (undoing and found == State.FAILED):
        return
    raise Compensated(
        f"Execution {execution.pk} cannot {verb}: {WHY[found]} Start its workflow again, or "
        "replay the execution from its start.",
        execution.state,
    )


WHY: dict[str, str] = {
    State.WAITING: "it will be undone when its running steps have ended.",
    State.RUNNING: "it is being undone.",
    State.DONE: "it was undone.",
    State.FAILED: (
        "it was partly undone. Requeue, fix or skip the dead letter of its undo step to continue."
    ),
}
