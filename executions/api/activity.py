"""The audit trail over HTTP: list and read rows, read the newest seal, and export rows."""

from uuid import UUID

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes

# ruff: noqa: N815 - the names are the JSON's
from rest_framework import serializers
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, require
from executions.access.powers import refused
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.fields import Body, CamelCase, Json, shown_user_id
from executions.api.paging import PageQuery, page
from executions.api.pinned import JsonRenderer
from executions.audit import export, seals, trail
from executions.audit.export import LINES
from executions.errors import NotFound
from executions.models import Activity, AuditSeal
from executions.vendor_seams.rest_framework_requests import django_request


class ActivitySummary(CamelCase, serializers.ModelSerializer[Activity]):
    """A row of the audit trail in a list, without the changed values and details."""

    workspace_id = serializers.UUIDField(
        allow_null=True,
        help_text="Null for actions on the whole installation.",
    )
    actor_id = shown_user_id(allow_null=True)
    actor = serializers.CharField(source="actor_name")
    via = serializers.CharField(help_text="admin, api, api token <name>, command, engine …")
    address = serializers.IPAddressField(allow_null=True)
    object_type = serializers.CharField()
    object_id = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()

    class Meta:
        model = Activity
        fields = [
            "id", "workspace_id", "actor_id", "actor", "via", "address", "action", "object_type",
            "object_id", "reason", "created_at",
        ]  # fmt: skip


class ActivityShape(ActivitySummary):
    """A row of the audit trail, with the changed values and further details."""

    before = Json(allow_null=True, help_text="The changed fields, before the change.")
    after = Json(allow_null=True, help_text="The changed fields, after the change.")
    details = Json(help_text="Further details, depending on the action.")

    class Meta(ActivitySummary.Meta):
        fields = [*ActivitySummary.Meta.fields, "before", "after", "details"]


class AuditHead(CamelCase, serializers.ModelSerializer[AuditSeal]):
    """The newest seal of the audit trail: its number, digest and time."""

    head = serializers.SerializerMethodField(
        help_text=("The head to store elsewhere: `number:digest`.")
    )
    digest = serializers.SerializerMethodField(help_text="SHA-256 in hex.")
    sealed_at = serializers.DateTimeField()

    class Meta:
        model = AuditSeal
        fields = ["head", "number", "digest", "sealed_at"]

    def get_head(self, seal: AuditSeal) -> str:
        """Return the seal's number and digest as `number:digest`."""
        return str(seal)

    def get_digest(self, seal: AuditSeal) -> str:
        """Return the seal's digest in hex."""
        return bytes(seal.digest).hex()


class ActivityFilters(Body):
    """The filters that select rows of the audit trail."""

    workspaceId = serializers.UUIDField(required=False)
    actor = serializers.CharField(required=False, max_length=200, help_text="A user's name.")
    action = serializers.CharField(
        required=False, max_length=60, help_text="An action, or a prefix, such as `execution.`."
    )
    objectType = serializers.CharField(required=False, max_length=60)
    objectId = serializers.CharField(required=False, max_length=64)
    via = serializers.CharField(required=False, max_length=120)
    createdAfter = serializers.DateTimeField(required=False)
    createdBefore = serializers.DateTimeField(required=False)


class ActivityQuery(ActivityFilters, PageQuery):
    """The query parameters of `listActivity`: filters and page."""


LARGE = ("before", "after", "details")


class LinesRenderer(BaseRenderer):
    """Declares the media type of JSON lines; `export.answer` streams them without a renderer."""

    media_type = LINES
    format = "jsonl"


class Activities(Endpoint):
    """The endpoint that lists rows of the audit trail."""

    @operation(
        "listActivity",
        "Activity",
        {200: ActivitySummary(many=True)},
        parameters=[ActivityQuery],
    )
    def get(self, request: Request) -> Response:
        """List the recorded actions, newest first.

        Administrators see the actions in their workspaces, and superusers see all actions. With the
        `objectId` of a workflow or an execution, permission to view that object is enough.
        """
        query = self.query(ActivityQuery)
        found = trail.readable(self.user, query.get("objectId", ""))
        rows = trail.narrowed(found.rows, query).defer(*LARGE)
        shown = page(request, rows, query)
        return Response(ActivitySummary(shown.rows, many=True).data, headers=shown.headers)


class OneActivity(Endpoint):
    """The endpoint that returns one row of the audit trail."""

    @operation("getActivity", "Activity", {200: ActivityShape}, errors=[404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Return one recorded action, with the changed values."""
        return Response(ActivityShape(trail.one(self.user, id)).data)


class NewestSeal(Endpoint):
    """The endpoint that returns the head of the audit trail's hash chain."""

    @operation("getAuditHead", "Activity", {200: AuditHead}, errors=[403, 404])
    def get(self, request: Request) -> Response:
        """Return the newest seal, for administrators.

        Keep its `head` outside the database: `manage.py verify_audit --head` then detects changes
        to the rows that the seal covers. The seal covers the whole installation.
        """
        if trail.administered(self.user).workspaces == []:
            raise refused(None, Action.ADMINISTER)
        seal = seals.newest()
        if seal is None:
            raise NotFound("No row of the audit trail is sealed yet; try again in thirty seconds.")
        return Response(AuditHead(seal).data)


class ExportActivity(Endpoint):
    """The endpoint that exports the audit trail as a file."""

    renderer_classes = [LinesRenderer, JsonRenderer]

    @operation(
        "exportActivity",
        "Activity",
        {(200, LINES): OpenApiTypes.STR},
        errors=[403, 404],
        parameters=[ActivityFilters],
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """Export all matching rows, oldest first, one JSON object per line; for administrators.

        The export contains the rows that existed when it began. The audit trail records the export.
        """
        query = self.query(ActivityFilters)
        if wanted := query.get("workspaceId"):
            require(self.user, wanted, Action.ADMINISTER)
        found = trail.administered(self.user)
        if found.workspaces == []:
            raise refused(None, Action.ADMINISTER)
        workspaces = [wanted] if wanted else found.workspaces
        rows = export.begin(trail.narrowed(found.rows, query), workspaces, query, self.actor)
        return export.answer(django_request(request), rows)
