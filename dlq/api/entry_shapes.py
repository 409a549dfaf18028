"""Dead letters as JSON, the filters of their list, and what operators say."""
# ruff: noqa: N815 - the names are the JSON's

from collections.abc import Iterable
from uuid import UUID

from django.db.models import Count
from rest_framework import serializers

from dlq.models import DeadLetterEntry, FailureType, Resolution
from executions.api.bulk import Many
from executions.api.fields import Body, Json, Payload, Text
from executions.api.paging import ListQuery


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

    class Meta:
        model = DeadLetterEntry
        fields = [
            "id", "runId", "executionId", "workflowId", "taskId", "stepPath", "failureReason",
            "failureType", "fingerprint", "occurrences", "quarantinedAt", "expiresAt",
            "resolution", "resolvedAt", "reviewedBy", "requeuedRunId", "notes",
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


class DeadLetterQuery(ListQuery):
    """The filters of the list of dead letters."""

    resolution = serializers.ChoiceField(Resolution.choices, required=False)
    failureType = serializers.ChoiceField(FailureType.choices, required=False)
    workflowId = serializers.UUIDField(required=False)
    executionId = serializers.UUIDField(required=False)
    fingerprint = serializers.CharField(required=False, max_length=64)
    quarantinedAfter = serializers.DateTimeField(required=False)
    quarantinedBefore = serializers.DateTimeField(required=False)


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
