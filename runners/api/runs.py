"""Runs, and an execution's runs on the time axis."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import QuerySet, Value
from django.db.models.fields.json import KT
from django.db.models.functions import StrIndex, Substr
from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, obtain, visible
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.paging import narrowed, page
from executions.database.clock import database_now, first_id_at
from executions.models import WorkflowExecution
from runners.api.run_shapes import RunQuery, RunShape, RunSummary
from runners.api.timeline_shapes import Bar, TimelineQuery
from runners.containers.lineage import children_of
from runners.models import Run

# Nothing that may be large; `error` is a sentence.
HIDDEN = ("overrides", "heartbeat_details")
LARGE = ("inputs", "outputs", "progress", "wake", "logs", "error_details", *HIDDEN)
BAR = (
    "id", "execution_id", "step_path", "task_id", "module", "attempt", "state", "queued_at",
    "started_at", "finished_at", "duration_ms", "outcome", "error_type", "waits_for", "due_at",
    "progress", "cached_from", "superseded",
)  # fmt: skip
FILTERS = {
    "executionId": "execution_id",
    "taskId": "task_id",
    "state": "state",
    "place": "step_path__startswith",
    "queuedAfter": "queued_at__gt",
    "queuedBefore": "queued_at__lt",
}
# Ids are made in the order of time; the primary key serves a list that nothing narrows.
BY_ID = ("id",)
# How far the clock of a process that makes ids may be from the database's.
CLOCKS_APART = timedelta(minutes=5)


class Runs(Endpoint):
    """All runs."""

    @operation("listRuns", "Run", {200: RunSummary(many=True)}, parameters=[RunQuery])
    def get(self, request: Request) -> Response:
        """The runs of your workspaces, newest first, without what may be large."""
        query = self.query(RunQuery)
        rows = narrowed(visible(self.user, Run.objects.all()), query, FILTERS)
        rows = _queued(rows, query).defer(*LARGE)
        found = page(request, rows, query, order=BY_ID)
        return Response(RunSummary(found.rows, many=True).data, headers=found.headers)


class OneRun(Endpoint):
    """One run."""

    @operation("getRun", "Run", {200: RunShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """One run in full."""
        shown = [field.name for field in Run._meta.fields if field.name not in HIDDEN]
        rows = Run.objects.select_related("execution").only(
            *shown, "execution__workspace_id", "execution__workflow_id"
        )
        run, may = obtain(self.user, rows, id, Action.VIEW)
        return Response(RunShape(run, context={"may": may}).data)


class Timeline(Endpoint):
    """The flame chart's bars."""

    @operation(
        "getWorkflowExecutionTimeline",
        "WorkflowExecution",
        {200: Bar(many=True)},
        errors=[403, 404],
        parameters=[TimelineQuery],
    )
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Every attempt of every step, in the order in which they were queued."""
        rows = WorkflowExecution.objects.only("id", "workspace_id", "workflow_id")
        obtain(self.user, rows, id, Action.VIEW)
        query = self.query(TimelineQuery)
        order = ("queued_at", "id")
        # Who watches live joins these rows with what is told from the primary.
        found = page(request, bars(id, query), query, order=order, ascending=True, fresh=True)
        context = {"now": database_now(), "children": children_of(id, found.rows)}
        shown = Bar(found.rows, many=True, context=context)
        return Response(shown.data, headers=found.headers)


def _queued(rows: QuerySet[Run], query: dict[str, Any]) -> QuerySet[Run]:
    """Bound the ids as well: no index has the time, and ids are made in its order."""
    if "queuedAfter" in query:
        rows = rows.filter(pk__gte=first_id_at(query["queuedAfter"], -CLOCKS_APART))
    if "queuedBefore" in query:
        rows = rows.filter(pk__lt=first_id_at(query["queuedBefore"], CLOCKS_APART))
    return rows


def bars(execution_id: UUID, query: dict[str, Any]) -> QuerySet[Run]:
    """The runs of a timeline, with as much as a bar shows."""
    # An event's or a call's payload is left in the database.
    rows = (
        Run.objects.filter(execution_id=execution_id)
        .only(*BAR)
        .annotate(waited_seconds=KT("wake__waitedSeconds"))
    )
    if not query["superseded"]:
        rows = rows.filter(superseded=False)
    if query["place"]:
        rows = rows.filter(step_path__startswith=query["place"])
    if not query["nested"]:
        rest = Substr("step_path", len(query["place"]) + 1)
        rows = rows.annotate(inside=StrIndex(rest, Value("["))).filter(inside=0)
    return rows
