"""Triggers as JSON: what comes in, what goes out."""
# ruff: noqa: N815 - the names are the JSON's

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from executions.api.camel_case import CamelCase, CamelCaseSerializer
from executions.api.fields import Body, Flag, Json
from executions.api.paging import ListQuery
from executions.models import Trigger
from executions.states import TriggerType


class TriggerShape(CamelCase, serializers.ModelSerializer[Trigger]):
    """A trigger; its secret is never part of it."""

    workspaceId = serializers.UUIDField(source="workflow.workspace_id")
    workflow_id = serializers.UUIDField()
    type = serializers.ChoiceField(TriggerType.choices)
    settings = Json(help_text="As in the definition, every default filled in.")
    address = serializers.SerializerMethodField(help_text="Of a webhook: where to send requests.")
    created_at = serializers.DateTimeField()
    retired_at = serializers.DateTimeField(
        allow_null=True,
        help_text="Since when the published version has it no more; null while it has it.",
    )

    class Meta:
        model = Trigger
        fields = [
            "id", "workspaceId", "workflow_id", "type", "enabled", "settings", "address",
            "created_at", "retired_at",
        ]  # fmt: skip

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_address(self, trigger: Trigger) -> str | None:
        """The path below the server's own address."""
        return f"/v1/hooks/{trigger.pk}" if trigger.type == TriggerType.WEBHOOK else None


class TriggerChange(Body):
    """What `patchTrigger` takes."""

    enabled = Flag()


class SecretShape(CamelCaseSerializer):
    """A webhook's secret: the key of its signatures, or its bearer token."""

    secret = serializers.CharField()


class TriggerQuery(ListQuery):
    """The filters of the list of triggers."""

    workflowId = serializers.UUIDField(required=False)
    type = serializers.ChoiceField(TriggerType.choices, required=False)
    enabled = serializers.BooleanField(required=False)
