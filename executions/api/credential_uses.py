"""List steps' uses of credentials, and export them as JSON lines, without credentials' values."""

# ruff: noqa: N815 - the names are the JSON's
from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, require, visible
from executions.access.powers import refused
from executions.api.activity import LinesRenderer
from executions.api.credentials import to_read
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.fields import Body, CamelCase
from executions.api.paging import ListQuery, narrowed, page
from executions.api.pinned import JsonRenderer
from executions.audit import export, trail
from executions.audit.export import LINES
from executions.models import CredentialUse
from executions.vendor_seams.rest_framework_requests import django_request


class CredentialUseShape(CamelCase, serializers.ModelSerializer[CredentialUse]):
    """A use of a credential by a step, or a rejected use, without the credential's values."""

    workspace_id = serializers.UUIDField()
    credential_id = serializers.UUIDField(
        allow_null=True, help_text="Null if the workspace had no credential of that name."
    )
    name = serializers.CharField(help_text="The credential's name.")
    version = serializers.IntegerField(
        allow_null=True, help_text="The credential's version: it counts its changes."
    )
    workflow_id = serializers.UUIDField()
    execution_id = serializers.UUIDField()
    run_id = serializers.UUIDField()
    step_path = serializers.CharField()
    attempt = serializers.IntegerField()
    module = serializers.CharField()
    remote = serializers.BooleanField(help_text="Whether a remote runner received it.")
    host = serializers.CharField(
        help_text=(
            "The step's destination, if it is known before the step runs; for a rejected "
            "connection, the intended destination. Otherwise empty."
        )
    )
    allowed = serializers.BooleanField(help_text="Whether the step received it.")
    reason = serializers.CharField(help_text="Why it was rejected; otherwise empty.")
    created_at = serializers.DateTimeField()

    class Meta:
        model = CredentialUse
        fields = [
            "id", "workspace_id", "credential_id", "name", "version", "workflow_id",
            "execution_id", "run_id", "step_path", "attempt", "module", "remote", "host", "allowed",
            "reason", "created_at",
        ]  # fmt: skip


class CredentialUseFilters(Body):
    """The filters that select uses of credentials."""

    workspaceId = serializers.UUIDField(required=False, help_text="Only objects of this workspace.")
    credentialId = serializers.UUIDField(required=False)
    name = serializers.CharField(required=False, max_length=80, help_text="A credential's name.")
    workflowId = serializers.UUIDField(required=False)
    executionId = serializers.UUIDField(required=False)
    allowed = serializers.BooleanField(
        required=False, default=None, allow_null=True, help_text="false: only rejected uses."
    )
    createdAfter = serializers.DateTimeField(required=False)
    createdBefore = serializers.DateTimeField(required=False)


class CredentialUseQuery(CredentialUseFilters, ListQuery):
    """The query parameters of the list of uses: filters, order and page."""


FILTERS = {
    "credentialId": "credential_id",
    "name": "name",
    "workflowId": "workflow_id",
    "executionId": "execution_id",
    "allowed": "allowed",
    "createdAfter": "created_at__gt",
    "createdBefore": "created_at__lt",
}


def _given(query: dict[str, Any]) -> dict[str, Any]:
    """Return the query's values without None, the value of an omitted `allowed`."""
    return {name: value for name, value in query.items() if value is not None}


class CredentialUses(Endpoint):
    """The endpoint that lists uses of credentials."""

    @operation(
        "listCredentialUses",
        "Credential",
        {200: CredentialUseShape(many=True)},
        parameters=[CredentialUseQuery],
    )
    def get(self, request: Request) -> Response:
        """List the uses of credentials by steps and the rejected uses, newest first.

        You need permission to write workflows; an API token without the scope `author` needs
        `configure`. Uses are deleted after VALKYR_KEEP_CREDENTIAL_USES_DAYS.
        """
        query = _given(self.query(CredentialUseQuery))
        rows = visible(self.user, CredentialUse.objects.all(), to_read(self.user))
        listed = page(request, narrowed(rows, query, FILTERS), query)
        return Response(CredentialUseShape(listed.rows, many=True).data, headers=listed.headers)


class ExportCredentialUses(Endpoint):
    """The endpoint that exports uses of credentials as a file."""

    renderer_classes = [LinesRenderer, JsonRenderer]

    @operation(
        "exportCredentialUses",
        "Credential",
        {(200, LINES): OpenApiTypes.STR},
        errors=[403, 404],
        parameters=[CredentialUseFilters],
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """Export all matching uses, oldest first, one JSON object per line; for administrators.

        The audit trail records the export.
        """
        query = _given(self.query(CredentialUseFilters))
        if wanted := query.get("workspaceId"):
            require(self.user, wanted, Action.ADMINISTER)
        workspaces = [wanted] if wanted else trail.administered(self.user).workspaces
        if workspaces == []:
            raise refused(None, Action.ADMINISTER)
        rows = visible(self.user, CredentialUse.objects.all(), Action.ADMINISTER)
        found = export.begin(
            narrowed(rows, query, FILTERS),
            workspaces,
            query,
            self.actor,
            "credential_use.export",
            "CredentialUse",
        )
        return export.answer(django_request(request), found, _line, "credential-uses.jsonl")


def _line(use: CredentialUse) -> dict[str, Any]:
    return dict(CredentialUseShape(use).data)
