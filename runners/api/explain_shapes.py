"""An explanation as JSON."""
# ruff: noqa: N815 - the names are the JSON's

from rest_framework import serializers

from executions.api.camel_case import CamelCaseSerializer
from executions.api.fields import Json
from executions.states import ExecutionState
from runners.states import RunState

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
    explainedAt = serializers.DateTimeField(source="at")
    reason = ReasonShape()
    steps = ExplainedStep(many=True)
    containers = ContainerCount(many=True)
    truncated = serializers.BooleanField(source="more", help_text="Whether more is not shown.")
