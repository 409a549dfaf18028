"""Events as JSON: what comes in, what goes out."""
# ruff: noqa: N815 - the names are the JSON's

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from executions.api.camel_case import CamelCaseSerializer
from executions.api.fields import Body, Json, Payload, Text
from executions.api.paging import ListQuery
from executions.models import Event


class PublishEvent(Body):
    """What `publishEvent` takes."""

    name = Text(max_length=200, trim_whitespace=False)
    payload = Json(required=False, default=dict, allow_null=True)
    id = Text(
        required=False,
        allow_null=True,
        max_length=200,
        trim_whitespace=False,
        help_text="Yours; an event whose id is known does nothing again. One is made if left out.",
    )
    workspaceId = serializers.UUIDField(required=False, allow_null=True)


class Refusal(CamelCaseSerializer):
    """A workflow that listens for the event and could not be started."""

    workflowId = serializers.UUIDField(allow_null=True)
    code = serializers.CharField()
    message = serializers.CharField()


class EventResult(CamelCaseSerializer):
    """What became of an event."""

    id = serializers.UUIDField()
    event_id = serializers.CharField()
    executions = serializers.SerializerMethodField(help_text="The executions it started.")
    refused = serializers.SerializerMethodField(help_text="The workflows it could not start.")

    @extend_schema_field(serializers.ListField(child=serializers.UUIDField()))
    def get_executions(self, event: Event) -> list[str]:
        """The ids of the executions, in the order of the triggers."""
        return [made["executionId"] for made in event.started if "executionId" in made]

    @extend_schema_field(Refusal(many=True))
    def get_refused(self, event: Event) -> list[dict[str, Any]]:
        """Who did not start, and why."""
        return [
            {key: made[key] for key in ("workflowId", "code", "message")}
            for made in event.started
            if "code" in made
        ]


class EventSummary(EventResult):
    """An event in a list, without its payload."""

    workspace_id = serializers.UUIDField()
    name = serializers.CharField()
    created_at = serializers.DateTimeField()
    delivered_at = serializers.DateTimeField(
        allow_null=True,
        help_text="When every run that waits for events had been looked at.",
    )


class EventShape(EventSummary):
    """An event in full."""

    payload = Payload(allow_null=True)


class EventQuery(ListQuery):
    """The filters of the list of events."""

    name = serializers.CharField(required=False, max_length=200, trim_whitespace=False)
    createdAfter = serializers.DateTimeField(required=False)
    createdBefore = serializers.DateTimeField(required=False)
