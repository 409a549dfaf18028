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
        """Return the complete output of a run that holds only a reference to it.

        Requires the permission view_payloads; each use is recorded. 404 if the run itself contains
        the output.
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
        """Return the complete output of an execution that holds only a reference to it.

        Requires the permission view_payloads; each use is recorded. 404 if the execution itself
        contains the output.
        """
        rows = WorkflowExecution.objects.all()
        return self._value(rows, id, "output")
