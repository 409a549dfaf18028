"""Events: publish, list, read."""

from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, obtain, visible, workspace_for
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.event_shapes import (
    EventQuery,
    EventResult,
    EventShape,
    EventSummary,
    PublishEvent,
)
from executions.api.paging import narrowed, page
from executions.models import Event
from executions.triggers.event import publish_event

FILTERS = {"name": "name", "createdAfter": "created_at__gt", "createdBefore": "created_at__lt"}


class Events(Endpoint):
    """All events."""

    starts = True

    @operation("listEvents", "Event", {200: EventSummary(many=True)}, parameters=[EventQuery])
    def get(self, request: Request) -> Response:
        """The events of your workspaces, newest first, without payloads."""
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
        """Start every workflow that listens for the event; 200 when its id was known already."""
        given = self.body(PublishEvent)
        workspace = workspace_for(self.user, given.get("workspaceId"), Action.TELL)
        published = publish_event(
            workspace,
            given["name"],
            given["payload"],
            actor=self.actor,
            event_id=given.get("id"),
        )
        return Response(
            EventResult(published.event).data,
            202 if published.created else 200,
            headers={"Location": f"/v1/Event/{published.event.pk}"},
        )


class OneEvent(Endpoint):
    """One event."""

    @operation("getEvent", "Event", {200: EventShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """One event with its payload and what became of it."""
        event, may = obtain(self.user, Event.objects.all(), id, Action.VIEW)
        return Response(EventShape(event, context={"may": may}).data)
