"""Export dead letters over HTTP: as JSON lines, a curl command or a test."""

from collections.abc import Callable
from uuid import UUID

from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from dlq.api.entries import TAG
from dlq.api.entry_query import EntryFilters, passing, power
from dlq.browse import export
from dlq.browse.export import LINES
from dlq.copying.copies import as_curl, as_pytest
from dlq.models import DeadLetterEntry
from executions.access import obtain, visible
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.pinned import JsonRenderer
from executions.states import Permission
from executions.vendor_seams.rest_framework_requests import django_request


class LinesRenderer(BaseRenderer):
    """Declares the media type of JSON lines; the view streams the lines."""

    media_type = LINES
    format = "jsonl"


class ExportEntries(Endpoint):
    """The endpoint that exports dead letters as a file."""

    renderer_classes = [LinesRenderer, JsonRenderer]

    @operation(
        "exportDeadLetterQueue",
        TAG,
        {(200, LINES): OpenApiTypes.STR},
        parameters=[EntryFilters],
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """Export all matching dead letters, oldest first, one JSON object per line.

        The export includes the inputs and config that you may see. It contains the rows that
        existed when it began. The audit trail records the export.
        """
        query = self.query(EntryFilters)
        rows = visible(self.user, DeadLetterEntry.objects.all(), power(query))
        batch = export.begin(passing(rows, query), self.user, query, self.actor)
        return export.answer(django_request(request), "dead-letters.jsonl", batch)


# Copies of a dead letter over HTTP: its request as a curl command, and a test that replays it.


PLAIN = "text/plain"


class TextRenderer(BaseRenderer):
    """Declares the media type of plain text; the view creates the text."""

    media_type = PLAIN
    format = "txt"


class _Copied(Endpoint):
    renderer_classes = [TextRenderer, JsonRenderer]

    def _text(self, id: UUID, made: Callable[[DeadLetterEntry], str]) -> HttpResponse:  # noqa: A002
        rows = DeadLetterEntry.objects.select_related("run", "execution")
        entry, _ = obtain(self.user, rows, id, Permission.VIEW_PAYLOADS)
        return HttpResponse(made(entry), content_type=f"{PLAIN}; charset=utf-8")


class CopyAsCurl(_Copied):
    """The endpoint that returns a step's request as a curl command."""

    @operation(
        "getDeadLetterEntryAsCurl",
        TAG,
        {(200, PLAIN): OpenApiTypes.STR},
        errors=[403, 404],
    )
    def get(self, request: Request, id: UUID) -> HttpResponse:  # noqa: A002 - the path's name
        """Return the step's HTTP request as a curl command.

        Likely secrets become variables. Returns 422 if the inputs contain no complete HTTP request.
        """
        return self._text(id, as_curl)


class CopyAsPytest(_Copied):
    """The endpoint that returns a failure as a test that replays the step."""

    @operation(
        "getDeadLetterEntryAsPytest",
        TAG,
        {(200, PLAIN): OpenApiTypes.STR},
        errors=[403, 404],
    )
    def get(self, request: Request, id: UUID) -> HttpResponse:  # noqa: A002
        """Return a pytest file that runs the step's module on its inputs, minus likely secrets."""
        return self._text(id, as_pytest)
