"""Explains why an execution is not over."""

from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, obtain
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.models import WorkflowExecution
from runners.api.explain_shapes import ExplanationShape
from runners.explain.explanation import explain

LARGE = ("trigger_payload", "context_data", "output", "error_stack_trace", "metrics_snapshot")


class ExplainExecution(Endpoint):
    """Why an execution, and each of its steps, is where it is."""

    @operation(
        "explainWorkflowExecution",
        "WorkflowExecution",
        {200: ExplanationShape},
        errors=[403, 404],
    )
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Why the execution is not over, with a reason for each step that is not done."""
        row, _ = obtain(self.user, WorkflowExecution.objects.defer(*LARGE), id, Action.VIEW)
        return Response(ExplanationShape(explain(row)).data)
