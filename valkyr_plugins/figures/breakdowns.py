"""The steps and versions of one workflow, read from its newest finished executions."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from executions.public.models import FINAL, VersionKind, WorkflowExecution
from runners.public.models import Run, RunState, WaitKind
from valkyr_plugins.figures.tally import COUNTERS, Histogram, Tally, bucket_of

EXECUTIONS = 200
RUNS = 20_000
FAILED = frozenset({RunState.FAILED, RunState.DLQ})
# Waits of containers and parents: their time is the time of the body or of the child.
HOLDERS = frozenset({WaitKind.BODY, WaitKind.CHILD})


@dataclass(slots=True)
class StepFigures:
    """One step, with all its iterations; times are in milliseconds."""

    place: str
    module: str
    attempts: int = 0
    failed: int = 0
    retries: int = 0
    total_ms: float = 0.0
    lengths: Histogram = field(default_factory=Histogram)

    @property
    def failure_rate(self) -> float:
        """Return the share of the step's attempts that failed; 0 if there are no attempts."""
        return self.failed / self.attempts if self.attempts else 0.0


@dataclass(frozen=True, slots=True)
class StepTable:
    """Steps, longest total time first."""

    steps: list[StepFigures]

    def share(self, step: StepFigures) -> float:
        """Return the step's share of the total time of all steps; 0 if that total is 0."""
        total = sum(each.total_ms for each in self.steps)
        return step.total_ms / total if total else 0.0


def newest(workflow_id: UUID, since: datetime) -> list[UUID]:
    """Return the IDs of a workflow's newest finished executions, created since a time; at most 200.

    Test runs are omitted.
    """
    rows = WorkflowExecution.objects.filter(
        workflow_id=workflow_id, created_at__gte=since, state__in=sorted(FINAL)
    ).exclude(version__kind=VersionKind.TEST)
    return list(rows.order_by("-created_at", "-id").values_list("pk", flat=True)[:EXECUTIONS])


def step_table(executions: list[UUID]) -> StepTable:
    """Return the steps' durations and failures in the executions, from at most 20,000 runs."""
    rows = Run.objects.filter(
        execution_id__in=executions, started_at__isnull=False, finished_at__isnull=False
    ).exclude(state__in=(RunState.SKIPPED, RunState.CANCELLED))
    found = list(
        rows.order_by().values_list(
            "step_path", "module", "state", "attempt", "waits_for", "duration_ms"
        )[:RUNS]
    )
    steps = sorted(_by_step(found).values(), key=lambda step: -step.total_ms)
    return StepTable(steps)


def place_of(path: str) -> str:
    """Return a step's path without iterations: `refine[2].draft.main` becomes `refine.draft.main`.

    This function is pure.
    """
    return ".".join(part.partition("[")[0] for part in path.split("."))


def _by_step(rows: Iterable[tuple[Any, ...]]) -> dict[str, StepFigures]:
    found: dict[str, StepFigures] = {}
    for path, module, state, attempt, waits_for, duration_ms in rows:
        place = place_of(path)
        step = found.setdefault(place, StepFigures(place, module))
        step.attempts += 1
        step.failed += state in FAILED
        step.retries += attempt > 1
        if duration_ms is not None and waits_for not in HOLDERS:
            step.total_ms += duration_ms
            step.lengths.add(bucket_of(duration_ms))
    return found


# Compare the versions of one workflow, based on its newest finished executions.


VERSION_EXECUTIONS = 1_000


@dataclass(slots=True)
class VersionFigures:
    """One version: the results and durations of its executions."""

    number: int
    version_id: UUID
    tally: Tally = field(default_factory=Tally)


def versions(workflow_id: UUID, since: datetime) -> list[VersionFigures]:
    """Return versions of the newest 1,000 ended executions created since a time, latest first."""
    rows: QuerySet[WorkflowExecution, Any] = WorkflowExecution.objects.filter(
        workflow_id=workflow_id, created_at__gte=since, state__in=sorted(FINAL)
    ).exclude(version__kind=VersionKind.TEST)
    found: dict[UUID, VersionFigures] = {}
    for number, version_id, state, started_at, finished_at in rows.order_by(
        "-created_at", "-id"
    ).values_list("version__number", "version_id", "state", "started_at", "finished_at")[
        :VERSION_EXECUTIONS
    ]:
        one = found.setdefault(version_id, VersionFigures(number, version_id))
        one.tally.count(COUNTERS[state], 1)
        if started_at is not None and finished_at is not None:
            one.tally.durations.add(bucket_of((finished_at - started_at).total_seconds() * 1_000))
    return sorted(found.values(), key=lambda one: -one.number)
