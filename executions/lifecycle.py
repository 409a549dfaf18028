"""Change the state of an execution: one guarded transition per function.

`admission/capacity.py` admits executions, `compensation.py` undoes them, and `end_as_success.sql`
and `record_only_step_and_end.sql` of `runners/sql` end them. A function locks the execution before
it ends or wakes the runs in a later statement. So it cannot miss a claim, which locks the execution
FOR SHARE.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from executions import compensation, payloads, ports
from executions.access.actor import Actor, record
from executions.access.operation import Operation
from executions.admission import capacity, ended
from executions.admission.capacity import admitted, limited, request_slot
from executions.admission.reopening import must_wait
from executions.database import statements, transaction
from executions.database.clock import ClockTimestamp, Deadline
from executions.definition.versions import compiled
from executions.errors import NotFound, WrongState
from executions.events import (
    execution_resumed,
)
from executions.models import WorkflowExecution
from executions.sealing.columns import stored
from executions.sealing.sealer import PayloadSealer
from executions.states import (
    FINAL,
    UNFINISHED,
    CapacityState,
    CompensationState,
    ExecutionState,
)

State = ExecutionState


def pause(execution_id: UUID, *, actor: Actor, reason: str = "") -> WorkflowExecution:
    """Pause an execution: no new step starts; running steps finish and are recorded.

    Raises NotFound or WrongState.
    """
    with transaction.atomic():
        execution = _locked(execution_id, "pause", State.RUNNING)
        _write(execution, State.PAUSED)
        _audit(actor, "execution.pause", execution, State.PAUSED, reason)
    return _fresh(execution_id)


def resume(execution_id: UUID, *, actor: Actor, reason: str = "") -> WorkflowExecution:
    """Resume a paused execution, whose timeout kept running. Raises NotFound or WrongState."""
    with transaction.atomic():
        execution = _locked(execution_id, "resume", State.PAUSED)
        if execution.compensation == CompensationState.WAITING:
            compensation.refuse(execution, "resume")
        _write(execution, State.RUNNING)
        execution_resumed.send(WorkflowExecution, execution_id=execution_id)
        _audit(actor, "execution.resume", execution, State.RUNNING, reason)
    return _fresh(execution_id)


def cancel(execution_id: UUID, *, actor: Actor, reason: str = "") -> WorkflowExecution:
    """Cancel an execution and its live runs, whose results are rejected.

    Running steps that have an undo may finish, however; the execution ends once all successful
    steps with an undo are undone. Raises the errors of `pause`.
    """
    with transaction.atomic():
        execution = _locked(execution_id, "cancel", State.PENDING, State.RUNNING, State.PAUSED)
        compensation.refuse(execution, "be cancelled")
        _end(execution, State.CANCELLED, message=f"Cancelled by {actor.name}.")
        _audit(actor, "execution.cancel", execution, State.CANCELLED, reason)
    return _fresh(execution_id)


def time_out(execution_id: UUID) -> bool:
    """Time out an overdue execution; return False if it is missing, over or being undone."""
    with transaction.atomic():
        execution = _lock(execution_id)
        if execution is None or execution.state in FINAL or execution.compensation:
            return False
        _end(execution, State.TIMEOUT, message="The execution's deadline passed.")
    return True


def finish(
    execution_id: UUID,
    state: ExecutionState,
    *,
    output: Any = None,
    error_message: str = "",
    stack_trace: str = "",
    metrics: Any = None,
    sealer: PayloadSealer,
) -> None:
    """Move a RUNNING execution to SUCCESS or FAILED. Raises WrongState if it is not RUNNING.

    The caller holds the execution's lock and saw it RUNNING.
    """
    text = None if output is None else sealer.json(payloads.dump(output, "output"), "output")
    moved = statements.fetch(
        "end_execution",
        {
            "execution": execution_id,
            "state": state.value,
            "output": text,
            "error_message": sealer.text(error_message, "error_message"),
            "stack_trace": sealer.text(stack_trace, "error_stack_trace"),
            "metrics": None if metrics is None else payloads.dump(metrics, "metrics"),
        },
    )
    if not moved:
        raise WrongState(f"Execution {execution_id} is not RUNNING; it cannot end as {state}.", "")
    parent_run_id, trigger_id, frees = moved[0]
    ended.tell(execution_id, state, parent_run_id, trigger_id, frees=frees)


def undo(execution_id: UUID, *, actor: Actor, reason: str = "") -> WorkflowExecution:
    """Begin to undo a FAILED execution; later, only dead letters of undo steps can be requeued.

    Raises NotFound or WrongState.
    """
    with transaction.atomic():
        workspace_id = _workspace(execution_id)
        waits = must_wait(execution_id, workspace_id)
        execution = _locked(execution_id, "be undone", State.FAILED)
        compensation.refuse(execution, "be undone")
        target = State.PENDING if waits else State.RUNNING
        _write(execution, target, place=CapacityState.HELD, finished_at=None)
        before, execution.state = execution.state, target
        if not compensation.begin(execution, State.FAILED):
            raise WrongState(
                f"Execution {execution_id} has nothing to undo: none of its successful steps has "
                "an undo step.",
                before,
            )
        execution.state = before
        _audit(actor, "execution.undo", execution, target, reason)
    return _fresh(execution_id)


def reopen(execution_id: UUID, *, workspace_id: UUID, undoing: bool = False) -> WorkflowExecution:
    """Reopen an execution for a dead letter's new run.

    Call it in a transaction, before other locks. RUNNING and PAUSED executions keep their state;
    those that released their slot request one. A FAILED execution moves to RUNNING with its
    remaining time (at least 60 s), or to PENDING if its workspace is full or its concurrency key is
    in use. If the dead letter belongs to an undo step (`undoing`), the compensation continues.
    Raises NotFound, WrongState, and Compensated as `compensation.refuse` does.
    """
    waits = must_wait(execution_id, workspace_id)
    execution = _locked(execution_id, "go on", State.RUNNING, State.PAUSED, State.FAILED)
    compensation.refuse(execution, "go on", undoing=undoing)
    if execution.compensation:
        target = State.PENDING if waits else State.RUNNING
        _write(
            execution,
            target,
            compensation=CompensationState.RUNNING,
            place=CapacityState.HELD,
            finished_at=None,
            metrics_snapshot=None,
        )
        execution.state = target
    elif execution.state == State.FAILED:
        _refuse_orphan(execution_id)
        left = execution.timeout_seconds
        if execution.deadline_at and execution.finished_at:
            left = max(60.0, (execution.deadline_at - execution.finished_at).total_seconds())
        target = State.PENDING if waits else State.RUNNING
        WorkflowExecution.objects.filter(pk=execution_id, state=State.FAILED).update(
            state=target,
            place=CapacityState.HELD,
            finished_at=None,
            error_message="",
            error_stack_trace="",
            metrics_snapshot=None,
            deadline_at=None if left is None else Deadline(left),
        )
        execution.state = target
    else:
        request_slot([execution_id])
    return execution


@dataclass(frozen=True, slots=True)
class Reopenable:
    """A locked execution to which a dead letter's new run may be added."""

    id: UUID
    state: str
    epoch: int
    priority: int
    version_id: UUID


