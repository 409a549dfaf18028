"""Dead letters as JSON, the filters of their list, and what operators say."""
# ruff: noqa: N815 - the names are the JSON's

from collections.abc import Iterable
from uuid import UUID

from django.db.models import Count
from rest_framework import serializers

from dlq.models import DeadLetterEntry, FailureType, Resolution
from executions.api.bulk import Many
from executions.api.fields import Body, Json, Payload, Text


class DeadLetterSummary(serializers.ModelSerializer[DeadLetterEntry]):
    """A dead letter in a list: everything but inputs and config."""

    runId = serializers.UUIDField(source="run_id")
    executionId = serializers.UUIDField(source="execution_id")
    workflowId = serializers.UUIDField(source="workflow_id")
    taskId = serializers.UUIDField(source="task_id")
    stepPath = serializers.CharField(source="step_path")
    failureReason = serializers.CharField(source="failure_reason")
    failureType = serializers.ChoiceField(FailureType.choices, source="failure_type")
    resolution = serializers.ChoiceField(Resolution.choices)
    occurrences = serializers.SerializerMethodField()
    quarantinedAt = serializers.DateTimeField(source="quarantined_at")
    resolvedAt = serializers.DateTimeField(source="resolved_at", allow_null=True)
    expiresAt = serializers.DateTimeField(source="expires_at", allow_null=True)
    reviewedBy = serializers.SerializerMethodField()
    requeuedRunId = serializers.UUIDField(source="requeued_run_id", allow_null=True)
    requeuedExecutionId = serializers.UUIDField(source="requeued_execution_id", allow_null=True)
    groupId = serializers.UUIDField(source="group_id")
    version = serializers.IntegerField(
        source="version_number", help_text="The number of the workflow's version that ran."
    )
    errorType = serializers.CharField(source="error_type", allow_blank=True)
    httpStatus = serializers.IntegerField(source="http_status", allow_null=True)
    follows = serializers.UUIDField(
        source="follows_id",
        allow_null=True,
        help_text="The dead letter of the same step that was requeued before.",
    )
    seenAt = serializers.DateTimeField(
        source="seen_at", allow_null=True, help_text="When a person first opened its page."
    )

    class Meta:
        model = DeadLetterEntry
        fields = [
            "id", "runId", "executionId", "workflowId", "taskId", "stepPath", "failureReason",
            "failureType", "fingerprint", "occurrences", "quarantinedAt", "expiresAt",
            "resolution", "resolvedAt", "reviewedBy", "requeuedRunId", "requeuedExecutionId",
            "notes", "groupId", "version", "module", "errorType", "exception", "httpStatus",
            "target", "worker", "attempts", "redrives", "follows", "pinned", "seenAt",
        ]  # fmt: skip

    def get_occurrences(self, entry: DeadLetterEntry) -> int:
        """How many dead letters of the workspace have this fingerprint."""
        counted: int = self.context["occurrences"].get((entry.workspace_id, entry.fingerprint), 1)
        return counted

    def get_reviewedBy(  # noqa: N802 - the JSON's name
        self, entry: DeadLetterEntry
    ) -> str | None:
        """Who resolved it, by user name."""
        return entry.reviewed_by.get_username() if entry.reviewed_by else None


class DeadLetterQueue(DeadLetterSummary):
    """A dead letter in full."""

    originalInputs = Payload(source="original_inputs", allow_null=True)
    originalConfig = Payload(source="original_config", allow_null=True)

    class Meta(DeadLetterSummary.Meta):
        fields = [*DeadLetterSummary.Meta.fields, "originalInputs", "originalConfig"]


class Discard(Body):
    """Why it is given up; kept on the entry."""

    notes = Text(max_length=10_000)


class DiscardMany(Many):
    """Which are given up, and why."""

    notes = Text(max_length=10_000)


class SkipBody(Body):
    """Why its step is passed over; kept on the entry."""

    notes = Text(required=False, default="", allow_blank=True, max_length=10_000)


class Why(Body):
    """A reason for the audit trail."""

    reason = Text(required=False, default="", allow_blank=True, max_length=2_000)


class FixBody(Body):
    """What the step has come to."""

    outputs = Json(
        allow_null=True,
        help_text="The step's result, as its module would have given it.",
    )
    outcome = Text(
        required=False,
        max_length=100,
        help_text="How the step ended; needed where it decides where to go on.",
    )
    notes = Text(required=False, default="", allow_blank=True, max_length=10_000)


class Quarantine(Body):
    """Why a live run goes to the dead letters."""

    reason = Text(max_length=2000)


def occurrences(entries: Iterable[DeadLetterEntry]) -> dict[tuple[UUID, str], int]:
    """How often each fingerprint of these entries occurs in its workspace. One query."""
    entries = list(entries)
    rows = (
        DeadLetterEntry.objects.filter(
            workspace_id__in={entry.workspace_id for entry in entries},
            fingerprint__in={entry.fingerprint for entry in entries},
        )
        .order_by()
        .values_list("workspace_id", "fingerprint")
        .annotate(n=Count("id"))
    )
    return {(workspace, fingerprint): n for workspace, fingerprint, n in rows}
