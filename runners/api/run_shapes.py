"""Runs as JSON, and the filters of their list."""
# ruff: noqa: N815 - the names are the JSON's

from typing import Any

from rest_framework import serializers

from executions.api.fields import Json
from executions.api.paging import PageQuery
from runners.models import Run
from runners.states import ErrorType, RunState

STATES = [(state.value, state.value.lower()) for state in RunState]
ERROR_TYPES = [(kind.value, kind.value.lower()) for kind in ErrorType]
MAX_TIMELINE = 5000


class RunSummary(serializers.ModelSerializer[Run]):
    """A run in a list: everything but inputs and outputs."""

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

    class Meta:
        model = Run
        fields = [
            "id", "executionId", "taskId", "execModuleId", "stepPath", "module", "attempt",
            "state", "leaseUntil", "leasedBy", "runnerId", "idempotencyKey", "inputsHash",
            "configHash", "queuedAt", "startedAt", "finishedAt", "heartbeatAt", "outcome",
            "error", "errorType", "retryAfter", "durationMs", "costTokens",
        ]  # fmt: skip


class RunShape(RunSummary):
    """A run in full."""

    inputs = Json(allow_null=True)
    outputs = Json(allow_null=True)

    class Meta(RunSummary.Meta):
        fields = [*RunSummary.Meta.fields, "inputs", "outputs"]


class Bar(serializers.ModelSerializer[Run]):
    """One attempt of one step on the time axis."""

    stepPath = serializers.CharField(source="step_path")
    taskId = serializers.UUIDField(source="task_id")
    state = serializers.ChoiceField(STATES)
    queuedAt = serializers.DateTimeField(source="queued_at")
    startedAt = serializers.DateTimeField(source="started_at", allow_null=True)
    finishedAt = serializers.DateTimeField(source="finished_at", allow_null=True)
    durationMs = serializers.FloatField(source="duration_ms", allow_null=True)
    errorType = serializers.ChoiceField(ERROR_TYPES, source="error_type", allow_blank=True)

    class Meta:
        model = Run
        fields = [
            "stepPath", "taskId", "attempt", "state", "queuedAt", "startedAt", "finishedAt",
            "durationMs", "outcome", "errorType",
        ]  # fmt: skip


class RunQuery(PageQuery):
    """The filters of the list of runs."""

    executionId = serializers.UUIDField(required=False)
    taskId = serializers.UUIDField(required=False)
    state = serializers.ChoiceField(STATES, required=False)


class TimelineQuery(PageQuery):
    """A timeline comes whole; only one of more than 5,000 bars comes in pages."""

    limit: Any = serializers.IntegerField(
        required=False, default=MAX_TIMELINE, min_value=1, max_value=MAX_TIMELINE
    )
