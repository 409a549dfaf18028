"""Runs as JSON, and the filters of their list."""

# ruff: noqa: N815 - the names are the JSON's

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from executions.api.fields import CamelCase, Json, Payload
from executions.api.paging import ListQuery
from runners.models import Run
from runners.states import ErrorType, RunState, WaitKind

STATES = [(state.value, state.value.lower()) for state in RunState]
ERROR_TYPES = [(kind.value, kind.value.lower()) for kind in ErrorType]
WAITS = [("", "nothing"), *((kind.value, kind.value) for kind in WaitKind)]


class RunSummary(CamelCase, serializers.ModelSerializer[Run]):
    """A run in a list, without large fields."""

    execution_id = serializers.UUIDField()
    task_id = serializers.UUIDField()
    execModuleId = serializers.UUIDField(source="module_id")
    step_path = serializers.CharField()
    state = serializers.ChoiceField(STATES)
    lease_until = serializers.DateTimeField(allow_null=True)
    leased_by = serializers.CharField()
    runnerId = serializers.CharField(source="runner")
    idempotency_key = serializers.CharField()
    inputs_hash = serializers.CharField()
    config_hash = serializers.CharField()
    queued_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    heartbeat_at = serializers.DateTimeField(allow_null=True)
    error_type = serializers.ChoiceField(ERROR_TYPES, allow_blank=True)
    retry_after = serializers.DateTimeField(allow_null=True)
    duration_ms = serializers.FloatField(allow_null=True)
    cost_tokens = serializers.IntegerField()
    waits_for = serializers.ChoiceField(
        WAITS, help_text='What the run waits or waited for; "" for nothing.'
    )
    cached_from = serializers.UUIDField(
        allow_null=True, help_text="The run whose result it reused."
    )
    crashes = serializers.IntegerField(
        help_text=(
            "How many processes ended while this was their only run; after three, the run ends."
        )
    )
    crash_cause = serializers.CharField(help_text='How the last of them ended; "" where none did.')
    suspect = serializers.BooleanField(
        help_text="Whether its process was lost; it then runs in a separate process."
    )

    class Meta:
        model = Run
        fields = [
            "id", "execution_id", "task_id", "execModuleId", "step_path", "module", "attempt",
            "state", "lease_until", "leased_by", "runnerId", "idempotency_key", "inputs_hash",
            "config_hash", "queued_at", "started_at", "finished_at", "heartbeat_at", "outcome",
            "error", "error_type", "retry_after", "duration_ms", "cost_tokens", "waits_for",
            "cached_from", "superseded", "crashes", "crash_cause", "suspect",
        ]  # fmt: skip


class RunShape(RunSummary):
    """A run with its payloads, log and error details."""

    inputs = Payload(allow_null=True)
    outputs = Payload(allow_null=True)
    progress = Json(
        allow_null=True,
        help_text="Details of its wait: a container's counters, an event's name or a question.",
    )
    wake = Payload(
        allow_null=True, help_text=("The cause that ended its wait, and the duration of the wait.")
    )
    logs = Payload(allow_null=True, help_text="Its log, without values of secrets.")
    error_details = Payload(allow_null=True, help_text="The traceback and the details.")

    class Meta(RunSummary.Meta):
        fields = [
            *RunSummary.Meta.fields,
            "inputs", "outputs", "progress", "wake", "logs", "error_details",
        ]  # fmt: skip


class RunQuery(ListQuery):
    """The filters of the list of runs."""

    executionId = serializers.UUIDField(required=False)
    taskId = serializers.UUIDField(required=False)
    place = serializers.CharField(
        required=False,
        max_length=1000,
        help_text='The beginning of step paths, such as "refine[2]."; needs executionId.',
    )
    state = serializers.ChoiceField(STATES, required=False)
    queuedAfter = serializers.DateTimeField(required=False)
    queuedBefore = serializers.DateTimeField(required=False)

    def validate(self, attrs: Any) -> Any:
        """Check that `executionId` is given if `place` is. Raises ValidationError."""
        if "place" in attrs and "executionId" not in attrs:
            raise serializers.ValidationError(
                {"place": "A place belongs to an execution; send executionId too."},
                code="needs_execution",
            )
        return attrs


# The version that a new execution runs: its origin's version, the latest, or a numbered one.


MAX_VERSION = 2**31 - 1


@extend_schema_field(
    {
        "oneOf": [
            {"type": "string", "enum": ["pinned", "latest"]},
            {"type": "integer", "minimum": 1, "maximum": MAX_VERSION},
        ]
    }
)
class VersionField(serializers.Field[Any, Any, Any, Any]):
    """The version of a new execution: `pinned`, `latest`, or a version's number."""

    default_error_messages = {"version": 'Expected "pinned", "latest" or a number from 1 up.'}

    def to_internal_value(self, data: Any) -> str | int:
        """Return `pinned`, `latest` or a number. Raises ValidationError for any other value."""
        number = isinstance(data, int) and not isinstance(data, bool) and 1 <= data <= MAX_VERSION
        if not number and data not in ("pinned", "latest"):
            self.fail("version")
        known: str | int = data
        return known

    def to_representation(self, value: Any) -> Any:
        """Return the value unchanged."""
        return value
