"""Live updates: the states of one execution or of a workflow's executions."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.http import HttpResponseBase
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from executions.access import Action, obtain
from executions.api.documentation import header, operation
from executions.api.endpoint import Endpoint
from executions.api.fields import Body, Text
from executions.api.problems import problem
from executions.live.event_stream import EVENTS, PLACES, Full, LiveAnswer
from executions.live.feed import Feed
from executions.models import Workflow, WorkflowExecution
from executions.vendor_seams.rest_framework_requests import django_request
from runners.live.feeds import EXECUTIONS, WORKFLOWS

# The content has no type: it is text for a client that reads the whole response, and a sequence of
# objects for a client that streams events. Without a type, generated clients and validators accept
# both.
EVENT_STREAM: dict[str, Any] = {
    "description": (
        "Events, each of three lines. `id`: send it in the header Last-Event-ID when you "
        "reconnect. `event`: `snapshot` (all current states), `state` (the changes) or `end` (the "
        "execution has ended, and the stream ends). `data`: JSON on one line."
    ),
}


RETRY_SECONDS = 5
_LAST = header(
    "Last-Event-ID",
    ("The id of the last frame received; the stream begins with the changes since then."),
)


class EventStream(BaseRenderer):
    """Declares the media type of a stream; the view itself writes the events."""

    media_type = EVENTS
    format = "events"


class SubscribeQuery(Body):
    """The query parameters of a stream, for clients that cannot send `Last-Event-ID`."""

    last = Text(
        required=False,
        default="",
        allow_blank=True,
        max_length=100,
        help_text="The id of the last frame received. The header Last-Event-ID takes precedence.",
    )


class Subscription(Endpoint):
    """The base class of the endpoints that stream the states of executions."""

    renderer_classes: Any = [EventStream]
    feed: Feed

    def _subscribed(self, request: Request, pk: UUID) -> HttpResponseBase:
        # A browser that reconnects repeats the original URL, so its header has the newer ID.
        last = request.headers.get("Last-Event-ID", "") or self.query(SubscribeQuery)["last"]
        viewer: int = request.user.pk or 0
        full = PLACES.full(viewer)
        if full is not None:
            return _no_place(full)
        return LiveAnswer(django_request(request), viewer, self.feed, pk, last)


def _described(name: str, tag: str) -> Callable[[Any], Any]:
    return operation(
        name,
        tag,
        {(200, EVENTS): EVENT_STREAM},
        errors=[403, 404],
        parameters=[SubscribeQuery, _LAST],
    )


class SubscribeExecution(Subscription):
    """The stream of one execution's state and of its runs' states."""

    feed = EXECUTIONS

    @_described("subscribeExecution", "WorkflowExecution")
    def get(self, request: Request, id: UUID) -> HttpResponseBase:  # noqa: A002 - the path's name
        """Stream the states of the execution and its runs as server-sent events.

        The stream sends a `snapshot`, then `state` frames with changes, and `end` when the
        execution ends. A stream lasts at most five minutes; reconnect with the last event's ID.
        """
        rows = WorkflowExecution.objects.only("id", "workspace_id", "workflow_id")
        obtain(self.user, rows, id, Action.VIEW)
        return self._subscribed(request, id)


class SubscribeWorkflow(Subscription):
    """The stream of the states of a workflow's executions."""

    feed = WORKFLOWS

    @_described("subscribeWorkflow", "Workflow")
    def get(self, request: Request, workflowId: UUID) -> HttpResponseBase:  # noqa: N803
        """Stream the states of the workflow's newest executions as server-sent events.

        The stream sends a `snapshot` of the newest 50, then `state` frames with changes among the
        newest 500. A WebSocket on the same URL carries the same frames.
        """
        rows = Workflow.objects.defer("definition")
        obtain(self.user, rows, workflowId, Action.VIEW)
        return self._subscribed(request, workflowId)


def _no_place(full: Full) -> HttpResponseBase:
    headers = {"Retry-After": str(RETRY_SECONDS)}
    if full is Full.PERSON:
        detail = (
            "You have the maximum number of live connections for one user. Close a page that shows "
            "live updates, or connect again later."
        )
        return problem(429, detail, code="too_many_viewers", headers=headers)
    detail = "This server has the maximum number of live connections. Try again in a moment."
    return problem(503, detail, code="too_many_viewers", headers=headers)
