"""The versions of one workflow side by side, from its newest finished executions."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from executions.public.models import FINAL, VersionKind, WorkflowExecution
from valkyr_plugins.figures.histogram import bucket_of
from valkyr_plugins.figures.tally import COUNTERS, Tally

EXECUTIONS = 1_000


@dataclass(slots=True)
class VersionFigures:
    """One version: what became of its executions, and how long they took."""

    number: int
    version_id: UUID
    tally: Tally = field(default_factory=Tally)


def versions(workflow_id: UUID, since: datetime) -> list[VersionFigures]:
    """The versions that ran, the newest first; of the newest 1,000 executions since a time."""
    rows: QuerySet[WorkflowExecution, Any] = WorkflowExecution.objects.filter(
        workflow_id=workflow_id, created_at__gte=since, state__in=sorted(FINAL)
    ).exclude(version__kind=VersionKind.TEST)
    found: dict[UUID, VersionFigures] = {}
    for number, version_id, state, started_at, finished_at in rows.order_by(
        "-created_at", "-id"
    ).values_list("version__number", "version_id", "state", "started_at", "finished_at")[
        :EXECUTIONS
    ]:
        one = found.setdefault(version_id, VersionFigures(number, version_id))
        one.tally.count(COUNTERS[state], 1)
        if started_at is not None and finished_at is not None:
            one.tally.durations.add(bucket_of((finished_at - started_at).total_seconds() * 1_000))
    return sorted(found.values(), key=lambda one: -one.number)
