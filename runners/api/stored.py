"""Download outputs that are in the payload store."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request

from executions.access import obtain
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.models import WorkflowExecution
from executions.payload_store.download import download
from executions.states import Permission
from runners.models import Run

JSON = "application/json"


class _Stored(Endpoint):
    def _value(self, rows: Any, pk: UUID, column: str) -> HttpResponse:
        row, _ = obtain(self.user, rows, pk, Permission.VIEW_PAYLOADS)
        text = download(row, column, actor=self.actor)
        name = f'attachment; filename="{pk}.json"'
        headers = {"Content-Disposition": name, "Cache-Control": "no-store"}
        return HttpResponse(text, content_type=JSON, headers=headers)


class RunOutput(_Stored):
    """A run's stored output."""

    @operation("getRunOutput", "Run", {200: OpenApiTypes.OBJECT}, errors=[403, 404, 503])
    def get(self, request: Request, id: UUID) -> HttpResponse:  # noqa: A002 - the path's name
        """Return the whole output of a run, if the run holds a reference to it.

        Requires the permission view_payloads; each use is recorded. 404 if the output is in the run
        itself.
        """
        rows = Run.objects.select_related("execution")
        return self._value(rows, id, "outputs")


class ExecutionOutput(_Stored):
    """An execution's stored output."""

    @operation(
        "getWorkflowExecutionOutput",
        "WorkflowExecution",
        {200: OpenApiTypes.OBJECT},
        errors=[403, 404, 503],
    )
    def get(self, request: Request, id: UUID) -> HttpResponse:  # noqa: A002
        """Return the whole output of an execution, if the execution holds a reference to it.

        Requires the permission view_payloads; each use is recorded. 404 if the output is in the
        execution itself.
        """
        rows = WorkflowExecution.objects.all()
        return self._value(rows, id, "output")
