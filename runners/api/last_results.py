"""What a workflow's tasks gave the last time."""

from typing import Any
from uuid import UUID

from django.db.models import F
from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, Powers, obtain
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.errors import NotFound
from executions.models import Workflow, WorkflowExecution
from executions.states import VersionKind
from runners.api.last_results_shapes import (
    NOTHING,
    LastResults,
    LastResultsQuery,
    of_execution,
    of_task,
)
from runners.repair.last_results import last_results


class LastResultsOf(Endpoint):
    """The last results."""

    @operation(
        "getLastResults",
        "Workflow",
        {200: LastResults},
        errors=[403, 404],
        parameters=[LastResultsQuery],
    )
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """What each task gave in the newest execution, a test run included, or in the one named.

        Of at most 1,000 tasks, from at most 100,000 runs.
        """
        rows = Workflow.objects.filter(archived_at=None).only("id", "workspace_id")
        workflow, may = obtain(self.user, rows, id, Action.VIEW)
        execution = _chosen(workflow, self.query(LastResultsQuery).get("executionId"))
        return Response(_told(execution, may))


def _chosen(workflow: Workflow, execution_id: UUID | None) -> WorkflowExecution | None:
    """The one named, or the newest; None of a workflow that has not run. Raises NotFound."""
    rows = WorkflowExecution.objects.filter(workflow=workflow).annotate(
        version_number=F("version__number"), version_kind=F("version__kind")
    )
    rows = rows.only("id", "state", "created_at", "trigger_payload", "context_data")
    if execution_id is None:
        return rows.order_by("-created_at", "-id").first()
    found = rows.filter(pk=execution_id).first()
    if found is None:
        raise NotFound(f"Workflow {workflow.pk} has no execution {execution_id}.")
    return found


def _told(execution: Any, may: Powers) -> dict[str, Any]:
    if execution is None:
        return dict(NOTHING)
    told = of_execution(execution) | {
        "version": execution.version_number,
        "test": execution.version_kind == VersionKind.TEST,
        "tasks": {result.path: of_task(result) for result in last_results(execution.pk)},
    }
    return dict(LastResults(told, context={"may": may}).data)
