"""Figures of executions over time and of what waits now, for graphs elsewhere."""

from typing import Any

from django.db.models import Q, QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from dlq.public.models import DeadLetterEntry, Resolution
from executions.public.access import Action, Reach, Scope, obtain, reach_of, sees_all, visible
from executions.public.api import Endpoint, bounded_count, operation
from executions.public.database import database_now, hurried, replica
from executions.public.models import Workflow, WorkflowExecution
from runners.public.circuits import open_circuits
from runners.public.models import Run, Runner
from runners.public.queues import queues
from valkyr_plugins.figures.api.shapes import FiguresQuery, FiguresShape
from valkyr_plugins.figures.ranges import range_named
from valkyr_plugins.figures.reading import read

MOST_RUNNERS = 1_000


class FiguresOf(Endpoint):
    """The figures of what the caller may see, or of a part of it."""

    @operation(
        "getFigures", "Figures", {200: FiguresShape}, parameters=[FiguresQuery], errors=[403, 404]
    )
    def get(self, request: Request) -> Response:
        """Executions by state, failure rate, percentiles, by slot of a range; and what waits now.

        What one may see is counted, so others may get other numbers. A 503 means that they could
        not be had in time.
        """
        query = self.query(FiguresQuery)
        reach = reach_of(self.user)
        now = database_now()
        scope, only = self._scope(query, reach)
        of_execution = {f"execution__{key}": value for key, value in only.items()}
        in_workspace = {key: value for key, value in only.items() if key == "workspace_id"}
        pending = DeadLetterEntry.objects.filter(resolution=Resolution.PENDING, **only)
        executions = visible(self.user, WorkflowExecution.objects.filter(**only), reach=reach)
        runs = visible(self.user, Run.objects.filter(**of_execution), reach=reach)
        letters = visible(self.user, pending, reach=reach)
        circuits: QuerySet[Any] | None = None
        if open_circuits.provided:
            circuits = visible(self.user, open_circuits().filter(**in_workspace), reach=reach)

        def counted() -> dict[str, Any]:
            with hurried():
                return {
                    "figures": read(scope, range_named(query["range"]), now),
                    "running": bounded_count(executions.filter(state="RUNNING")),
                    "waiting": bounded_count(executions.filter(state="PENDING")),
                    "openDeadLetters": bounded_count(letters),
                    "openCircuits": 0 if circuits is None else bounded_count(circuits),
                    "queues": queues(runs, self._runners(reach), now),
                }

        return Response(FiguresShape(replica.read(request, counted)).data)

    def _scope(self, query: dict[str, Any], reach: Reach) -> tuple[Scope, dict[str, Any]]:
        """Whose executions are counted, and the same as a filter of rows."""
        scope = Scope.of(self.user, reach)
        workflow_id, workspace_id = query.get("workflowId"), query.get("workspaceId")
        if workflow_id is not None:
            row, _ = obtain(self.user, Workflow.objects.all(), workflow_id, Action.VIEW)
            only = {"workflow_id": row.pk, "workspace_id": workspace_id or row.workspace_id}
            elsewhere = only["workspace_id"] != row.workspace_id
            return Scope() if elsewhere else scope.of_workflow(row.pk), only
        if workspace_id is not None:
            return scope.of_workspace(workspace_id), {"workspace_id": workspace_id}
        return scope, {}

    def _runners(self, reach: Reach) -> QuerySet[Runner]:
        """Our own serve all workspaces; a remote runner is seen by its workspace."""
        rows = Runner.objects.order_by("-seen_at")
        if not sees_all(self.user):
            mine = reach.workspaces(Action.VIEW)
            rows = rows.filter(Q(workspace=None) | Q(workspace__in=mine))
        return rows[:MOST_RUNNERS]
