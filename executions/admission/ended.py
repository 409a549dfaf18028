"""Tell that an execution ended: who commits with its end, and after the commit everybody else."""

from functools import partial
from uuid import UUID

from executions.admission.capacity import admit_next
from executions.database import transaction
from executions.events import execution_ended, execution_failed, execution_finished
from executions.models import WorkflowExecution
from executions.states import ExecutionState

FAILURES = (ExecutionState.FAILED, ExecutionState.TIMEOUT)


def commits_alone() -> bool:
    """Whether an end as SUCCESS may be committed before anybody is told of it."""
    return not execution_finished.has_listeners(WorkflowExecution)


def tell(
    execution_id: UUID,
    state: ExecutionState,
    parent_run_id: UUID | None,
    trigger_id: UUID | None,
    *,
    frees: bool = True,
) -> None:
    """Tell of an end that was just written, in its transaction; or after it if it `commits_alone`.

    `frees` says whether somebody may wait for the execution's key or for a place.
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
        execution_failed.send(WorkflowExecution, execution_id=execution_id, state=state.value)
    execution_finished.send(WorkflowExecution, **ended)
    transaction.on_commit(
        partial(execution_ended.send_robust, WorkflowExecution, **ended), robust=True
    )
