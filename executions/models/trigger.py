"""Triggers and their records: fire times, webhook requests, events and refused messages."""

from uuid import UUID

from django.db import models
from django.db.models import Q

from executions.database.clock import ClockTimestamp
from executions.database.ids import uuid7
from executions.models.execution import WorkflowExecution
from executions.models.sealed_columns import SealedJSON, SealedText
from executions.models.workflow import Workflow
from executions.models.workspace import Workspace
from executions.states import TickStatus, TriggerType


class Trigger(models.Model):
    """One entry of a published version's `triggers:`; publishing keeps these rows in sync.

    `enabled` is set by users, and False for a retired trigger, which the newest version no longer
    has. `returns_enabled` is the value of `enabled` before the retirement. Times before
    `enabled_at` or `paused_until` do not fire. `next_at` is an enabled schedule's first time that
    has no tick yet; None if there is no such time or the workspace is archived.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workflow = models.ForeignKey(Workflow, on_delete=models.PROTECT, related_name="triggers")
    type = models.CharField(max_length=10, choices=TriggerType.choices)
    settings = models.JSONField(default=dict)
    beat = models.JSONField(
        null=True,
        editable=False,
        help_text="The periodic task of beat for this schedule, if there is one.",
    )
    enabled = models.BooleanField(default=True)
    secret_version = models.PositiveIntegerField(
        default=1,
        help_text="The number of the webhook's current secret. Secrets are derived, never stored.",
    )
    former_secret_until = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="The time until which the previous secret is also accepted.",
    )
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    enabled_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    paused_until = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="The time until which a schedule is paused. Empty if it was never paused.",
    )
    retired_at = models.DateTimeField(null=True, blank=True, editable=False)
    returns_enabled = models.BooleanField(default=True, db_default=True, editable=False)
    next_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["created_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(retired_at__isnull=True) | Q(enabled=False), name="trigger_retired_off"
            ),
        ]
        indexes = [
            models.Index(fields=["next_at"], condition=Q(enabled=True), name="trigger_due"),
        ]

    def __str__(self) -> str:
        return f"{self.type} of {self.workflow}"


class CronTick(models.Model):
    """One fire time of a schedule; the row ensures that this time fires at most once.

    A QUEUED tick starts no earlier than `start_at`, which jitter or an exceeded quota delays.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    trigger = models.ForeignKey(Trigger, on_delete=models.CASCADE, related_name="ticks")
    fire_at = models.DateTimeField()
    execution = models.ForeignKey(
        WorkflowExecution, on_delete=models.PROTECT, null=True, related_name="+"
    )
    status = models.CharField(max_length=8, choices=TickStatus.choices, default=TickStatus.FIRED)
    start_at = models.DateTimeField(null=True, blank=True)
    reason = models.CharField(max_length=200, blank=True, default="")
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        ordering = ["-fire_at"]
        constraints = [
            models.UniqueConstraint(fields=["trigger", "fire_at"], name="tick_once"),
            models.CheckConstraint(
                condition=Q(execution__isnull=False) | ~Q(reason=""), name="tick_explained"
            ),
            models.CheckConstraint(
                condition=Q(status="FIRED", execution__isnull=False)
                | (~Q(status="FIRED") & Q(execution__isnull=True)),
                name="tick_fired_has_execution",
            ),
            models.CheckConstraint(
                condition=~Q(status="QUEUED") | Q(start_at__isnull=False),
                name="tick_queued_has_start_at",
            ),
        ]
        indexes = [
            models.Index(
                fields=["trigger", "fire_at"], condition=Q(status="QUEUED"), name="tick_queued"
            ),
            models.Index(fields=["status", "id"], name="tick_status"),
        ]

    def __str__(self) -> str:
        return f"{self.trigger} at {self.fire_at}"


class WebhookDelivery(models.Model):
    """An accepted request: its signature is not accepted again within the time window."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    trigger = models.ForeignKey(Trigger, on_delete=models.CASCADE, related_name="deliveries")
    signature = models.CharField(max_length=64, help_text="SHA-256 of the signed content, in hex.")
    # Without a constraint, because the row is deleted within minutes, long before its execution.
    # PostgreSQL would check a constraint on every insert and, with a scan, on every deletion of an
    # execution.
    execution = models.ForeignKey(
        WorkflowExecution,
        on_delete=models.DO_NOTHING,
        null=True,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(fields=["trigger", "signature"], name="delivery_once"),
        ]
        indexes = [models.Index(fields=["created_at"], name="delivery_age")]

    def __str__(self) -> str:
        return f"{self.signature[:12]} at {self.created_at}"


class Event(models.Model):
    """An event, published once, which starts workflows and wakes waiting runs.

    `delivered_at` is set once every waiting run has been checked. `delivered_to` is the last run
    that was checked so far, and `looked_at` is the time of that check.
    """

    SEALED_BY = "workspace"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="+")
    event_id = models.CharField(
        max_length=200, help_text="The sender's id. A repeated id starts nothing."
    )
    name = models.CharField(max_length=200)
    payload = SealedJSON(null=True)
    started = models.JSONField(default=list, help_text="The result of each trigger.")
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    delivered_at = models.DateTimeField(null=True, blank=True, editable=False)
    delivered_to = models.UUIDField(null=True, editable=False)
    looked_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "event_id"], name="event_once"),
        ]
        indexes = [
            models.Index(fields=["workspace", "created_at", "id"], name="event_list"),
            models.Index(
                fields=["created_at"], condition=Q(delivered_at__isnull=True), name="event_new"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.event_id}"

    def sealed_workspace(self) -> UUID:
        """Return the ID of the workspace whose key seals the payloads of this row."""
        return self.workspace_id

    def sealed_place(self, column: str) -> str:
        """Return the text to which a column's envelope is bound (`sealing.payloads.place`)."""
        return f"event {self.pk}||{column}"


class RefusedMessage(models.Model):
    """A queue message for which a QUEUE trigger could not start an execution."""

    SEALED_BY = "trigger__workflow__workspace"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    trigger = models.ForeignKey(Trigger, on_delete=models.CASCADE, related_name="refused")
    body = SealedText(
        blank=True, default="", help_text="The original message, truncated at 64 KiB."
    )
    headers = SealedJSON(default=dict)
    code = models.CharField(max_length=60)
    reason = SealedText()
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolution = models.CharField(max_length=20, blank=True, default="")
    execution = models.ForeignKey(
        WorkflowExecution, on_delete=models.PROTECT, null=True, related_name="+", db_index=False
    )

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(fields=["trigger", "created_at", "id"], name="refused_list"),
            # For deletions of executions: only a few refused messages started one later.
            models.Index(
                fields=["execution"],
                condition=Q(execution__isnull=False),
                name="refused_execution",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.code}: {self.reason[:60]}"

    def sealed_workspace(self) -> UUID:
        """Return the ID of the workspace whose key seals the payloads of this row."""
        return self.trigger.workflow.workspace_id

    def sealed_place(self, column: str) -> str:
        """Return the text to which a column's envelope is bound (`sealing.payloads.place`)."""
        return f"refused {self.pk}||{column}"
