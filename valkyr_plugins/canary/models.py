"""Canaries of workflows, and rollbacks with the executions that they settle."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from executions.public.database import ClockTimestamp, set_null, uuid7
from executions.public.language import lazy
from executions.public.models import Workflow, WorkflowVersion, Workspace


class CanaryState(models.TextChoices):
    """The state of a canary; only a RUNNING canary has a share of new executions."""

    RUNNING = "RUNNING", lazy("running")
    STOPPED = "STOPPED", lazy("stopped")
    PROMOTED = "PROMOTED", lazy("promoted")
    REPLACED = "REPLACED", lazy("replaced")


MOVES = {
    CanaryState.RUNNING: {CanaryState.STOPPED, CanaryState.PROMOTED, CanaryState.REPLACED},
    CanaryState.STOPPED: set[CanaryState](),
    CanaryState.PROMOTED: set[CanaryState](),
    CanaryState.REPLACED: set[CanaryState](),
}


class Canary(models.Model):
    """A version for a share of its workflow's new executions; the others use the latest version.

    `stop` is the stop rule as JSON, null without a rule. `figures` contains both versions' figures
    at the end of the canary. `watched_at` is the start of the last check after which the canary
    continued.
    """

    AUDITED_AS = "Canary"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    workflow = models.ForeignKey(
        Workflow, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    version = models.OneToOneField(WorkflowVersion, on_delete=models.CASCADE, related_name="+")
    latest = models.ForeignKey(
        WorkflowVersion,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
        help_text="The version that the other starts take.",
    )
    percent = models.FloatField(help_text="Its share of the starts, in per cent.")
    stop = models.JSONField(null=True)
    promote_at = models.DateTimeField(
        null=True, help_text="When it becomes the latest version by itself, if at all."
    )
    state = models.CharField(max_length=8, choices=CanaryState.choices, default=CanaryState.RUNNING)
    reason = models.TextField(blank=True, default="", help_text="Why it ended.")
    figures = models.JSONField(null=True)
    created_by_name = models.CharField(max_length=200, blank=True, default="")
    ended_by_name = models.CharField(max_length=200, blank=True, default="")
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    watched_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    ended_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["-created_at", "-id"]
        verbose_name = "canary version"
        verbose_name_plural = "canary versions"
        constraints = [
            models.UniqueConstraint(
                fields=["workflow"], condition=Q(state="RUNNING"), name="canary_runs_once"
            ),
            models.CheckConstraint(
                condition=Q(state="RUNNING", ended_at=None)
                | (~Q(state="RUNNING") & Q(ended_at__isnull=False)),
                name="canary_ended_has_time",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "created_at", "id"], name="canary_list"),
            models.Index(fields=["workflow", "created_at"], name="canary_workflow"),
            models.Index(
                fields=["watched_at"], condition=Q(state="RUNNING"), name="canary_running"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.version} ({self.percent:g} %)"


class Treatment(models.TextChoices):
    """The treatment of executions that started on the withdrawn version."""

    LEAVE = "LEAVE", lazy("leave them")
    CANCEL = "CANCEL", lazy("cancel them")
    FORK = "FORK", lazy("fork them onto the good version")


class VersionRollback(models.Model):
    """A withdrawn version, and the treatment of the executions that started on it.

    `at` is the ID of the last processed execution; IDs increase with the start time. `refused`
    lists the first executions that could not be settled, with reasons.
    """

    AUDITED_AS = "Rollback"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    workflow = models.ForeignKey(
        Workflow, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    bad = models.ForeignKey(
        WorkflowVersion, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    good = models.ForeignKey(
        WorkflowVersion, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    switched = models.BooleanField(help_text="The starts took the bad version until then.")
    treatment = models.CharField(max_length=6, choices=Treatment.choices)
    at = models.UUIDField(null=True, editable=False)
    cancelled = models.PositiveIntegerField(default=0)
    forked = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    refused = models.JSONField(default=list)
    reason = models.TextField(blank=True, default="")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=set_null,
        null=True,
        related_name="+",
        db_constraint=False,  # the migration adds a constraint with ON DELETE SET NULL
    )
    created_by_name = models.CharField(max_length=200, blank=True, default="")
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    finished_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["-created_at", "-id"]
        verbose_name = "rollback"
        verbose_name_plural = "rollbacks"
        indexes = [
            models.Index(fields=["workspace", "created_at", "id"], name="rollback_list"),
            models.Index(fields=["workflow", "created_at"], name="rollback_workflow"),
            models.Index(fields=["id"], condition=Q(finished_at=None), name="rollback_unfinished"),
        ]

    def __str__(self) -> str:
        return f"{self.bad} → v{self.good.number}"
