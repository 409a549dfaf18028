"""The last results of a workflow's tasks."""

# ruff: noqa: N815 - the names are the JSON's
import json
from typing import Any
from uuid import UUID

from django.db.models import F
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, Powers, obtain
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.fields import Body, CamelCaseSerializer, Payload
from executions.errors import NotFound
from executions.models import Workflow, WorkflowExecution
from executions.states import ExecutionState, VersionKind
from runners.api.run_shapes import ERROR_TYPES, STATES
from runners.repair.last_results import MOST_CHARACTERS, ShownResult, TaskResult, last_results

# The last results of a workflow's tasks as JSON.


class LastResultsQuery(Body):
    """The query parameter that selects the execution whose results are returned."""

    executionId = serializers.UUIDField(
        required=False, help_text="An execution of the workflow; default: the newest."
    )


class TaskResultShape(CamelCaseSerializer):
    """The result of a task's newest run; in a body, of its newest run in any iteration."""

    state = serializers.ChoiceField(STATES)
    outcome = serializers.CharField(allow_blank=True)
    inputs = Payload(allow_null=True)
    outputs = Payload(allow_null=True, help_text="For a chain: the module that ran last.")
    error = serializers.CharField(allow_blank=True)
    errorType = serializers.ChoiceField(ERROR_TYPES, allow_blank=True)
    startedAt = serializers.DateTimeField(allow_null=True)
    endedAt = serializers.DateTimeField(allow_null=True)
    attempts = serializers.IntegerField()
    runId = serializers.UUIDField()


class LastResults(CamelCaseSerializer):
    """An execution of a workflow, and its tasks' results.

    A value of more than 16,384 characters is replaced by `{"$truncated": reason}` with its `runId`
    or `executionId`. If the workflow has not run, all fields except `tasks` are null.
    """

    executionId = serializers.UUIDField(allow_null=True)
    state = serializers.ChoiceField(ExecutionState.choices, allow_null=True)
    version = serializers.IntegerField(allow_null=True)
    test = serializers.BooleanField(allow_null=True)
    createdAt = serializers.DateTimeField(allow_null=True)
    payload = Payload(allow_null=True)
    variables = Payload(allow_null=True)
    tasks = serializers.DictField(
        child=TaskResultShape(), help_text="By path: `refine.draft` is inside `refine`."
    )


NOTHING: dict[str, Any] = {
    **dict.fromkeys(("executionId", "state", "version", "test", "createdAt")),
    **dict.fromkeys(("payload", "variables")),
    "tasks": {},
}


def of_execution(row: WorkflowExecution) -> dict[str, Any]:
    """Return an execution's state, payload and variables as JSON, with large values replaced."""
    where = {"executionId": str(row.pk)}
    return {
        "executionId": row.pk,
        "state": row.state,
        "createdAt": row.created_at,
        "payload": _short(row.trigger_payload, where),
        "variables": _short(row.context_data, where),
    }


def of_task(result: TaskResult) -> dict[str, Any]:
    """Return a task's result as `TaskResultShape`, with large values replaced."""
    return {
        "state": result.state,
        "outcome": result.outcome,
        "inputs": _shown(result.inputs, result),
        "outputs": _shown(result.outputs, result),
        "error": result.error,
        "errorType": result.error_type,
        "startedAt": result.started_at,
        "endedAt": result.ended_at,
        "attempts": result.attempts,
        "runId": result.run_id,
    }


def _shown(shown: ShownResult, result: TaskResult) -> Any:
    return _left_out({"runId": str(result.run_id)}) if shown.too_large else shown.value


def _short(value: Any, where: dict[str, str]) -> Any:
    return _left_out(where) if len(json.dumps(value)) > MOST_CHARACTERS else value


def _left_out(where: dict[str, str]) -> dict[str, str]:
    return {"$truncated": f"It has more than {MOST_CHARACTERS:,} characters.", **where}


class LastResultsOf(Endpoint):
    """The endpoint that returns the last results of a workflow's tasks."""

    @operation(
        "getLastResults",
        "Workflow",
        {200: LastResults},
        errors=[403, 404],
        parameters=[LastResultsQuery],
    )
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Return each task's result in the execution `executionId`, or in the newest execution.

        Test runs are included. Returns at most 1,000 tasks, from at most 100,000 runs.
        """
        rows = Workflow.objects.filter(archived_at=None).only("id", "workspace_id")
        workflow, may = obtain(self.user, rows, id, Action.VIEW)
        execution = _chosen(workflow, self.query(LastResultsQuery).get("executionId"))
        return Response(_told(execution, may))


def _chosen(workflow: Workflow, execution_id: UUID | None) -> WorkflowExecution | None:
    """Return the execution with this ID; without an ID, the newest, or None if there is none.

    Raises NotFound if the workflow has no execution with the ID.
    """
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
