"""Events: publish, list and read them."""

# ruff: noqa: N815 - the names are the JSON's
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions import addresses
from executions.access import Action, obtain, visible, workspace_for
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.fields import Body, CamelCaseSerializer, Json, Payload, Text
from executions.api.paging import ListQuery, narrowed, page
from executions.models import Event
from executions.payload_store.reading import load_for_response
from executions.states import Permission
from executions.triggers.event import publish_event
from executions.triggers.stored_input import MAX_PAYLOAD_BYTES, StoredInput, stored


class PublishEvent(Body):
    """The body of `publishEvent`."""

    name = Text(max_length=200, trim_whitespace=False)
    payload = Json(required=False, default=dict, allow_null=True)
    id = Text(
        required=False,
        allow_null=True,
        max_length=200,
        trim_whitespace=False,
        help_text="The sender's id: a known id has no further effect. Default: a new id.",
    )
    workspaceId = serializers.UUIDField(required=False, allow_null=True)


class Refusal(CamelCaseSerializer):
    """A workflow that listens for the event but could not be started, and the reason."""

    workflowId = serializers.UUIDField(allow_null=True)
    code = serializers.CharField()
    message = serializers.CharField()


class EventResult(CamelCaseSerializer):
    """The result of an event: started executions, and workflows that could not be started."""

    id = serializers.UUIDField()
    event_id = serializers.CharField()
    executions = serializers.SerializerMethodField(help_text="The executions that it started.")
    refused = serializers.SerializerMethodField(help_text="The workflows that it could not start.")

    @extend_schema_field(serializers.ListField(child=serializers.UUIDField()))
    def get_executions(self, event: Event) -> list[str]:
        """Return the IDs of the executions, in the order of the triggers."""
        return [made["executionId"] for made in event.started if "executionId" in made]

    @extend_schema_field(Refusal(many=True))
    def get_refused(self, event: Event) -> list[dict[str, Any]]:
        """Return the workflows that did not start, and the reasons."""
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
        help_text="When all waiting runs had been checked.",
    )


class EventShape(EventSummary):
    """An event with its payload and its result."""

    payload = Payload(allow_null=True)


class EventQuery(ListQuery):
    """The query parameters of `listEvents`: filters, order and page."""

    name = serializers.CharField(required=False, max_length=200, trim_whitespace=False)
    createdAfter = serializers.DateTimeField(required=False)
    createdBefore = serializers.DateTimeField(required=False)


FILTERS = {"name": "name", "createdAfter": "created_at__gt", "createdBefore": "created_at__lt"}


class Events(Endpoint):
    """The endpoint that lists and publishes events."""

    starts = True
    ready: StoredInput | None = None  # a large payload

    def before_once(self, request: Request) -> None:
        """Store a large payload before the request's transaction, in which it cannot be stored."""
        given = self.body(PublishEvent)
        workspace = workspace_for(self.user, given.get("workspaceId"), Action.TELL)
        found = stored(workspace.pk, given["payload"], most=MAX_PAYLOAD_BYTES)
        self.ready = found if isinstance(found, StoredInput) else None

    @operation("listEvents", "Event", {200: EventSummary(many=True)}, parameters=[EventQuery])
    def get(self, request: Request) -> Response:
        """List the events of your workspaces, newest first, without payloads."""
        query = self.query(EventQuery)
        rows = narrowed(visible(self.user, Event.objects.all()), query, FILTERS).defer("payload")
        found = page(request, rows, query)
        return Response(EventSummary(found.rows, many=True).data, headers=found.headers)

    @operation(
        "publishEvent",
        "Event",
        {200: EventResult, 202: EventResult},
        request=PublishEvent,
        errors=[403, 404],
        idempotent=True,
    )
    def post(self, request: Request) -> Response:
        """Publish an event to start workflows and wake steps; a repeated ID has no effect (200)."""
        given = self.body(PublishEvent)
        workspace = workspace_for(self.user, given.get("workspaceId"), Action.TELL)
        published = publish_event(
            workspace,
            given["name"],
            given["payload"] if self.ready is None else self.ready,
            actor=self.actor,
            event_id=given.get("id"),
        )
        return Response(
            EventResult(published.event).data,
            202 if published.created else 200,
            headers={"Location": addresses.api("event", published.event.pk)},
        )


class OneEvent(Endpoint):
    """The endpoint that returns one event."""

    @operation("getEvent", "Event", {200: EventShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Return one event with its payload and its result."""
        event, may = obtain(self.user, Event.objects.all(), id, Action.VIEW)
        if may.allows(Permission.VIEW_PAYLOADS):
            event.payload = load_for_response(event.workspace_id, event.payload, MAX_PAYLOAD_BYTES)
        return Response(EventShape(event, context={"may": may}).data)
