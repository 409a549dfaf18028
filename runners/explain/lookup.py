"""What is looked up to explain an execution's runs: a fixed number of queries, each bounded."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Exists, Max, OuterRef, Q, Value
from django.db.models.functions import Sign, StrIndex

from executions.definition.graph.places import find, module_in
from executions.definition.limits import limits
from executions.definition.versions import Compiled
from executions.models import WorkflowExecution, WorkflowVersion
from runners import statements
from runners.explain.holds import hold_reasons
from runners.explain.steps import COUNTED, SILENT_SECONDS, Around
from runners.models import Run, Runner, Waiter
from runners.ports import open_dead_letters
from runners.states import IDENTITY, LIVE, RunState, WaitKind

COLUMNS = (
    "id", "step_path", "task_id", "attempt", "budget_start", "state", "queue", "leased_by",
    "lease_until", "deadline_at", "heartbeat_at", "waits_for", "progress", "retry_after", "due_at",
    "published_at", "publications", "queued_at", "started_at", "finished_at", "error", "error_type",
    "suspect", "crashes", "crash_cause",
)  # fmt: skip
FILTER = "filter"
MOST_QUEUES = 20


def live_and_dead(row: WorkflowExecution, most: int) -> tuple[list[Run], bool]:
    """The live runs and those that failed for good, and whether there are more than `most`.

    The workflow's own steps come first, then those of bodies, the oldest before.
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
    """What the reasons of these runs depend on."""
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
    """The queues of workers that were seen lately and are not leaving."""
    lately = now - timedelta(seconds=SILENT_SECONDS)
    found = Runner.objects.filter(seen_at__gte=lately, leaving_at__isnull=True)
    return frozenset(name for names in found.values_list("queues", flat=True) for name in names)


def _remote(row: WorkflowExecution, runs: Sequence[Run]) -> Mapping[str, datetime | None]:
    """The queues of remote runners for which these runs wait, and who was last seen there."""
    pending = {run.queue for run in runs if run.state == RunState.PENDING}
    waiting = sorted(pending & limits().remote_queues)
    return {queue: _last_seen(row.workspace_id, queue) for queue in waiting[:MOST_QUEUES]}


def _last_seen(workspace_id: UUID, queue: str) -> datetime | None:
    own = Runner.objects.filter(workspace_id=workspace_id, queues__contains=[queue])
    seen: datetime | None = own.aggregate(seen=Max("seen_at"))["seen"]
    return seen


def _before(row: WorkflowExecution, sent: Sequence[Run]) -> Mapping[UUID, int]:
    """How many messages are before each run's: others' that were sent earlier, and its own kin."""
    by_queue: dict[str, list[Run]] = defaultdict(list)
    for run in sorted(sent, key=lambda run: (run.published_at, run.pk)):
        by_queue[run.queue].append(run)
    if not by_queue:
        return {}
    found = statements.fetch(
        "backlog",
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
    """The error of the attempt before, of each run that is a retry."""
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
        retries[path, attempt]: error
        for path, attempt, error in found
        if (path, attempt) in retries
    }


def _most(version: Compiled, runs: Sequence[Run]) -> Mapping[UUID, int]:
    retries = [run for run in runs if run.retry_after]
    return {run.pk: find(version.graph, run.step_path)[1].retry.max_attempts for run in retries}


def _noticed(runs: Sequence[Run]) -> Mapping[UUID, datetime]:
    """Since when each waiting run listens to the outside."""
    waiting = [run.pk for run in runs if run.state == RunState.WAITING]
    if not waiting:
        return {}
    return dict(Waiter.objects.filter(run_id__in=waiting).values_list("run_id", "created_at"))


def _filters(row: WorkflowExecution, runs: Sequence[Run]) -> Mapping[UUID, str]:
    """The filters of the events that are waited for, as their author wrote them."""
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
    """The open dead letters of dead runs, by run."""
    dead = [run.pk for run in runs if run.state == RunState.DLQ]
    return open_dead_letters(dead) if dead else {}
