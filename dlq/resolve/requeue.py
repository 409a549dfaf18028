"""Requeue a dead letter: a new run of its step in the same execution, which continues."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from dlq.models import DeadLetterEntry, Resolution
from dlq.resolve import transitions
from dlq.resolve.transitions import GoneHome
from executions import lifecycle as executions
from executions import payload_store
from executions.access.actor import Actor
from executions.admission.capacity import limited
from executions.database import transaction
from executions.database.ids import uuid7
from executions.definition.graph.places import undoes
from executions.lifecycle import Reopenable
from executions.triggers.stored_input import StoredInput, row_of, value_of
from runners.models import Run
from runners.repair import changed_inputs, reruns
from runners.repair.forks import names_of
from runners.repair.permissions import refuse_other_inputs
from runners.repair.reruns import Rerun


def requeue(
    entry_id: UUID,
    *,
    actor: Actor,
    overrides: Mapping[str, Any] | StoredInput | None = None,
    reason: str = "",
    yields: int = 0,
) -> Run:
    """Start a new run of the dead step, and reopen the execution if it has failed.

    `overrides` are merged into the step's rendered inputs, including nested keys. The step gets a
    new retry budget. After a permanent error, or with overrides, its idempotency key changes. The
    run's priority is the priority of its execution minus `yields`. Large overrides are stored,
    unless they are given as a StoredInput or a transaction is open. Raises NotFound, WrongState if
    the entry is already resolved or the execution cannot continue (Compensated after an undo),
    ApprovalNeeded for overrides of an approval, and PayloadStoreUnavailable for large overrides.
    """
    entry = transitions.find(entry_id)
    if overrides:
        refuse_other_inputs(entry.module, entry.step_path)
    if overrides and payload_store.enabled():
        transitions.must_be_open(entry, "requeued")
        overrides = changed_inputs.put(entry.workspace_id, entry.execution_id, overrides)
    run_id = uuid7()
    with transaction.atomic():
        transitions.must_be_open(entry, "requeued")
        execution = executions.reopen(
            entry.execution_id,
            workspace_id=entry.workspace_id,
            undoing=undoes(entry.step_path),
        )
        reruns.again(
            execution,
            entry.run_id,
            run_id=run_id,
            overrides=row_of(overrides) or None,
            new_key=entry.error_type == "PERMANENT",
            priority=yielding(execution.priority, yields),
        )
        transitions.resolve(
            entry,
            Resolution.REQUEUED,
            actor=actor,
            notes=reason,
            # Only the names, because values could not be removed from the trail; they are in the
            # run.
            details={"runId": str(run_id), "overrides": names_of(value_of(overrides) or {})},
            requeued_run_id=run_id,
        )
        executions.announce(execution)
    return Run.objects.get(pk=run_id)


def yielding(priority: int, yields: int) -> int:
    """Return the priority minus `yields`, so that other runs go first; at least 0."""
    return max(0, priority - yields)


# Requeue many dead letters in one transaction, except dead letters that another transaction has
# locked.
#
# Lock order: executions, dead letters. The caller's own locks come before both.


@dataclass(frozen=True, slots=True)
class DeadStep:
    """An open dead letter whose step will run again; `overrides` are merged into the step's inputs.

    `overrides` may be a StoredInput.
    """

    entry_id: UUID
    run_id: UUID
    execution_id: UUID
    new_key: bool
    overrides: Mapping[str, Any] | StoredInput | None = None


@dataclass(frozen=True, slots=True)
class RequeuedTogether:
    """The dead letters that were requeued, with their new runs.

    `outdated` are dead letters whose step has run again since, or was rolled back.
    """

    runs: Mapping[UUID, UUID] = field(default_factory=dict)
    outdated: Sequence[UUID] = ()


def goes_alone(workspace_id: UUID) -> bool:
    """Return whether the workspace limits slots, so that each step needs its own transaction."""
    return limited(workspace_id)


def requeue_together(
    steps: Sequence[DeadStep],
    *,
    workspace_id: UUID,
    actor: Actor,
    notes: str,
    yields: int,
    object_type: str,
    object_id: UUID,
) -> RequeuedTogether:
    """Start new runs of several dead steps in the caller's transaction, as `requeue` does for one.

    A step is not changed, and is not in the result, if its dead letter is locked or resolved, or if
    `lock_to_reopen` omits its execution. The audit trail names `object_type` and `object_id` as the
    cause. The executions must hold no concurrency key and have no parent, and `goes_alone` must be
    False for their workspace. No other locks are then necessary.
    """
    opened = _locked(steps, workspace_id)
    steps = _still_open([step for step in steps if step.execution_id in opened])
    wanted = {
        step.entry_id: Rerun(
            run_id=uuid7(),
            dead_run_id=step.run_id,
            execution_id=step.execution_id,
            version_id=(execution := opened[step.execution_id]).version_id,
            epoch=execution.epoch,
            priority=yielding(execution.priority, yields),
            overrides=row_of(step.overrides),
            new_key=step.new_key,
        )
        for step in steps
    }
    added = reruns.again_many(list(wanted.values()))
    gone = {entry: rerun for entry, rerun in wanted.items() if rerun.run_id in added}
    executions.reopen_many([opened[pk] for pk in {rerun.execution_id for rerun in gone.values()}])
    if gone:
        moved = transitions.requeue_many(
            [GoneHome(entry, run_id=rerun.run_id) for entry, rerun in gone.items()],
            actor=actor,
            notes=notes,
            workspace_id=workspace_id,
            object_type=object_type,
            object_id=object_id,
        )
        assert len(moved) == len(gone), "the entries are locked and were open"
    return RequeuedTogether(
        {entry: rerun.run_id for entry, rerun in gone.items()},
        [entry for entry in wanted if entry not in gone],
    )


def _locked(steps: Iterable[DeadStep], workspace_id: UUID) -> dict[UUID, Reopenable]:
    ids = sorted({step.execution_id for step in steps})
    found = executions.lock_to_reopen(ids, workspace_id=workspace_id) if ids else []
    return {execution.id: execution for execution in found}


def _still_open(steps: Sequence[DeadStep]) -> list[DeadStep]:
    """Lock the open entries that no other transaction has locked; return their steps."""
    rows = DeadLetterEntry.objects.select_for_update(no_key=True, skip_locked=True).filter(
        pk__in=[step.entry_id for step in steps], resolution=Resolution.PENDING
    )
    open_ids = set(rows.order_by("pk").values_list("pk", flat=True))
    return [step for step in steps if step.entry_id in open_ids]
