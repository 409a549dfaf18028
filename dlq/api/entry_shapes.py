"""Dead letters as JSON, the filters of their list, and what operators say."""
# ruff: noqa: N815 - the names are the JSON's

from collections.abc import Iterable
from uuid import UUID

from django.db.models import Count
from rest_framework import serializers

from dlq.models import DeadLetterEntry, FailureType, Resolution
from executions.api.bulk import Many
from executions.api.camel_case import CamelCase
from executions.api.fields import Body, Json, Payload, Text


class DeadLetterSummary(CamelCase, serializers.ModelSerializer[DeadLetterEntry]):
    """A dead letter in a list: everything but inputs and config."""

    run_id = serializers.UUIDField()
    execution_id = serializers.UUIDField()
    workflow_id = serializers.UUIDField()
    task_id = serializers.UUIDField()
    step_path = serializers.CharField()
    failure_reason = serializers.CharField()
    failure_type = serializers.ChoiceField(FailureType.choices)
    resolution = serializers.ChoiceField(Resolution.choices)
    occurrences = serializers.SerializerMethodField()
    quarantined_at = serializers.DateTimeField()
    resolved_at = serializers.DateTimeField(allow_null=True)
    expires_at = serializers.DateTimeField(allow_null=True)
    reviewedBy = serializers.SerializerMethodField()
    requeued_run_id = serializers.UUIDField(allow_null=True)
    requeued_execution_id = serializers.UUIDField(allow_null=True)
    group_id = serializers.UUIDField()
    version = serializers.IntegerField(
        source="version_number", help_text="The number of the workflow's version that ran."
    )
    error_type = serializers.CharField(allow_blank=True)
    http_status = serializers.IntegerField(allow_null=True)
    follows = serializers.UUIDField(
        source="follows_id",
        allow_null=True,
        help_text="The dead letter of the same step that was requeued before.",
    )
    seen_at = serializers.DateTimeField(
        allow_null=True, help_text="When a person first opened its page."
    )

    class Meta:
        model = DeadLetterEntry
        fields = [
            "id", "run_id", "execution_id", "workflow_id", "task_id", "step_path", "failure_reason",
            "failure_type", "fingerprint", "occurrences", "quarantined_at", "expires_at",
            "resolution", "resolved_at", "reviewedBy", "requeued_run_id", "requeued_execution_id",
            "notes", "group_id", "version", "module", "error_type", "exception", "http_status",
            "target", "worker", "attempts", "redrives", "follows", "pinned", "seen_at",
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

    original_inputs = Payload(allow_null=True)
    original_config = Payload(allow_null=True)

    class Meta(DeadLetterSummary.Meta):
        fields = [*DeadLetterSummary.Meta.fields, "original_inputs", "original_config"]


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
