"""Dead letters over HTTP, to take away as JSON lines."""

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request

from dlq.api.entries import TAG
from dlq.api.entry_query import EntryFilters, passing, power
from dlq.browse import export, json_lines
from dlq.browse.json_lines import LINES
from dlq.models import DeadLetterEntry
from executions.access import visible
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.vendor_seams.rest_framework_requests import django_request


class LinesRenderer(BaseRenderer):
    """Names the media type; the lines are written as they are read."""

    media_type = LINES
    format = "jsonl"


class ExportEntries(Endpoint):
    """Dead letters as a file."""

    renderer_classes = [LinesRenderer, JSONRenderer]

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
        return json_lines.answer(django_request(request), "dead-letters.jsonl", batch)
