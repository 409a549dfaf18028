"""The graph of the version that an execution runs, as tasks and edges."""

from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, obtain
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.definition.versions import compiled
from executions.models import WorkflowExecution
from runners.api.graph_shapes import GraphShape, shown


class ExecutionGraph(Endpoint):
    """The graph that the live monitor draws."""

    @operation(
        "getWorkflowExecutionGraph",
        "WorkflowExecution",
        {200: GraphShape},
        errors=[403, 404],
    )
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """The graph of the version that ran, not of today's draft."""
        rows = WorkflowExecution.objects.only("id", "workspace_id", "workflow_id", "version_id")
        row, _ = obtain(self.user, rows, id, Action.VIEW)
        return Response({"versionId": row.version_id, **shown(compiled(row.version_id).graph)})
