"""Test runs: run the draft, or a part of it, once."""

# ruff: noqa: N815 - the names are the JSON's
from typing import Any
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions import addresses
from executions.access import Action
from executions.api.documentation import operation
from executions.api.executions import WorkflowExecutionShape
from executions.api.fields import Body, Json, JsonObject, Text, Whole
from executions.api.starting import Starting
from executions.definition.graph.schema import MAX_TASKS
from executions.definition.graph.trial import Pin, TrialRequest
from executions.publishing.operations import start_trial


class PinShape(Body):
    """The pinned result of a task."""

    output = Json(required=False, default=None, allow_null=True, help_text="Used without changes.")
    outcome = Text(
        required=False,
        max_length=100,
        help_text=(
            "An outcome of the task, error, or skipped. Default: success, or the only outcome "
            "with an edge."
        ),
    )


class Pins(serializers.DictField):
    """Pinned results, keyed by task ID."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the pins. Raises ValidationError if they are invalid or too many."""
        if isinstance(data, dict) and len(data) > MAX_TASKS:
            message = f"Found {len(data):,}; at most {MAX_TASKS:,} are allowed."
            raise serializers.ValidationError(message, code="too_many")
        return super().to_internal_value(data)


class NewTestRun(Body):
    """The body of `testWorkflow`."""

    definition = JsonObject(required=False, help_text="Runs in place of the stored draft.")
    params = Json(required=False, default=dict, allow_null=True, help_text="The payload.")
    upTo = Text(
        required=False, allow_null=True, help_text="Run only this task and the tasks before it."
    )
    pinned = Pins(
        child=PinShape(),
        required=False,
        help_text="Results to use instead of running tasks, by task id.",
    )
    priority = Whole(required=False, allow_null=True, min_value=0, max_value=9)

    def get_fields(self) -> Any:
        """Return the fields, including `from`, which is a Python keyword."""
        start = Text(
            required=False,
            allow_null=True,
            help_text="Run this task and the tasks after it. Pin the results that it needs "
            "from earlier tasks.",
        )
        return {**super().get_fields(), "from": start}


def asked(given: dict[str, Any]) -> TrialRequest:
    """Return the part to run and the pins that a validated `NewTestRun` requests."""
    pinned = given.get("pinned", {}).items()
    pins = {name: Pin(pin["output"], pin.get("outcome")) for name, pin in pinned}
    return TrialRequest(given.get("upTo"), given.get("from"), pins)


class StartTestRun(Starting):
    """The endpoint that starts one test run."""

    names = "id"

    @operation(
        "testWorkflow",
        "Workflow",
        {202: WorkflowExecutionShape},
        request=NewTestRun,
        errors=[403, 404, 409, 429],
        idempotent=True,
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Run the draft, or the definition in the body, as a separate test version.

        `upTo` and `from` choose a part of the graph. `pinned` gives results for tasks, which then
        do not run. The draft stays unchanged. The test version is deleted after a day by default.
        """
        workflow, may = self.workflow(id, Action.AUTHOR)
        self.workflow(id, Action.TRIGGER)
        given = self.body(NewTestRun)
        execution = start_trial(
            workflow,
            given["params"],
            asked(given),
            actor=self.actor,
            definition=given.get("definition"),
            priority=given.get("priority"),
        )
        return Response(
            WorkflowExecutionShape(execution, context={"may": may}).data,
            202,
            headers={"Location": addresses.api("execution", execution.pk)},
        )
