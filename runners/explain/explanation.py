"""Explain an execution: reasons for steps, counts for containers, and the underlying facts."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, Max, OuterRef, Q, Value
from django.db.models.functions import Sign, StrIndex

from executions.database.clock import database_now
from executions.definition.graph.model import Graph, Task
from executions.definition.graph.places import Place, find, module_in, place_of, split
from executions.definition.graph.plan import StepFact, StepStatus, task_outcomes
from executions.definition.graph.undo import UndoStatus
from executions.definition.limits import limits
from executions.definition.versions import Compiled, compiled
from executions.explain.execution import reason_of
from executions.explain.reason import Reason, some
from executions.models import WorkflowExecution, WorkflowVersion
from executions.sealing.sealer import opened_text
from executions.states import ExecutionState
from runners import statements
from runners.explain.holds import hold_reasons
from runners.explain.steps import COUNTED, Around, step_reason
from runners.models import Run, Runner, Waiter
from runners.planning import compensation
from runners.planning.plan_from_rows import facts_of
from runners.ports import open_dead_letters
from runners.states import IDENTITY, LIVE, RunState, WaitKind

# Find the tasks that have not begun, and the predecessors that they wait for. Pure.


def waiting_tasks(
    graph: Graph, prefix: str, facts: Mapping[int, StepFact]
) -> list[tuple[Task, Reason]]:
    """Return the tasks of a place that wait for other tasks, with reasons, in the graph's order."""
    outcomes = task_outcomes(graph, facts)
    begun = {graph.steps.task_of[index] for index in facts}
    dead = {graph.steps.task_of[i] for i, fact in facts.items() if fact.status is StepStatus.DEAD}
    found = []
    for number in graph.order:
        task = graph.tasks[number]
        if number in outcomes or number in begun:
            continue
        before = sorted({e.source for e in task.incoming if e.source not in outcomes})
        if before:
            names = [prefix + graph.tasks[source].id for source in before]
            stuck = [prefix + graph.tasks[source].id for source in before if source in dead]
            found.append((task, _reason(names, stuck)))
    return found


def _reason(names: list[str], stuck: list[str]) -> Reason:
    if stuck:
        return Reason(
            "blocked_by_dead_step",
            f"It waits for {some(names)}; {some(stuck)} failed permanently.",
            details={"tasks": names, "dead": stuck},
        )
    return Reason("waiting_for_tasks", f"It waits for {some(names)}.", details={"tasks": names})


# Queries that explain an execution's runs: a fixed number of queries, each with a limit.


COLUMNS = (
    "id", "step_path", "task_id", "attempt", "budget_start", "state", "queue", "leased_by",
    "lease_until", "deadline_at", "heartbeat_at", "waits_for", "progress", "retry_after", "due_at",
    "published_at", "publications", "queued_at", "started_at", "finished_at", "error", "error_type",
    "suspect", "crashes", "crash_cause",
)  # fmt: skip
FILTER = "filter"
MOST_QUEUES = 20


def live_and_dead(row: WorkflowExecution, most: int) -> tuple[list[Run], bool]:
    """Return at most `most` live and dead runs, and whether there are more.

    Omits dead runs of steps that also have a live, successful or skipped run. The workflow's own
    steps come first, then the steps of bodies, the oldest first.
    """
    own = Run.objects.filter(execution_id=row.pk, epoch=row.epoch, superseded=False)
    again = own.filter(step_path=OuterRef("step_path"), state__in=sorted(IDENTITY))
    found: list[Any] = list(
        own.filter(state__in=[*sorted(LIVE), RunState.DLQ])
        .filter(~Q(state=RunState.DLQ) | ~Exists(again))
        .annotate(in_body=Sign(StrIndex("step_path", Value("["))))
        .order_by("in_body", "id")
        .only(*COLUMNS)[: most + 1]
    )
    return found[:most], len(found) > most


