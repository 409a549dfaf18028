"""The audit trail over HTTP: list, read, take away as JSON lines."""

from uuid import UUID

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, require
from executions.access.errors import refused
from executions.api.activity_shapes import (
    ActivityFilters,
    ActivityQuery,
    ActivityShape,
    ActivitySummary,
    AuditHead,
)
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.paging import page
from executions.audit import download, export, seals, trail
from executions.audit.download import LINES
from executions.errors import NotFound
from executions.vendor_seams.rest_framework_requests import django_request

LARGE = ("before", "after", "details")


class LinesRenderer(BaseRenderer):
    """Names the media type; the lines are written as they are read."""

    media_type = LINES
    format = "jsonl"


class Activities(Endpoint):
    """The audit trail."""

    @operation(
        "listActivity",
        "Activity",
        {200: ActivitySummary(many=True)},
        parameters=[ActivityQuery],
    )
    def get(self, request: Request) -> Response:
        """Who did what, newest first.

        Administrators see all of their workspaces, superusers the whole installation. With
        `objectId`, the right to see that workflow (or what it ran) is enough.
        """
        query = self.query(ActivityQuery)
        found = trail.readable(self.user, query.get("objectId", ""))
        rows = trail.narrowed(found.rows, query).defer(*LARGE)
        shown = page(request, rows, query)
        return Response(ActivitySummary(shown.rows, many=True).data, headers=shown.headers)


class OneActivity(Endpoint):
    """One row of it."""

    @operation("getActivity", "Activity", {200: ActivityShape}, errors=[404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """One row, with what changed."""
        return Response(ActivityShape(trail.one(self.user, id)).data)


class NewestSeal(Endpoint):
    """The head of the audit trail's hash chain."""

    @operation("getAuditHead", "Activity", {200: AuditHead}, errors=[403, 404])
    def get(self, request: Request) -> Response:
        """The newest seal, for administrators.

        Keep it outside the database: `manage.py verify_audit --head` then finds what was done to
        the rows that it covers. It is of the whole installation.
        """
        if trail.administered(self.user).workspaces == []:
            raise refused(None, Action.ADMINISTER)
        seal = seals.newest()
        if seal is None:
            raise NotFound("No row of the audit trail is sealed yet; try again in thirty seconds.")
        return Response(AuditHead(seal).data)


class ExportActivity(Endpoint):
    """The audit trail as a file."""

    renderer_classes = [LinesRenderer, JSONRenderer]

    @operation(
        "exportActivity",
        "Activity",
        {(200, LINES): OpenApiTypes.STR},
        errors=[403, 404],
        parameters=[ActivityFilters],
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """All rows that fit, oldest first, one JSON object a line; for administrators.

        It ends with what there was when it began. That it was exported is recorded itself.
        """
        query = self.query(ActivityFilters)
        if wanted := query.get("workspaceId"):
            require(self.user, wanted, Action.ADMINISTER)
        found = trail.administered(self.user)
        if found.workspaces == []:
            raise refused(None, Action.ADMINISTER)
        workspaces = [wanted] if wanted else found.workspaces
        rows = export.begin(trail.narrowed(found.rows, query), workspaces, query, self.actor)
        return download.answer(django_request(request), rows)
