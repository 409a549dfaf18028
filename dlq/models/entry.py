"""A dead letter: a permanently failed run, kept until a user resolves it."""

from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import Q

from dlq.models.group import FailureGroup
from executions.database.accounts import set_null
from executions.database.clock import ClockTimestamp
from executions.database.ids import uuid7
from executions.database.postgres_types import GinIndex
from executions.language import lazy
from executions.models import Workflow, WorkflowExecution, Workspace
from executions.models.sealed_columns import SealedJSON, SealedText
from runners.models import Run


class FailureType(models.TextChoices):
    """The reason why a run failed permanently."""

    MAX_RETRIES = "MAX_RETRIES", lazy("retries used up")
    PERMANENT_ERROR = "PERMANENT_ERROR", lazy("permanent error")
    CIRCUIT_BREAKER = "CIRCUIT_BREAKER", lazy("circuit open")
    MANUAL = "MANUAL", lazy("quarantined manually")


class Resolution(models.TextChoices):
    """The resolution of a dead letter; PENDING means open."""

    PENDING = "PENDING", lazy("open")
    REQUEUED = "REQUEUED", lazy("requeued")
    FIXED = "FIXED", lazy("fixed")
    SKIPPED = "SKIPPED", lazy("skipped")
    DISCARDED = "DISCARDED", lazy("discarded")


class DeadLetterEntry(models.Model):
    """The record of one failure; a requeue keeps this record and links it to the new run.

    A requeue of a whole execution, or from a step, starts `requeued_execution` instead. `follows`
    is the previous dead letter of the same step in the same execution, which was requeued, and
    `redrives` counts such requeues. `inputs_indexed` is False if the inputs cannot be searched by
    path, because they are too large or sealed.
    """

    AUDITED_AS = "DeadLetterQueue"  # its name in the API and the audit trail

    SEALED_BY = "workspace"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="+")
    workflow = models.ForeignKey(Workflow, on_delete=models.PROTECT, related_name="+")
    execution = models.ForeignKey(
        WorkflowExecution, on_delete=models.PROTECT, related_name="dead_letters"
    )
    run = models.OneToOneField(Run, on_delete=models.PROTECT, related_name="dead_letter")
    requeued_run = models.ForeignKey(
        Run, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    requeued_execution = models.ForeignKey(
        WorkflowExecution,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
    )
    group = models.ForeignKey(
        FailureGroup, on_delete=models.PROTECT, related_name="entries", db_index=False
    )
    follows = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    redrives = models.PositiveIntegerField(default=0)
    version_number = models.PositiveIntegerField(
        help_text="The number of the workflow's version that ran."
    )
    task_id = models.UUIDField()
    step_path = models.CharField(max_length=1000)
    module = models.CharField(max_length=100)
    failure_type = models.CharField(max_length=20, choices=FailureType.choices)
    failure_reason = SealedText()
    error_type = models.CharField(max_length=12, blank=True, default="")
    exception = models.CharField(max_length=200, blank=True, default="")
    http_status = models.PositiveSmallIntegerField(null=True, blank=True)
    target = models.CharField(
        max_length=300,
        blank=True,
        default="",
        help_text="The system that the step called, such as a host.",
    )
    worker = models.CharField(max_length=200, blank=True, default="")
    fingerprint = models.CharField(max_length=64)
    attempts = models.PositiveIntegerField(default=1)
    original_inputs = SealedJSON(null=True)
    original_config = models.JSONField(null=True)
    inputs_indexed = models.BooleanField(default=True)
    labels = models.JSONField(
        null=True, blank=True, help_text="The labels of the execution: text by name."
    )
    resolution = models.CharField(
        max_length=10, choices=Resolution.choices, default=Resolution.PENDING
    )
    quarantined_at = models.DateTimeField(db_default=ClockTimestamp())
    resolved_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    pinned = models.BooleanField(default=False, help_text="Never deleted by retention.")
    seen_at = models.DateTimeField(
        null=True, blank=True, help_text="The time at which a person first opened the page."
    )
    reviewed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=set_null, null=True, blank=True, related_name="+"
    )
    notes = models.TextField(blank=True, default="")

    class Meta:
        ordering = ["-quarantined_at", "-id"]
        verbose_name_plural = "dead letters"
        verbose_name = "dead letter"
        constraints = [
            models.CheckConstraint(
                condition=Q(resolution="PENDING", resolved_at__isnull=True)
                | (~Q(resolution="PENDING") & Q(resolved_at__isnull=False)),
                name="dead_letter_resolved_has_time",
            ),
        ]
        indexes = [
            models.Index(
                fields=["workspace", "resolution", "quarantined_at", "id"], name="dlq_list"
            ),
            models.Index(fields=["fingerprint", "quarantined_at"], name="dlq_fingerprint"),
            models.Index(fields=["group", "resolution", "id"], name="dlq_group"),
            models.Index(
                fields=["expires_at"], name="dlq_expiry", condition=Q(expires_at__isnull=False)
            ),
            # For deletions of executions: only a few were started again by a dead letter.
            models.Index(
                fields=["requeued_execution"],
                name="dlq_requeued_execution",
                condition=Q(requeued_execution__isnull=False),
            ),
            models.Index(
                fields=["group", "expires_at"],
                name="dlq_group_expiry",
                condition=Q(expires_at__isnull=False, pinned=False),
            ),
            GinIndex(
                fields=["original_inputs"],
                opclasses=["jsonb_path_ops"],
                name="dlq_inputs",
                condition=Q(inputs_indexed=True),
            ),
            GinIndex(
                fields=["labels"],
                opclasses=["jsonb_path_ops"],
                name="dlq_labels",
                condition=Q(labels__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.step_path}: {self.failure_reason[:80]}"

    def sealed_workspace(self) -> UUID:
        """Return the ID of the workspace whose key seals the payloads of this row."""
        return self.workspace_id

    def sealed_place(self, column: str) -> str:
        """Return the place to which a column's envelope is bound (`sealing.payloads.place`)."""
        return f"dead letter {self.pk}|{self.run_id}|{column}"
