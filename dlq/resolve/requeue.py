"""A dead letter goes home: a new run of its step in the same execution, which goes on."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import transaction
from uuid6 import uuid7

from dlq.models import Resolution
from dlq.resolve import transitions
from executions import lifecycle as executions
from executions.access.actor import Actor
from runners.models import Run
from runners.repair import reruns
from runners.repair.approvals import refuse_other_inputs
from runners.repair.forks import names_of


def requeue(
    entry_id: UUID,
    *,
    actor: Actor,
    overrides: Mapping[str, Any] | None = None,
    reason: str = "",
    yields: int = 0,
) -> Run:
    """Start a new run of the dead step; its execution goes from FAILED back to RUNNING.

    `overrides` are merged into the step's rendered inputs, nested keys too. The step has a new
    retry budget. After a permanent error, or with overrides, its idempotency key is a new one.
    The run's priority is its execution's less `yields`. Raises NotFound; WrongState when the entry
    is resolved already, or its execution is over in another way; ApprovalNeeded for overrides of
    an approval.
    """
    entry = transitions.find(entry_id)
    if overrides:
        refuse_other_inputs(entry.module, entry.step_path)
    run_id = uuid7()
    with transaction.atomic():
        transitions.must_be_open(entry, "requeued")
        execution = executions.reopen(entry.execution_id, workspace_id=entry.workspace_id)
        reruns.again(
            execution,
            entry.run_id,
            run_id=run_id,
            overrides=dict(overrides) if overrides else None,
            new_key=entry.error_type == "PERMANENT",
            priority=yielding(execution.priority, yields),
        )
        transitions.resolve(
            entry,
            Resolution.REQUEUED,
            actor=actor,
            notes=reason,
            # Their names alone: the values are in the run, and the trail cannot be cleaned of them.
            details={"runId": str(run_id), "overrides": names_of(overrides or {})},
            requeued_run_id=run_id,
        )
        executions.announce(execution)
    return Run.objects.get(pk=run_id)


def yielding(priority: int, yields: int) -> int:
    """A priority that lets others go first; 0 is the last."""
    return max(0, priority - yields)
