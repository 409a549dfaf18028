"""Executions: list, read, cancel, pause, resume."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet, Subquery
from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, obtain, visible
from executions.access.operation import Operation
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.execution_shapes import (
    ExecutionQuery,
    Reason,
    WorkflowExecutionShape,
    WorkflowExecutionSummary,
)
from executions.api.paging import narrowed, page
from executions.lifecycle import CANCEL, PAUSE, RESUME
from executions.models import WorkflowExecution, WorkflowVersion
from executions.states import VersionKind

LARGE = ("trigger_payload", "context_data", "output", "error_stack_trace")
FILTERS = {
    "workflowId": "workflow_id",
    "state": "state",
    "triggerType": "trigger_type",
    "createdAfter": "created_at__gt",
    "createdBefore": "created_at__lt",
}


def executions() -> QuerySet[WorkflowExecution]:
    """Executions with their version's number and kind."""
    return WorkflowExecution.objects.annotate(
        version_number=F("version__number"), version_kind=F("version__kind")
    )


def tests(rows: QuerySet[WorkflowExecution]) -> QuerySet[WorkflowExecution]:
    """The test runs among them.

    None is older than the oldest test version there is, so a list of few among millions ends there.
    """
    oldest = WorkflowVersion.objects.filter(kind=VersionKind.TEST).order_by("created_at")
    since = Subquery(oldest.values("created_at")[:1])
    return rows.filter(version__kind=VersionKind.TEST, created_at__gte=since)


class Executions(Endpoint):
    """All executions."""

    @operation(
        "listWorkflowExecutions",
        "WorkflowExecution",
        {200: WorkflowExecutionSummary(many=True)},
        parameters=[ExecutionQuery],
    )
    def get(self, request: Request) -> Response:
        """The executions of your workspaces, newest first, without payloads and outputs."""
        query = self.query(ExecutionQuery)
        rows = narrowed(visible(self.user, executions()), query, FILTERS).defer(*LARGE)
        if "test" in query:
            rows = tests(rows) if query["test"] else rows.exclude(version__kind=VersionKind.TEST)
        found = page(request, rows, query)
        shape = WorkflowExecutionSummary(found.rows, many=True)
        return Response(shape.data, headers=found.headers)


class OneExecution(Endpoint):
    """One execution."""

    @operation(
        "getWorkflowExecution",
        "WorkflowExecution",
        {200: WorkflowExecutionShape},
        errors=[403, 404],
    )
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """One execution in full."""
        execution, may = obtain(self.user, executions(), id, Action.VIEW)
        return Response(WorkflowExecutionShape(execution, context={"may": may}).data)


class Move(Endpoint):
    """A change of state by a person."""

    move: Operation

    def _moved(self, pk: UUID) -> Response:
        rows = executions().defer(*LARGE)
        execution, may = self.perform(self.move, rows, pk, Reason)
        return Response(WorkflowExecutionShape(execution, context={"may": may}).data)


def _described(name: str) -> Callable[[Any], Any]:
    return operation(
        f"{name}WorkflowExecution",
        "WorkflowExecution",
        {200: WorkflowExecutionShape},
        request=Reason,
        errors=[403, 404, 409],
    )


class Cancel(Move):
    """End it."""

    move = CANCEL

    @_described("cancel")
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """End the execution; steps that run are told, nothing new starts."""
        return self._moved(id)


class Pause(Move):
    """Hold it."""

    move = PAUSE

    @_described("pause")
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Start nothing new; steps that run finish and are recorded."""
        return self._moved(id)


class Resume(Move):
    """Go on."""

    move = RESUME

    @_described("resume")
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Go on where a pause stopped."""
        return self._moved(id)