def lock_to_reopen(execution_ids: Sequence[UUID], *, workspace_id: UUID) -> list[Reopenable]:
    """Lock and return those of the executions that can be reopened together.

    Call it before other locks. Returns [] if the workspace limits concurrent executions. Omits
    executions that others have locked, and those for `reopen` to handle or reject: children, and
    executions with a concurrency key, without a slot, undone, or not RUNNING, PAUSED or FAILED.
    """
    if limited(workspace_id):
        return []
    rows = statements.fetch("lock_to_reopen", {"ids": list(execution_ids)})
    return [Reopenable(*row) for row in rows]


def reopen_many(executions: Sequence[Reopenable]) -> None:
    """Reopen executions that `lock_to_reopen` locked: FAILED ones move to RUNNING."""
    ids = [execution.id for execution in executions if execution.state == State.FAILED]
    if ids:
        statements.fetch("reopen", {"ids": ids})


def announce(execution: WorkflowExecution) -> None:
    """If a reopened execution is RUNNING, wake it and send `execution_admitted`."""
    if execution.state == State.RUNNING:
        capacity.announce([admitted(execution, fresh=False)], WorkflowExecution)


def _refuse_orphan(execution_id: UUID) -> None:
    """Raise WrongState for a child whose parent was cancelled or has timed out."""
    row = (
        WorkflowExecution.objects.filter(
            pk=execution_id, parent__state__in=[State.CANCELLED, State.TIMEOUT]
        )
        .values_list("parent_id", "parent__state")
        .first()
    )
    if row is not None:
        raise WrongState(
            f"Execution {execution_id} cannot continue: its parent execution {row[0]} is "
            f"{row[1]}. Start its workflow again instead.",
            State.FAILED,
        )


