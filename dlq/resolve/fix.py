"""A dead letter is fixed: a person gives the step's result, and the execution goes on with it."""

from typing import Any
from uuid import UUID

from django.db import transaction
from uuid6 import uuid7

from dlq.models import DeadLetterEntry, Resolution
from dlq.resolve import transitions
from executions import lifecycle as executions
from executions.access.actor import Actor
from executions.models import WorkflowExecution
from runners.models import Run
from runners.repair import manual_results


def fix(
    entry_id: UUID,
    outputs: Any,
    *,
    actor: Actor,
    outcome: str | None = None,
    notes: str = "",
) -> Run:
    """Record a further run of the dead step as a success with `outputs`, without executing it.

    A step that decides where to go on needs the `outcome` as well. What others read of the step is
    what is given here; the audit trail says by whom. Raises NotFound; WrongState as `requeue`;
    ResultRefused for a result that the step could not have come to.
    """
    entry = transitions.find(entry_id)
    transitions.must_be_open(entry, "fixed")
    version_id = WorkflowExecution.objects.values_list("version_id", flat=True).get(
        pk=entry.execution_id
    )
    given = manual_results.check(version_id, entry.step_path, outputs, outcome, _note(entry, actor))
    run_id = uuid7()
    with transaction.atomic():
        execution = executions.reopen(entry.execution_id, workspace_id=entry.workspace_id)
        manual_results.give(execution, entry.run_id, run_id=run_id, given=given)
        transitions.resolve(
            entry,
            Resolution.FIXED,
            actor=actor,
            notes=notes,
            details={"runId": str(run_id), "outcome": given.outcome},
            requeued_run_id=run_id,
        )
        executions.announce(execution)
    return Run.objects.get(pk=run_id)


def _note(entry: DeadLetterEntry, actor: Actor) -> str:
    return f"Not executed: {actor.name} gave this result (dead letter {entry.pk})."
