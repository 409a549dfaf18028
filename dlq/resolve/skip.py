"""A dead letter is skipped: its execution goes on without the step, and without its followers."""

from uuid import UUID

from django.db import transaction
from uuid6 import uuid7

from dlq.models import Resolution
from dlq.resolve import transitions
from executions import lifecycle as executions
from executions.access.actor import Actor
from executions.models import WorkflowExecution
from runners.models import Run
from runners.repair import skip_step


def skip(entry_id: UUID, *, actor: Actor, reason: str = "") -> Run:
    """Record the dead step as skipped, and go on as the graph does past a step not taken.

    What depends on it alone is skipped too; a join that wants any of several edges goes on with
    the others. Raises NotFound; WrongState as `requeue`.
    """
    entry = transitions.find(entry_id)
    transitions.must_be_open(entry, "skipped")
    run_id = uuid7()
    note = f"Skipped by {actor.name} (dead letter {entry.pk})."
    with transaction.atomic():
        execution: WorkflowExecution = executions.reopen(
            entry.execution_id, workspace_id=entry.workspace_id
        )
        skip_step.skip(execution, entry.run_id, run_id=run_id, note=note)
        transitions.resolve(
            entry,
            Resolution.SKIPPED,
            actor=actor,
            notes=reason,
            details={"runId": str(run_id)},
            requeued_run_id=run_id,
        )
        executions.announce(execution)
    return Run.objects.get(pk=run_id)
