"""Find the newest (or oldest) executions with labels in limited time, even among millions of rows.

`ranges` reads the index of labels in order. The index has the workflow and state of each execution.
Other filters, such as the trigger, are checked on the found executions, part by part until the time
limit; the caller continues after the last execution that was checked.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.expressions import RawSQL

from executions.database import statements
from executions.database.clock import first_id_at
from executions.labels.ranges import HIGHEST, LOWEST, LabelRanges
from executions.models import Workflow, WorkflowExecution
from executions.states import ExecutionState

FIRST_PART = 200
SECONDS = 0.1
# Maximum number of rows that are counted per label to find the rarest label, whose rows are then
# read.
RARE = 1_000
# Maximum difference between the time in an ID and `created_at`, due to waits for locks and to
# different clocks.
APART = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class LabelQuery:
    """The labels that an execution must have, and the restrictions that the index applies.

    `workflows` are the workflows to search; an empty `states` means all states. IDs are between
    `above` and `below`, one of which may be the last ID of the previous page.
    """

    labels: Mapping[str, str]
    workflows: QuerySet[Workflow]
    states: Sequence[str] = ()
    ascending: bool = False
    above: UUID = LOWEST
    below: UUID = HIGHEST


def created_within(since: datetime | None, until: datetime | None) -> tuple[UUID, UUID]:
    """Return IDs below and above those of all executions that were created within the period.

    An ID begins with the time at which the application made it, a little before the insertion.
    """
    return (
        first_id_at(since, -APART) if since else LOWEST,
        first_id_at(until, APART) if until else HIGHEST,
    )


@dataclass(frozen=True, slots=True)
class LabelledIds:
    """IDs of executions, in order; `reached` is the ID to continue after, or None at the end."""

    ids: list[UUID]
    reached: UUID | None = None


def newest(rows: QuerySet[WorkflowExecution] | None, query: LabelQuery, many: int) -> LabelledIds:
    """Return the IDs of the first `many` of `rows` that have the labels.

    If `rows` is None, all executions of the query's workflows are searched. If the time runs out,
    the result has fewer IDs, and `reached` is the last ID that was checked.
    """
    name = _rarest(query.labels)
    value = query.labels[name]
    workflows = _with_label(query.workflows, name, value)
    if len(query.labels) > 1:
        rows = WorkflowExecution.objects.all() if rows is None else rows
        rows = rows.filter(labels__contains=dict(query.labels))
    states = list(query.states or ExecutionState.values)
    ranges = LabelRanges(name, value, workflows, states, query.ascending, query.above, query.below)
    found: list[UUID] = []
    until = time.monotonic() + SECONDS
    for ids in ranges.parts(max(FIRST_PART, many)):
        found += ids if rows is None else _kept(rows, ids)
        if len(found) >= many:
            return LabelledIds(found[:many], found[many - 1])
        if rows is not None and time.monotonic() > until:
            return LabelledIds(found, ids[-1])
    return LabelledIds(found)


def _kept(rows: QuerySet[WorkflowExecution], ids: list[UUID]) -> list[UUID]:
    """Return the IDs that are among the rows, in the same order."""
    kept = set(rows.filter(pk__in=among(ids)).order_by().values_list("pk", flat=True))
    return [pk for pk in ids if pk in kept]


def among(ids: Sequence[UUID]) -> RawSQL:
    """Return an SQL expression that passes the IDs to `pk__in` as one parameter.

    This is faster than thousands of parameters.
    """
    return RawSQL("SELECT unnest(%s::uuid[])", [list(ids)])


def _rarest(labels: Mapping[str, str]) -> str:
    """Return the name of the label with the fewest rows, counted up to `RARE`."""
    if len(labels) == 1:
        return next(iter(labels))
    counts = {
        name: statements.fetch("count_labelled", {"name": name, "value": value, "most": RARE})[0][0]
        for name, value in labels.items()
    }
    return min(counts, key=lambda name: counts[name])


def _with_label(workflows: QuerySet[Any], name: str, value: str) -> list[UUID]:
    """Return the IDs of those `workflows` that have executions with this label."""
    rows = statements.fetch("workflows_labelled", {"name": name, "value": value})
    ids = [row[0] for row in rows]
    return list(workflows.filter(pk__in=ids).order_by().values_list("pk", flat=True)) if ids else []
