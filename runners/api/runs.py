"""Runs, and an execution's runs on the time axis."""

from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, obtain, visible
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.paging import page
from executions.models import WorkflowExecution
from runners.api.run_shapes import Bar, RunQuery, RunShape, RunSummary, TimelineQuery
from runners.models import Run

# Nothing that may be large; `error` is a sentence.
HIDDEN = ("overrides", "logs", "error_details", "heartbeat_details")
LARGE = ("inputs", "outputs", *HIDDEN)
FILTERS = {"executionId": "execution_id", "taskId": "task_id", "state": "state"}
# Ids are made in the order of time; the primary key serves a list that nothing narrows.
BY_ID = ("id",)


class Runs(Endpoint):
    """All runs."""

    @operation("listRuns", "Run", {200: RunSummary(many=True)}, parameters=[RunQuery])
    def get(self, request: Request) -> Response:
        """The runs of your workspaces, newest first, without inputs and outputs."""
        query = self.query(RunQuery)
        filters = {path: query[name] for name, path in FILTERS.items() if name in query}
        rows = visible(self.user, Run.objects.all()).filter(**filters).defer(*LARGE)
        found = page(request, rows, query, order=BY_ID)
        return Response(RunSummary(found.rows, many=True).data, headers=found.headers)


class OneRun(Endpoint):
    """One run."""

    @operation("getRun", "Run", {200: RunShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """One run in full."""
        shown = [field.name for field in Run._meta.fields if field.name not in HIDDEN]
        rows = Run.objects.select_related("execution").only(*shown, "execution__workspace_id")
        run, _ = obtain(self.user, rows, id, Action.VIEW)
        return Response(RunShape(run).data)


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
        obtain(self.user, WorkflowExecution.objects.only("id", "workspace_id"), id, Action.VIEW)
        rows = Run.objects.filter(execution_id=id).only(
            "id", "step_path", "task_id", "attempt", "state", "queued_at", "started_at",
            "finished_at", "duration_ms", "outcome", "error_type",
        )  # fmt: skip
        found = page(
            request, rows, self.query(TimelineQuery), order=("queued_at", "id"), ascending=True
        )
        return Response(Bar(found.rows, many=True).data, headers=found.headers)
