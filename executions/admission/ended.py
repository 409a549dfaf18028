"""Send the signals of an execution's end, in its transaction or after the commit."""

from functools import partial
from uuid import UUID

from executions.admission.capacity import admit_next
from executions.database import transaction
from executions.events import execution_ended, execution_failed, execution_finished
from executions.models import WorkflowExecution
from executions.states import ExecutionState

FAILURES = (ExecutionState.FAILED, ExecutionState.TIMEOUT)


def commits_alone() -> bool:
    """Return whether a successful end may commit before its signals are sent.

    This is the case if no receiver has to run in the same transaction.
    """
    return not execution_finished.has_listeners(WorkflowExecution)


def tell(
    execution_id: UUID,
    state: ExecutionState,
    parent_run_id: UUID | None,
    trigger_id: UUID | None,
    *,
    frees: bool = True,
) -> None:
    """Send the signals of an execution's end.

    Call this in the transaction that ends the execution or, if `commits_alone()`, after the commit.
    `frees` says whether another execution may be waiting for the key or slot that becomes free.
    """
    if frees:
        transaction.on_commit(partial(admit_next, execution_id), robust=True)
    ended = {
        "execution_id": execution_id,
        "state": state.value,
        "parent_run_id": parent_run_id,
        "trigger_id": trigger_id,
    }
    if state in FAILURES:
        execution_failed.send(WorkflowExecution, execution=_failed(execution_id))
    execution_finished.send(WorkflowExecution, **ended)
    transaction.on_commit(
        partial(execution_ended.send_robust, WorkflowExecution, **ended), robust=True
    )


def _failed(execution_id: UUID) -> WorkflowExecution:
    """Return the execution without its large columns, read once for all receivers."""
    rows = WorkflowExecution.objects.select_related("workflow").defer(
        "context_data", "output", "metrics_snapshot", "error_stack_trace", "workflow__definition"
    )
    return rows.get(pk=execution_id)
