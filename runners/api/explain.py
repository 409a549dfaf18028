"""Explains why an execution is not over."""

from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, obtain
from executions.api.camel_case import CamelCaseSerializer
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.fields import Json
from executions.models import WorkflowExecution
from executions.states import ExecutionState
from runners.explain.explanation import explain
from runners.states import RunState

# An explanation as JSON.

STATES = [(state.value, state.value.lower()) for state in RunState]


class ReasonShape(CamelCaseSerializer):
    """Why something does not go on: for programs, for people, and what it is about."""

    code = serializers.CharField(help_text="Stable; docs/api.md lists them.")
    message = serializers.CharField()
    since = serializers.DateTimeField(allow_null=True)
    until = serializers.DateTimeField(
        allow_null=True, help_text="When it changes by itself, where that is known."
    )
    details = Json(help_text="Ids, times and numbers, by code.")


class ExplainedStep(CamelCaseSerializer):
    """A step that is not done, or a task that has not begun (without run, state and attempt)."""

    path = serializers.CharField()
    task_id = serializers.UUIDField()
    run_id = serializers.UUIDField(allow_null=True)
    state = serializers.ChoiceField(STATES, allow_null=True)
    attempt = serializers.IntegerField(allow_null=True)
    reason = ReasonShape()


class ContainerCount(CamelCaseSerializer):
    """How many live runs the bodies of a loop or map have in a state."""

    container = serializers.CharField()
    state = serializers.ChoiceField(STATES)
    runs = serializers.IntegerField()


class ExplanationShape(CamelCaseSerializer):
    """Everything that keeps an execution from going on."""

    execution_id = serializers.UUIDField()
    state = serializers.ChoiceField(ExecutionState.choices)
    explainedAt = serializers.DateTimeField(source="at")  # noqa: N815 - the JSON's name
    reason = ReasonShape()
    steps = ExplainedStep(many=True)
    containers = ContainerCount(many=True)
    truncated = serializers.BooleanField(source="more", help_text="Whether more is not shown.")


LARGE = ("trigger_payload", "context_data", "output", "error_stack_trace", "metrics_snapshot")


class ExplainExecution(Endpoint):
    """Why an execution, and each of its steps, is where it is."""

    @operation(
        "explainWorkflowExecution",
        "WorkflowExecution",
        {200: ExplanationShape},
        errors=[403, 404],
    )
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Why the execution is not over, with a reason for each step that is not done."""
        row, _ = obtain(self.user, WorkflowExecution.objects.defer(*LARGE), id, Action.VIEW)
        return Response(ExplanationShape(explain(row)).data)
