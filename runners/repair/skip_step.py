"""A dead step that a person passes over: recorded as skipped, so the graph goes on without it."""

from uuid import UUID

from executions.database.clock import ClockTimestamp
from executions.definition.graph.places import find
from executions.definition.versions import compiled
from executions.models import WorkflowExecution
from runners.models import Run
from runners.repair.reruns import newest_dead
from runners.states import RunState


def skip(execution: WorkflowExecution, dead_run_id: UUID, *, run_id: UUID, note: str) -> None:
    """Record the next attempt of a dead run's step as skipped.

    Its task ends there, the steps after it in its chain too: no edge out of it is taken, so what
    depends on it alone is skipped in turn. The caller holds the execution's lock and plans it
    afterwards. Raises WrongState as `reruns.again`.
    """
    dead = newest_dead(execution, dead_run_id)
    _, step = find(compiled(execution.version_id).graph, dead.step_path)
    Run.objects.create(
        pk=run_id,
        execution_id=execution.pk,
        epoch=execution.epoch,
        segment=dead.step_path,
        step_path=dead.step_path,
        task_id=step.task_uuid,
        module_id=step.module_uuid,
        module=step.module,
        attempt=dead.attempt + 1,
        budget_start=dead.attempt + 1,
        state=RunState.SKIPPED,
        queue=step.queue,
        priority=execution.priority,
        config_hash=step.config_hash,
        logs=[{"ms": 0, "level": "info", "message": note}],
        queued_at=ClockTimestamp(),
        started_at=ClockTimestamp(),
        finished_at=ClockTimestamp(),
    )