def _workspace(execution_id: UUID) -> UUID:
    found = WorkflowExecution.objects.filter(pk=execution_id).values_list("workspace_id", flat=True)
    workspace_id = found.first()
    if workspace_id is None:
        raise NotFound(f"There is no execution {execution_id}.")
    return workspace_id


def _end(execution: WorkflowExecution, state: ExecutionState, *, message: str) -> None:
    if compensation.begin(execution, state, error_message=message):
        return
    _write(
        execution,
        state,
        place=CapacityState.HELD,
        finished_at=ClockTimestamp(),
        error_message=message,
    )
    figures = ports.end_runs(execution.pk)
    WorkflowExecution.objects.filter(pk=execution.pk).update(metrics_snapshot=figures)
    ended.tell(execution.pk, state, execution.parent_run_id, execution.trigger_id)


def _write(execution: WorkflowExecution, state: ExecutionState, **changes: Any) -> None:
    moved = WorkflowExecution.objects.filter(pk=execution.pk, state=execution.state).update(
        state=state, **stored(execution, **changes)
    )
    assert moved == 1, "the row is locked"


def _lock(execution_id: UUID) -> WorkflowExecution | None:
    return (
        WorkflowExecution.objects.select_for_update(no_key=True)
        .only(
            "id",
            "workspace_id",
            "workflow_id",
            "version_id",
            "state",
            "epoch",
            "priority",
            "timeout_seconds",
            "deadline_at",
            "finished_at",
            "parent_run_id",
            "trigger_id",
            "compensation",
        )
        .filter(pk=execution_id)
        .first()
    )


def _locked(execution_id: UUID, verb: str, *expected: ExecutionState) -> WorkflowExecution:
    execution = _lock(execution_id)
    if execution is None:
        raise NotFound(f"There is no execution {execution_id}.")
    if execution.state not in expected:
        wanted = " or ".join(expected)
        raise WrongState(
            f"Execution {execution_id} cannot {verb}: it is {execution.state}, and must be "
            f"{wanted}.",
            execution.state,
        )
    return execution


def _audit(
    actor: Actor, action: str, execution: WorkflowExecution, target: ExecutionState, reason: str
) -> None:
    record(
        actor,
        action,
        workspace_id=execution.workspace_id,
        object_type="WorkflowExecution",
        object_id=execution.pk,
        reason=reason,
        before={"state": execution.state},
        after={"state": target.value},
    )


def _fresh(execution_id: UUID) -> WorkflowExecution:
    return WorkflowExecution.objects.get(pk=execution_id)


def _applying(move: Callable[..., WorkflowExecution]) -> Callable[..., WorkflowExecution]:
    def apply(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> WorkflowExecution:
        return move(pk, actor=actor, reason=data["reason"])

    return apply


def _refuse_unless(*states: str) -> Callable[[WorkflowExecution], str]:
    def refuse(row: WorkflowExecution) -> str:
        if row.state in states:
            return ""
        return f"Not possible: this execution is {ExecutionState(row.state).label}."

    return refuse


def _refuse_cancel(row: WorkflowExecution) -> str:
    if row.compensation and row.state in UNFINISHED:
        return "This execution is being undone and then ends. You cannot cancel it."
    return _refuse_unless(*UNFINISHED)(row)


def _refuse_undo(row: WorkflowExecution) -> str:
    if row.state != ExecutionState.FAILED:
        return f"Not possible: this execution is {ExecutionState(row.state).label}."
    if row.compensation:
        return "This execution was already undone."
    if not compiled(row.version_id).graph.undone:
        return "No task of this workflow has an undo step."
    return ""


CANCEL = Operation(
    name="cancel",
    apply=_applying(cancel),
    refuse=_refuse_cancel,
)
UNDO = Operation(
    name="undo",
    apply=_applying(undo),
    refuse=_refuse_undo,
)
PAUSE = Operation(
    name="pause",
    apply=_applying(pause),
    refuse=_refuse_unless(ExecutionState.RUNNING),
)
RESUME = Operation(
    name="resume",
    apply=_applying(resume),
    refuse=_refuse_unless(ExecutionState.PAUSED),
)
