"""The graph of the version that an execution runs, laid out for drawing."""

from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, obtain
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.models import WorkflowExecution
from runners.api.graph_shapes import GraphShape, shown
from runners.monitor.versions import drawing_of


class ExecutionGraph(Endpoint):
    """The drawing behind the live monitor."""

    @operation(
        "getWorkflowExecutionGraph",
        "WorkflowExecution",
        {200: GraphShape},
        errors=[403, 404],
    )
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """The graph of the version that ran, not of today's draft, with a place for everything."""
        rows = WorkflowExecution.objects.only("id", "workspace_id", "workflow_id", "version_id")
        row, _ = obtain(self.user, rows, id, Action.VIEW)
        return Response({"versionId": row.version_id, **shown(drawing_of(row.version_id))})
