"""Runs as JSON, and the filters of their list."""
# ruff: noqa: N815 - the names are the JSON's

from typing import Any

from rest_framework import serializers

from executions.api.fields import Json, Payload
from executions.api.paging import ListQuery
from runners.models import Run
from runners.states import ErrorType, RunState, WaitKind

STATES = [(state.value, state.value.lower()) for state in RunState]
ERROR_TYPES = [(kind.value, kind.value.lower()) for kind in ErrorType]
WAITS = [("", "nothing"), *((kind.value, kind.value) for kind in WaitKind)]


class RunSummary(serializers.ModelSerializer[Run]):
    """A run in a list: everything but what may be large."""

    executionId = serializers.UUIDField(source="execution_id")
    taskId = serializers.UUIDField(source="task_id")
    execModuleId = serializers.UUIDField(source="module_id")
    stepPath = serializers.CharField(source="step_path")
    state = serializers.ChoiceField(STATES)
    leaseUntil = serializers.DateTimeField(source="lease_until", allow_null=True)
    leasedBy = serializers.CharField(source="leased_by")
    runnerId = serializers.CharField(source="runner")
    idempotencyKey = serializers.CharField(source="idempotency_key")
    inputsHash = serializers.CharField(source="inputs_hash")
    configHash = serializers.CharField(source="config_hash")
    queuedAt = serializers.DateTimeField(source="queued_at")
    startedAt = serializers.DateTimeField(source="started_at", allow_null=True)
    finishedAt = serializers.DateTimeField(source="finished_at", allow_null=True)
    heartbeatAt = serializers.DateTimeField(source="heartbeat_at", allow_null=True)
    errorType = serializers.ChoiceField(ERROR_TYPES, source="error_type", allow_blank=True)
    retryAfter = serializers.DateTimeField(source="retry_after", allow_null=True)
    durationMs = serializers.FloatField(source="duration_ms", allow_null=True)
    costTokens = serializers.IntegerField(source="cost_tokens")
    waitsFor = serializers.ChoiceField(
        WAITS, source="waits_for", help_text='What it waits, or waited, for; "" is nothing.'
    )
    cachedFrom = serializers.UUIDField(
        source="cached_from", allow_null=True, help_text="The run whose result it reused."
    )
    crashes = serializers.IntegerField(
        help_text="How many processes ended while this run alone executed in them; three end it."
    )
    crashCause = serializers.CharField(
        source="crash_cause", help_text='How the last of them ended; "" where none did.'
    )
    suspect = serializers.BooleanField(
        help_text="Whether its process was lost, so that it is executed in one of its own."
    )

    class Meta:
        model = Run
        fields = [
            "id", "executionId", "taskId", "execModuleId", "stepPath", "module", "attempt",
            "state", "leaseUntil", "leasedBy", "runnerId", "idempotencyKey", "inputsHash",
            "configHash", "queuedAt", "startedAt", "finishedAt", "heartbeatAt", "outcome",
            "error", "errorType", "retryAfter", "durationMs", "costTokens", "waitsFor",
            "cachedFrom", "superseded", "crashes", "crashCause", "suspect",
        ]  # fmt: skip


class RunShape(RunSummary):
    """A run in full."""

    inputs = Payload(allow_null=True)
    outputs = Payload(allow_null=True)
    progress = Json(
        allow_null=True,
        help_text="What it knows of its wait: a container's counters, an event's name, a question.",
    )
    wake = Payload(allow_null=True, help_text="What ended its wait, and after how long.")
    logs = Payload(allow_null=True, help_text="What it wrote to its log, scrubbed of secrets.")
    errorDetails = Payload(
        source="error_details", allow_null=True, help_text="The traceback and what came with it."
    )

    class Meta(RunSummary.Meta):
        fields = [
            *RunSummary.Meta.fields,
            "inputs", "outputs", "progress", "wake", "logs", "errorDetails",
        ]  # fmt: skip


class RunQuery(ListQuery):
    """The filters of the list of runs."""

    executionId = serializers.UUIDField(required=False)
    taskId = serializers.UUIDField(required=False)
    place = serializers.CharField(
        required=False,
        max_length=1000,
        help_text='How step paths begin, such as "refine[2]."; needs executionId.',
    )
    state = serializers.ChoiceField(STATES, required=False)
    queuedAfter = serializers.DateTimeField(required=False)
    queuedBefore = serializers.DateTimeField(required=False)

    def validate(self, attrs: Any) -> Any:
        """A place is one of an execution; across all of them nothing is ordered by path."""
        if "place" in attrs and "executionId" not in attrs:
            raise serializers.ValidationError(
                {"place": "A place belongs to an execution; give executionId as well."},
                code="needs_execution",
            )
        return attrs
