"""Download values and content from the payload store."""

from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request

from executions.access import obtain
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.models import WorkflowExecution
from executions.payload_store.download import Download, download, download_used
from executions.states import Permission
from runners.models import Run

JSON, BYTES = "application/json", "application/octet-stream"
# The size, in bytes, up to which a value is sent whole. A larger value is streamed in parts.
WHOLE = 4 * 1024 * 1024


class _Stored(Endpoint):
    def _value(self, request: Request, rows: Any, pk: UUID, column: str) -> HttpResponseBase:
        row, _ = obtain(self.user, rows, pk, Permission.VIEW_PAYLOADS)
        return _sent(request, download(row, column, actor=self.actor), str(pk))


def _sent(request: Request, found: Download, name: str) -> HttpResponseBase:
    kind, ending = (BYTES, "bin") if found.content else (JSON, "json")
    headers = {
        "Content-Disposition": f'attachment; filename="{name}.{ending}"',
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
    }
    if found.size <= WHOLE:
        return HttpResponse(b"".join(found.parts), content_type=kind, headers=headers)
    # If the digest turns out to be wrong, the response ends early; the length lets a client notice.
    headers["Content-Length"] = str(found.size)
    content = _awaited(found.parts) if hasattr(request, "scope") else found.parts
    return StreamingHttpResponse(content, content_type=kind, headers=headers)


async def _awaited(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the parts asynchronously; under ASGI, Django first collects a plain iterator."""
    following = sync_to_async(partial(next, parts, None), thread_sensitive=False)
    while (part := await following()) is not None:
        yield part


class RunOutput(_Stored):
    """The endpoint that downloads a run's stored output."""

    @operation("getRunOutput", "Run", {200: OpenApiTypes.OBJECT}, errors=[403, 404, 503])
    def get(self, request: Request, id: UUID) -> HttpResponseBase:  # noqa: A002 - the path's name
        """Return the complete output of a run whose row holds only a reference to it.

        Requires the permission view_payloads; each use is recorded. Returns 404 if the run's output
        is not in the payload store.
        """
        rows = Run.objects.select_related("execution")
        return self._value(request, rows, id, "outputs")


class ExecutionOutput(_Stored):
    """The endpoint that downloads an execution's stored output."""

    @operation(
        "getWorkflowExecutionOutput",
        "WorkflowExecution",
        {200: OpenApiTypes.OBJECT},
        errors=[403, 404, 503],
    )
    def get(self, request: Request, id: UUID) -> HttpResponseBase:  # noqa: A002
        """Return the complete output of an execution whose row holds only a reference to it.

        Requires the permission view_payloads; each use is recorded. Returns 404 if the execution's
        output is not in the payload store.
        """
        rows = WorkflowExecution.objects.all()
        return self._value(request, rows, id, "output")


class StoredValue(Endpoint):
    """The endpoint that downloads a stored value, or stored content, of an execution."""

    @operation(
        "getStoredValue",
        "WorkflowExecution",
        {(200, BYTES): OpenApiTypes.BINARY, (200, JSON): OpenApiTypes.OBJECT},
        errors=[403, 404, 503],
    )
    def get(self, request: Request, id: UUID, storedId: UUID) -> HttpResponseBase:  # noqa: A002, N803
        """Return a stored value, or stored content, to which a row of the execution refers.

        `storedId` is the `$stored` of the reference, which may be nested in another value. Requires
        the permission view_payloads; each use is recorded.
        """
        rows = WorkflowExecution.objects.all()
        execution, _ = obtain(self.user, rows, id, Permission.VIEW_PAYLOADS)
        found = download_used(execution, storedId, actor=self.actor)
        return _sent(request, found, str(storedId))
