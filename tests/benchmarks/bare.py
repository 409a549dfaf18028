"""The comparison for W5: a plain DRF view that does the same checks and inserts one row.

It authenticates the caller by token, looks up the workflow and the caller's membership, reads the
body strictly, checks the payload against the input schema, and inserts an execution. It plans,
counts and sends nothing, and writes no audit entry.
"""

from typing import Any
from uuid import UUID, uuid4

from django.urls import path, re_path
from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, obtain
from executions.api.endpoint import Endpoint, Nowhere
from executions.api.executions import Start, WorkflowExecutionShape
from executions.database.clock import database_now
from executions.database.ids import uuid7
from executions.models import Workflow, WorkflowExecution
from executions.triggers.request import check, chosen_version


class Insert(Endpoint):
    """Inserts one row per request."""

    def post(self, request: Request, workflow_id: UUID) -> Response:
        """Check the request, insert a row, and answer."""
        workflows = Workflow.objects.filter(archived_at=None).defer("definition", "description")
        workflow, may = obtain(self.user, workflows, workflow_id, Action.TRIGGER)
        given: dict[str, Any] = self.body(Start)
        version = chosen_version(workflow, None)
        check(version, given["params"])
        row = WorkflowExecution.objects.create(
            id=uuid7(),
            workspace_id=workflow.workspace_id,
            workflow=workflow,
            version_id=version.id,
            trigger_payload=given["params"],
            created_at=database_now(),
            trace_id=uuid4().hex,
        )
        return Response(WorkflowExecutionShape(row, context={"may": may}).data, 202)


urlpatterns = [
    path("bare/<uuid:workflow_id>", Insert.as_view()),
    re_path(r"^v1/", Nowhere.as_view()),
]
