"""Resume waiting runs over HTTP: callbacks, signals, and decisions on approvals."""

from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, obtain, powers_on
from executions.access.actor import Actor
from executions.api import throttles
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.fields import Body, CamelCaseSerializer, Json, Text
from executions.api.hooks import AnyAnswer, check_size, payload_of
from executions.api.sign_in import OpenEndpoint
from executions.models import WorkflowExecution
from executions.vendor_seams.rest_framework_requests import django_request
from runners.api.run_shapes import RunShape
from runners.waits import callbacks
from runners.waits.approvals import DECISIONS, decide
from runners.waits.events import Woken, signal


class Accepted(CamelCaseSerializer):
    """The response to an accepted callback: the step continues now, or once it begins to wait."""

    accepted = serializers.BooleanField()


class Gone(APIException):
    """The response for a callback URL whose step no longer waits."""

    status_code = 410


class Callback(OpenEndpoint):
    """The one-time callback URL of a waiting step."""

    content_negotiation_class: Any = AnyAnswer

    @operation(
        "receiveCallback",
        "Callback",
        {202: Accepted},
        request=OpenApiTypes.ANY,
        errors=[404, 409, 410, 429],
        public=True,
    )
    def post(self, request: Request, token: str) -> Response:
        """Resume the step that waits at this URL, with the body as its payload.

        The URL works once; a call that arrives before the step waits is stored. Returns 404 if the
        URL is unknown, and 409 (`callback_used`) if the URL was used before. Returns 410 if the
        step no longer waits, for example because it timed out or the execution ended.
        """
        # Throttling counts only invalid addresses: a valid address works only once anyway.
        forged = throttles.of_refused_hook(request)
        throttles.check_known(forged)
        body: bytes = django_request(request).body
        check_size(body)
        try:
            payload = payload_of(body, request.headers.get("Content-Type", ""))
            actor = Actor.at_door(request, None, "callback", "callback")
            callbacks.receive(token, payload, actor=actor)
        except callbacks.UnknownCallback:
            throttles.check([forged])
            raise
        except callbacks.CallbackGone as error:
            raise Gone(error.message, error.code) from None
        return Response({"accepted": True}, 202)


# Send a signal to an execution.


# Maximum number of woken steps that the response lists.
MAX_SHOWN = 1_000


class Signal(Body):
    """The name and the payload of a signal."""

    name = Text(max_length=200, trim_whitespace=False)
    payload = Json(required=False, default=dict, allow_null=True)


class WokenRun(CamelCaseSerializer):
    """A run that the signal woke."""

    run_id = serializers.UUIDField()
    step_path = serializers.CharField(help_text="Empty for callers who cannot view the execution.")


class Signalled(CamelCaseSerializer):
    """The runs that a signal woke, and their number."""

    woken = WokenRun(many=True, help_text=f"The steps that continue, at most {MAX_SHOWN:,}.")
    count = serializers.IntegerField(help_text="The number of steps that continue.")


class SignalExecution(Endpoint):
    """The endpoint that sends a signal to an execution."""

    @operation(
        "signalWorkflowExecution",
        "WorkflowExecution",
        {200: Signalled},
        request=Signal,
        errors=[403, 404, 409],
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Wake the steps of one execution that wait for an event of this name.

        Returns 409 (`nobody_waits`) if no step waits for the event or no filter accepts the
        payload. Returns 409 (`filters_too_costly`) if the filters take more than 0.25 s of CPU
        time.
        """
        rows = WorkflowExecution.objects.only("id", "workspace_id", "workflow_id", "state")
        execution, may = obtain(self.user, rows, id, Action.TRIGGER)
        given = self.body(Signal)
        woken = signal(execution, given["name"], given["payload"], actor=self.actor)
        shown = woken[:MAX_SHOWN]
        if not may.allows(Action.VIEW):
            shown = [Woken(one.run_id, "") for one in shown]
        return Response(Signalled({"woken": shown, "count": len(woken)}).data)


# Decide an approval.


class DecisionBody(Body):
    """The decision, and a comment of the user who decides."""

    decision: Any = serializers.ChoiceField([(word, word) for word in DECISIONS])
    comment = Text(required=False, default="", allow_blank=True, max_length=2000)


class Decide(Endpoint):
    """The endpoint that records a decision on an approval."""

    @operation("decideRun", "Run", {200: RunShape}, request=DecisionBody, errors=[403, 404, 409])
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Decide on an approval. The first decision counts; later decisions return 409."""
        given = self.body(DecisionBody)
        run = decide(id, given["decision"], given["comment"], user=self.user, actor=self.actor)
        may = powers_on(self.user, run.execution.workspace_id, run.execution.workflow_id)
        return Response(RunShape(run, context={"may": may}).data)
