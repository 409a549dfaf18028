"""Rolling back, forking and replaying as JSON: what comes in, what goes out."""
# ruff: noqa: N815 - the names are the JSON's

from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer
from rest_framework import serializers

from executions.public.api import (
    Body,
    CamelCaseSerializer,
    Flag,
    Json,
    JsonObject,
    Payload,
    Text,
    WorkflowExecutionShape,
)
from executions.public.jobs import JobState
from runners.public.api import VersionField

MAX_STEPS = 100


class StepInputs(JsonObject):
    """Inputs by step path, each an object."""

    default_error_messages = {
        "inputs": "Expected an object of inputs by step path, each an object.",
        "many": f"At most {MAX_STEPS} steps can be changed.",
    }

    def to_internal_value(self, data: Any) -> Any:
        """The object itself; raises ValidationError."""
        if not isinstance(data, dict) or not all(isinstance(v, dict) for v in data.values()):
            self.fail("inputs")
        if len(data) > MAX_STEPS:
            self.fail("many")
        return data


class ForkOverrides(Body):
    """What a fork changes; everything is merged into what is there (RFC 7396)."""

    input = Json(required=False, allow_null=True, help_text="The payload.")
    variables = JsonObject(required=False, help_text="Declared variables by name.")
    steps = StepInputs(
        required=False, help_text="Inputs, by the paths of steps that the fork begins with."
    )


class Rollback(Body):
    """Where to go back to: one of both."""

    checkpointId = serializers.UUIDField(required=False, allow_null=True)
    stepPath = Text(
        required=False,
        allow_null=True,
        max_length=1000,
        help_text="A finished step; what follows it runs again.",
    )
    reason = Text(required=False, default="", allow_blank=True, max_length=2000)


class Fork(Body):
    """Where to branch off, and what is to be different."""

    checkpointId = serializers.UUIDField(required=False, allow_null=True)
    stepPath = Text(
        required=False,
        allow_null=True,
        max_length=1000,
        help_text="A step; it runs again, in the fork.",
    )
    version = VersionField(required=False, default="pinned")
    overrides = ForkOverrides(required=False, allow_null=True)
    reason = Text(required=False, default="", allow_blank=True, max_length=2000)


class Replay(Body):
    """Whether to run again, or only to see that it would come out the same."""

    verify = Flag(required=False, default=False)
    reason = Text(required=False, default="", allow_blank=True, max_length=2000)


class DifferenceShape(CamelCaseSerializer):
    """One thing that came out otherwise."""

    step_path = serializers.CharField(allow_blank=True)
    field = serializers.CharField()
    recorded = Payload(allow_null=True)
    replayed = Payload(allow_null=True)


class VerificationShape(CamelCaseSerializer):
    """What replaying with recorded results found; at most 100 differences."""

    same = serializers.BooleanField()
    steps = serializers.IntegerField(help_text="How many steps were rendered again.")
    complete = serializers.BooleanField(help_text="False when there were more than were looked at.")
    differences = DifferenceShape(many=True)


class VerificationJob(CamelCaseSerializer):
    """A verification that a worker computes."""

    id = serializers.UUIDField()
    executionId = serializers.UUIDField(source="subject")
    state = serializers.ChoiceField(choices=JobState.choices)
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    error_code = serializers.CharField(allow_blank=True, help_text="Empty unless it failed.")
    error = serializers.CharField(allow_blank=True)
    result = VerificationShape(allow_null=True, help_text="Null unless it succeeded.")


REPLAYED = PolymorphicProxySerializer(
    component_name="ReplayAccepted",
    serializers=[WorkflowExecutionShape, VerificationJob],
    resource_type_field_name=None,
)
