"""Dead letters over HTTP, to take away as JSON lines, as curl or as a test."""

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
    """Names the media type; the lines are written as they are read."""

    media_type = LINES
    format = "jsonl"


class ExportEntries(Endpoint):
    """Dead letters as a file."""

    renderer_classes = [LinesRenderer, JsonRenderer]

    @operation(
        "exportDeadLetterQueue",
        TAG,
        {(200, LINES): OpenApiTypes.STR},
        parameters=[EntryFilters],
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """All dead letters that fit, oldest first, one JSON object a line.

        Inputs and config stand in it where you may see them. It ends with what there was when it
        began; that it was exported is recorded.
        """
        query = self.query(EntryFilters)
        rows = visible(self.user, DeadLetterEntry.objects.all(), power(query))
        batch = export.begin(passing(rows, query), self.user, query, self.actor)
        return export.answer(django_request(request), "dead-letters.jsonl", batch)


# A dead letter to take along over HTTP: its request as curl, a test that replays it.


PLAIN = "text/plain"


class TextRenderer(BaseRenderer):
    """Names the media type; the text is what the view made."""

    media_type = PLAIN
    format = "txt"


class _Copied(Endpoint):
    renderer_classes = [TextRenderer, JsonRenderer]

    def _text(self, id: UUID, made: Callable[[DeadLetterEntry], str]) -> HttpResponse:  # noqa: A002
        rows = DeadLetterEntry.objects.select_related("run", "execution")
        entry, _ = obtain(self.user, rows, id, Permission.VIEW_PAYLOADS)
        return HttpResponse(made(entry), content_type=f"{PLAIN}; charset=utf-8")


class CopyAsCurl(_Copied):
    """Its request."""

    @operation(
        "getDeadLetterEntryAsCurl",
        TAG,
        {(200, PLAIN): OpenApiTypes.STR},
        errors=[403, 404],
    )
    def get(self, request: Request, id: UUID) -> HttpResponse:  # noqa: A002 - the path's name
        """The HTTP request that the step made, as a curl command.

        Secrets are names of shell variables. 422 where the step makes no HTTP request.
        """
        return self._text(id, as_curl)


class CopyAsPytest(_Copied):
    """A test."""

    @operation(
        "getDeadLetterEntryAsPytest",
        TAG,
        {(200, PLAIN): OpenApiTypes.STR},
        errors=[403, 404],
    )
    def get(self, request: Request, id: UUID) -> HttpResponse:  # noqa: A002
        """A pytest file that replays the step's module on the recorded inputs, without secrets."""
        return self._text(id, as_pytest)
