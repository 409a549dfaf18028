"""Checkpoints: numbered copies of the variables; the steps' states are derived from the runs."""

from typing import Any
from uuid import UUID

from executions.public.access import Actor, record
from executions.public.configuration import read
from executions.public.database import transaction, uuid7
from executions.public.errors import NotFound, ValkyrError
from executions.public.models import WorkflowExecution
from valkyr_plugins.timetravel import statements
from valkyr_plugins.timetravel.conf import TimeTravelSettings
from valkyr_plugins.timetravel.models import Checkpoint, CheckpointKind

MAX_MANUAL = 100
EXPIRED_AT_ONCE = 1_000
MOST_EXPIRED = 100_000
FIRST = 0  # number of the checkpoint with which a fork begins; it is never deleted


class TooManyCheckpoints(ValkyrError):
    """The execution has the maximum number of manual checkpoints."""

    code = "too_many_checkpoints"


def take(
    execution_id: UUID,
    *,
    keep: int,
    kind: CheckpointKind = CheckpointKind.AUTO,
    step_path: str = "",
    name: str = "",
    actor: Actor | None = None,
) -> UUID:
    """Save the execution's current variables; return the checkpoint's ID. Uses one statement.

    The caller holds the execution's lock. Automatic checkpoints beyond the newest `keep` are
    deleted; manual ones are kept.
    """
    checkpoint_id: UUID = uuid7()
    statements.fetch(
        "take_checkpoint",
        {
            "id": checkpoint_id,
            "execution": execution_id,
            "kind": kind.value,
            "name": name,
            "step_path": step_path,
            "actor": actor.user_id if actor else None,
            "others": keep - 1 if kind == CheckpointKind.AUTO else keep,
        },
    )
    return checkpoint_id


def take_after_step(execution_id: UUID, keep: int, step_path: str) -> UUID:
    """Take a checkpoint for the engine, after a step; return its ID."""
    return take(execution_id, keep=keep, step_path=step_path)


def take_by_hand(execution_id: UUID, *, name: str, actor: Actor) -> Checkpoint:
    """Take a manual checkpoint of an execution in any state.

    Raises NotFound, or TooManyCheckpoints if the execution has 100 manual checkpoints.
    """
    with transaction.atomic():
        row = (
            WorkflowExecution.objects.select_for_update(no_key=True)
            .filter(pk=execution_id)
            .values_list("workspace_id", "state")
            .first()
        )
        if row is None:
            raise NotFound(f"There is no execution {execution_id}.")
        workspace_id, state = row
        _leave_room(execution_id)
        taken = take(
            execution_id, keep=1_000_000, kind=CheckpointKind.MANUAL, name=name, actor=actor
        )
        record(
            actor,
            "execution.checkpoint",
            workspace_id=workspace_id,
            object_type="WorkflowExecution",
            object_id=execution_id,
            details={"checkpointId": str(taken), "name": name, "state": state},
        )
    return Checkpoint.objects.get(pk=taken)


def begin(execution: WorkflowExecution, variables: dict[str, Any]) -> None:
    """Save the initial variables of a fork as its checkpoint number 0."""
    Checkpoint.objects.create(
        execution=execution,
        sequence=FIRST,
        step_path="",
        epoch=execution.epoch,
        variables=variables,
    )


def retention_hours() -> float:
    """Return for how many hours after an execution its checkpoints are kept; 0 means no limit."""
    return read(TimeTravelSettings).checkpoint_retention_hours


def expire() -> int:
    """Delete checkpoints whose retention is over; return their number, at most 100,000.

    An unfinished execution keeps its checkpoints, and a fork keeps its first one. With a retention
    of 0 hours, checkpoints are kept as long as their execution.
    """
    count = 0
    if retention_hours() == 0:
        return 0
    while count < MOST_EXPIRED:
        found = statements.fetch(
            "expire_checkpoints", {"hours": retention_hours(), "batch": EXPIRED_AT_ONCE}
        )
        count += len(found)
        if len(found) < EXPIRED_AT_ONCE:
            break
    return count


def _leave_room(execution_id: UUID) -> None:
    manual = Checkpoint.objects.filter(execution_id=execution_id, kind=CheckpointKind.MANUAL)
    count = manual.count()
    if count >= MAX_MANUAL:
        raise TooManyCheckpoints(
            f"Execution {execution_id} has {count} manual checkpoints, the maximum of "
            f"{MAX_MANUAL}. You can roll back to any finished step without a checkpoint."
        )
