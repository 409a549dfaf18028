"""Signalling an execution."""

from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, obtain
from executions.api.camel_case import CamelCaseSerializer
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.fields import Body, Json, Text
from executions.models import WorkflowExecution
from runners.waits.signals import Woken, signal

# Of what a signal woke, so many are named.
MAX_SHOWN = 1_000


class Signal(Body):
    """A name that steps wait for, and what they learn."""

    name = Text(max_length=200, trim_whitespace=False)
    payload = Json(required=False, default=dict, allow_null=True)


class WokenRun(CamelCaseSerializer):
    """A step that goes on."""

    run_id = serializers.UUIDField()
    step_path = serializers.CharField(help_text="Empty for callers who may not view the execution.")


class Signalled(CamelCaseSerializer):
    """What a signal did."""

    woken = WokenRun(many=True, help_text=f"The steps that go on, the first {MAX_SHOWN:,}.")
    count = serializers.IntegerField(help_text="How many go on.")


class SignalExecution(Endpoint):
    """Tell an execution that something happened."""

    @operation(
        "signalWorkflowExecution",
        "WorkflowExecution",
        {200: Signalled},
        request=Signal,
        errors=[403, 404, 409],
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Wake the steps of one execution that wait for an event of this name.

        409 (`nobody_waits`) when none does, or no filter lets the payload pass; 409
        (`filters_too_costly`) when their filters take more than 0.25 s of CPU.
        """
        rows = WorkflowExecution.objects.only("id", "workspace_id", "workflow_id", "state")
        execution, may = obtain(self.user, rows, id, Action.TRIGGER)
        given = self.body(Signal)
        woken = signal(execution, given["name"], given["payload"], actor=self.actor)
        shown = woken[:MAX_SHOWN]
        if not may.allows(Action.VIEW):
            shown = [Woken(one.run_id, "") for one in shown]
        return Response(Signalled({"woken": shown, "count": len(woken)}).data)