def look_around(
    row: WorkflowExecution, version: Compiled, runs: Sequence[Run], now: datetime
) -> Around:
    """Return the facts that determine the reasons of these runs."""
    sent = [run for run in runs if run.state == RunState.PENDING and run.published_at]
    noticed = _noticed(runs)
    return Around(
        now=now,
        state=row.state,
        place=row.place,
        served=_served(now) if sent else frozenset(),
        before=_before(row, sent),
        failed=_failed(row, runs),
        most=_most(version, runs),
        noticed=noticed,
        filters=_filters(row, runs),
        children=_children(runs),
        letters=_letters(runs),
        remote=_remote(row, runs),
        holds=hold_reasons(row.workspace_id, runs, noticed, now),
        test=version.test,
    )


def _served(now: datetime) -> frozenset[str]:
    """Return the queues with live workers."""
    live = Runner.objects.live(now)
    return frozenset(name for names in live.values_list("queues", flat=True) for name in names)


def _remote(row: WorkflowExecution, runs: Sequence[Run]) -> Mapping[str, datetime | None]:
    """Map at most 20 remote queues of pending runs to when a runner was last seen, or None."""
    pending = {run.queue for run in runs if run.state == RunState.PENDING}
    waiting = sorted(pending & limits().remote_queues)
    return {queue: _last_seen(row.workspace_id, queue) for queue in waiting[:MOST_QUEUES]}


def _last_seen(workspace_id: UUID, queue: str) -> datetime | None:
    own = Runner.objects.filter(workspace_id=workspace_id, queues__contains=[queue])
    seen: datetime | None = own.aggregate(seen=Max("seen_at"))["seen"]
    return seen


def _before(row: WorkflowExecution, sent: Sequence[Run]) -> Mapping[UUID, int]:
    """Return how many messages precede each run's message in its queue, keyed by run ID.

    Counts the messages of this execution, and at most 10,000 messages of other executions.
    """
    by_queue: dict[str, list[Run]] = defaultdict(list)
    for run in sorted(sent, key=lambda run: (run.published_at, run.pk)):
        by_queue[run.queue].append(run)
    if not by_queue:
        return {}
    found = statements.fetch(
        "count_runs_sent_before",
        {
            "execution": row.pk,
            "queues": list(by_queue),
            "times": [own[0].published_at for own in by_queue.values()],
            "most": COUNTED,
        },
    )
    others: dict[str, int] = dict(found)
    return {
        run.pk: others.get(queue, 0) + number
        for queue, own in by_queue.items()
        for number, run in enumerate(own)
    }


def _failed(row: WorkflowExecution, runs: Sequence[Run]) -> Mapping[UUID, str]:
    """Return the previous attempt's error of each run that is a retry, keyed by run ID."""
    retries = {(run.step_path, run.attempt - 1): run.pk for run in runs if run.retry_after}
    if not retries:
        return {}
    found = Run.objects.filter(
        execution_id=row.pk,
        epoch=row.epoch,
        state=RunState.FAILED,
        step_path__in=[path for path, _ in retries],
    ).values_list("step_path", "attempt", "error")
    return {
        retries[path, attempt]: opened_text(row.pk, error, "error", path)
        for path, attempt, error in found
        if (path, attempt) in retries
    }


def _most(version: Compiled, runs: Sequence[Run]) -> Mapping[UUID, int]:
    retries = [run for run in runs if run.retry_after]
    return {run.pk: find(version.graph, run.step_path)[1].retry.max_attempts for run in retries}


def _noticed(runs: Sequence[Run]) -> Mapping[UUID, datetime]:
    """Return the time since which each waiting run accepts outside events, keyed by run ID."""
    waiting = [run.pk for run in runs if run.state == RunState.WAITING]
    if not waiting:
        return {}
    return dict(Waiter.objects.filter(run_id__in=waiting).values_list("run_id", "created_at"))


