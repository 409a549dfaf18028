"""An execution explained: its own reason, one a step that is not done, and counts by container."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from executions.database.clock import database_now
from executions.definition.graph.places import Place, place_of, split
from executions.definition.versions import Compiled, compiled
from executions.explain.lookup import reason_of
from executions.explain.reason import Reason
from executions.models import WorkflowExecution
from executions.states import ExecutionState
from runners import statements
from runners.explain.lookup import live_and_dead, look_around
from runners.explain.steps import step_reason
from runners.explain.tasks import waiting_tasks
from runners.models import Run
from runners.planning.plan_from_rows import facts_of
from runners.states import LIVE

MAX_RUNS = 500
MAX_PLACES = 20
MAX_PATHS = 20_000
MAX_TASKS = 500


@dataclass(frozen=True, slots=True)
class Explained:
    """One step or task that is not done; a task that has not begun has no run and no state."""

    path: str
    task_id: UUID
    run_id: UUID | None
    state: str | None
    attempt: int | None
    reason: Reason


@dataclass(frozen=True, slots=True)
class Counted:
    """How many live runs a container's bodies have in a state; the path is without indexes."""

    container: str
    state: str
    runs: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything that keeps an execution; `more` says that steps or tasks were left out."""

    execution_id: UUID
    state: str
    at: datetime
    reason: Reason
    steps: list[Explained]
    containers: list[Counted]
    more: bool


def explain(row: WorkflowExecution) -> Explanation:
    """Why an execution is not over, and each of its steps not done; some fifteen queries."""
    now = database_now()
    version = compiled(row.version_id)
    runs, more = live_and_dead(row, MAX_RUNS)
    around = look_around(row, version, runs, now)
    steps = [_explained(run, step_reason(run, around)) for run in runs]
    tasks, left_out = _tasks(row, version, runs)
    return Explanation(
        execution_id=row.pk,
        state=row.state,
        at=now,
        reason=reason_of(row),
        steps=steps + tasks,
        containers=_containers(row, runs),
        more=more or left_out,
    )


def _explained(run: Run, reason: Reason) -> Explained:
    return Explained(run.step_path, run.task_id, run.pk, run.state, run.attempt, reason)


def _tasks(
    row: WorkflowExecution, version: Compiled, runs: list[Run]
) -> tuple[list[Explained], bool]:
    """The tasks that wait for others, in the workflow and in the bodies that are under way."""
    if row.state not in (ExecutionState.RUNNING, ExecutionState.PAUSED, ExecutionState.FAILED):
        return [], False
    if row.state == ExecutionState.FAILED and not runs:
        return [], False
    places, left_out = _places(version, runs)
    paths = [place.prefix + path for place in places for path in place.graph.by_path]
    rows_of: dict[str, list[tuple[object, ...]]] = {place.prefix: [] for place in places}
    found = statements.fetch("facts", {"execution": row.pk, "epoch": row.epoch, "paths": paths})
    for fact in found:
        rows_of[split(fact[0])[0]].append(fact)
    tasks: list[Explained] = []
    for place in places:
        facts = facts_of(place.graph, rows_of[place.prefix])
        for task, reason in waiting_tasks(place.graph, place.prefix, facts):
            path = place.prefix + task.id
            task_id = place.graph.steps[task.steps[0]].task_uuid
            tasks.append(Explained(path, task_id, None, None, None, reason))
    return tasks[:MAX_TASKS], left_out or len(tasks) > MAX_TASKS


def _places(version: Compiled, runs: Iterable[Run]) -> tuple[list[Place], bool]:
    places = [Place("", version.graph)]
    budget = MAX_PATHS - len(version.graph.steps)
    for prefix in dict.fromkeys(split(run.step_path)[0] for run in runs):
        if not prefix:
            continue
        place = place_of(version.graph, prefix)
        budget -= len(place.graph.steps)
        if len(places) > MAX_PLACES or budget < 0:
            return places, True
        places.append(place)
    return places, False


def _containers(row: WorkflowExecution, runs: list[Run]) -> list[Counted]:
    if not any(run.state in LIVE and "[" in run.step_path for run in runs):
        return []
    found = statements.fetch("live_by_container", {"execution": row.pk})
    return [Counted(*fact) for fact in found]
