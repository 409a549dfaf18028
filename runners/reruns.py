"""A further run of a step that failed for good, for who mends it."""

from typing import Any
from uuid import UUID

from executions.errors import WrongState
from executions.graph.places import find
from executions.models import WorkflowExecution
from executions.versions import compiled
from runners import inserting, rows
from runners.journey import Journey
from runners.models import Run
from runners.prepare import merged


def again(
    execution: WorkflowExecution,
    dead_run_id: UUID,
    *,
    run_id: UUID,
    overrides: Any,
    new_key: bool,
) -> None:
    """Insert the next attempt of a dead run's step, pending, with a new retry budget.

    The caller holds the execution's lock. Raises WrongState when the run is not the step's newest
    or not dead, or belongs to a time before a roll-back.
    """
    dead = newest_dead(execution, dead_run_id)
    version = compiled(execution.version_id)
    place, step = find(version.graph, dead.step_path)
    journey = Journey(
        execution_id=execution.pk,
        version=version,
        place=place,
        segment=dead.step_path,
        queue="",
        epoch=execution.epoch,
        priority=execution.priority,
        started_at=None,
        input=None,
        variables={},
        resumed=True,
    )
    attempt = dead.attempt + 1
    added = inserting.insert(
        journey,
        [
            rows.pending(
                step,
                place.prefix,
                attempt=attempt,
                budget=attempt,
                overrides=_overrides(dead.overrides, overrides, attempt, new_key=new_key),
                run_id=run_id,
            )
        ],
    )
    if not added:
        raise WrongState(
            f"Step {dead.step_path} has a live or successful run already; nothing was done.",
            dead.state,
        )


def newest_dead(execution: WorkflowExecution, dead_run_id: UUID) -> Run:
    """The dead run, if it is its step's newest attempt; raises WrongState."""
    dead = Run.objects.only(
        "id", "execution_id", "epoch", "step_path", "attempt", "state", "overrides", "superseded"
    ).get(pk=dead_run_id)
    newest = (
        Run.objects.filter(
            execution_id=execution.pk,
            epoch=execution.epoch,
            step_path=dead.step_path,
            superseded=False,
        )
        .order_by("-attempt")
        .values_list("pk", flat=True)
        .first()
    )
    if dead.state != "DLQ" or newest != dead.pk:
        raise WrongState(
            f"Run {dead.pk} of step {dead.step_path} is not the step's newest attempt any more; "
            "nothing was done.",
            dead.state,
        )
    return dead


def _overrides(before: Any, inputs: Any, attempt: int, *, new_key: bool) -> Any:
    """What the run carries: merged inputs, and a salt that makes its idempotency key a new one."""
    earlier = before or {}
    out: dict[str, Any] = {}
    if inputs or earlier.get("inputs"):
        out["inputs"] = merged(earlier.get("inputs") or {}, inputs or {})
    salt = str(attempt) if new_key else earlier.get("salt")
    if salt:
        out["salt"] = salt
    return out or None