def _filters(row: WorkflowExecution, runs: Sequence[Run]) -> Mapping[UUID, str]:
    """Return the event filters of waiting runs as the author wrote them, keyed by run ID."""
    waiting = [run for run in runs if run.waits_for == WaitKind.EVENT]
    if not waiting:
        return {}
    definition: Any = WorkflowVersion.objects.values_list("definition", flat=True).get(
        pk=row.version_id
    )
    texts = {
        run.pk: (module_in(definition, run.step_path) or {}).get("with", {}) for run in waiting
    }
    return {pk: str(given[FILTER]) for pk, given in texts.items() if given.get(FILTER)}


def _children(runs: Sequence[Run]) -> Mapping[str, str]:
    ids = [
        (run.progress or {}).get("executionId") for run in runs if run.waits_for == WaitKind.CHILD
    ]
    if not ids:
        return {}
    found = WorkflowExecution.objects.filter(pk__in=[pk for pk in ids if pk])
    return {str(pk): state for pk, state in found.values_list("pk", "state")}


def _letters(runs: Sequence[Run]) -> Mapping[UUID, UUID]:
    """Return the IDs of the open dead letters of dead runs, keyed by run ID."""
    dead = [run.pk for run in runs if run.state == RunState.DLQ]
    return open_dead_letters(dead) if dead else {}


MAX_RUNS = 500
MAX_PLACES = 20
MAX_PATHS = 20_000
MAX_TASKS = 500


@dataclass(frozen=True, slots=True)
class Explained:
    """A live or dead step, or an unstarted task or undo step, which has no run and no state."""

    path: str
    task_id: UUID
    run_id: UUID | None
    state: str | None
    attempt: int | None
    reason: Reason


@dataclass(frozen=True, slots=True)
class Counted:
    """The number of live runs of one state in a container's bodies; `container` omits indexes."""

    container: str
    state: str
    runs: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """Reasons for the states of an execution and its steps; `more` is true if some are omitted."""

    execution_id: UUID
    state: str
    at: datetime
    reason: Reason
    steps: list[Explained]
    containers: list[Counted]
    more: bool


def explain(row: WorkflowExecution) -> Explanation:
    """Return the reasons for the states of an execution and of its unfinished and dead steps.

    Uses about fifteen queries, and one for each remote queue with pending runs (at most 20).
    """
    now = database_now()
    version = compiled(row.version_id)
    runs, more = live_and_dead(row, MAX_RUNS)
    around = look_around(row, version, runs, now)
    steps = [_explained(run, step_reason(run, around)) for run in runs]
    tasks, left_out = (_undos if row.compensation else _tasks)(row, version, runs)
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
    """Return the tasks that wait for others, even in open bodies, and whether any were omitted."""
    if row.state not in (ExecutionState.RUNNING, ExecutionState.PAUSED, ExecutionState.FAILED):
        return [], False
    if row.state == ExecutionState.FAILED and not runs:
        return [], False
    places, left_out = _places(version, runs)
    paths = [place.prefix + path for place in places for path in place.graph.by_path]
    rows_of: dict[str, list[tuple[object, ...]]] = {place.prefix: [] for place in places}
    found = statements.fetch(
        "step_states", {"execution": row.pk, "epoch": row.epoch, "paths": paths}
    )
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


def _undos(
    row: WorkflowExecution, version: Compiled, runs: list[Run]
) -> tuple[list[Explained], bool]:
    """Return the undo steps that have not started, in order, and whether some were omitted."""
    found = compensation.remaining(row.pk, row.epoch, version.graph, MAX_TASKS + 1)
    explained = []
    for (before, _), (path, standing) in zip([("", None), *found], found, strict=False):
        if standing is not UndoStatus.DUE:
            continue
        after = f" It runs after {before}." if before else ""
        reason = Reason("waits_to_be_undone", f"It waits for other undo steps.{after}")
        task_id = find(version.graph, path)[1].task_uuid
        explained.append(Explained(path, task_id, None, None, None, reason))
    return explained[:MAX_TASKS], len(explained) > MAX_TASKS


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
