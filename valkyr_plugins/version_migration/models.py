"""Migrations of executions: the plan, the rate, the progress and each execution's result.

If the plugin is removed, its tables remain, and the engine must still be able to delete its own
rows. So the foreign keys to accounts and executions have ON DELETE actions in the database.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q

from executions.public.database import ClockTimestamp, set_null, uuid7
from executions.public.language import lazy
from executions.public.models import Workflow, WorkflowExecution, WorkflowVersion, Workspace


class MigrationState(models.TextChoices):
    """A migration's state. Only `lifecycle` writes it."""

    DRAFT = "DRAFT", lazy("draft")
    RUNNING = "RUNNING", lazy("running")
    PAUSED = "PAUSED", lazy("paused")
    DONE = "DONE", lazy("done")
    CANCELLED = "CANCELLED", lazy("cancelled")


class MigratedState(models.TextChoices):
    """The state of one execution of a migration."""

    QUEUED = "QUEUED", lazy("queued")
    MOVED = "MOVED", lazy("moved")
    REFUSED = "REFUSED", lazy("refused")
    SKIPPED = "SKIPPED", lazy("skipped")
    CANCELLED = "CANCELLED", lazy("not moved: the migration was cancelled")


_S = MigrationState

# For each state: the states that may follow it.
MOVES: dict[str, frozenset[str]] = {
    _S.DRAFT: frozenset({_S.RUNNING, _S.CANCELLED}),
    _S.RUNNING: frozenset({_S.PAUSED, _S.DONE, _S.CANCELLED}),
    _S.PAUSED: frozenset({_S.RUNNING, _S.CANCELLED}),
    _S.DONE: frozenset(),
    _S.CANCELLED: frozenset(),
}
FINAL = frozenset(state for state, targets in MOVES.items() if not targets)


class ExecutionMigration(models.Model):
    """A migration of executions; after a crash, no execution is lost or moved twice.

    The executions were listed when the migration was created. `names` maps renamed tasks to their
    new IDs. `rate` is in executions per second; after `canary` moves, the migration pauses once.
    For `patience_seconds`, an execution that is locked or has a running step is tried again.
    """

    AUDITED_AS = "ExecutionMigration"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    workflow = models.ForeignKey(
        Workflow, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    source = models.ForeignKey(
        WorkflowVersion,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
        help_text="The version that the executions leave.",
    )
    target = models.ForeignKey(
        WorkflowVersion,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
        help_text="The version on which the executions continue.",
    )
    names = models.JSONField(
        default=dict, blank=True, help_text="The new IDs of renamed steps, by their old places."
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=set_null,
        null=True,
        blank=True,
        related_name="+",
        db_constraint=False,  # the migration adds a constraint with ON DELETE SET NULL
    )
    created_by_name = models.CharField(max_length=200)
    reason = models.TextField(blank=True, default="")
    rate = models.FloatField(null=True, blank=True)
    canary = models.PositiveIntegerField(default=0)
    canary_done = models.BooleanField(default=False)
    patience_seconds = models.PositiveIntegerField(default=300)
    state = models.CharField(
        max_length=9, choices=MigrationState.choices, default=MigrationState.DRAFT
    )
    pause_reason = models.TextField(blank=True, default="")
    total = models.PositiveIntegerField(default=0)
    truncated = models.BooleanField(
        default=False, help_text="Whether there were more executions than one migration can have."
    )
    moved = models.PositiveIntegerField(default=0)
    refused = models.PositiveIntegerField(default=0)
    skipped = models.PositiveIntegerField(default=0)
    pace_since = models.DateTimeField(null=True, blank=True)
    pace_sent = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(db_default=ClockTimestamp())
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        verbose_name = "migration of executions"
        verbose_name_plural = "migrations of executions"
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=sorted(FINAL), finished_at__isnull=False)
                | (~Q(state__in=sorted(FINAL)) & Q(finished_at__isnull=True)),
                name="migration_final_has_finished_at",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "created_at", "id"], name="migration_list"),
            models.Index(fields=["workflow", "created_at"], name="migration_workflow"),
            models.Index(fields=["id"], condition=Q(state="RUNNING"), name="migration_running"),
            models.Index(
                fields=["created_at"], condition=Q(state="DRAFT"), name="migration_drafts"
            ),
            models.Index(
                fields=["finished_at"],
                condition=Q(finished_at__isnull=False),
                name="migration_ended",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.workflow}: v{self.source.number} → v{self.target.number}"

    @property
    def left(self) -> int:
        """Return the number of queued executions; 0 after a cancellation."""
        if self.state == MigrationState.CANCELLED:
            return 0
        return max(0, self.total - self.moved - self.refused - self.skipped)


class MigratedExecution(models.Model):
    """One execution of a migration, with the reason if it was not moved.

    `not_before` is when the move is tried again; `busy_since` is when the execution was first found
    locked or with a running step.
    """

    id = models.BigAutoField(primary_key=True)
    migration = models.ForeignKey(
        ExecutionMigration, on_delete=models.CASCADE, related_name="items", db_index=False
    )
    execution = models.ForeignKey(
        WorkflowExecution, on_delete=models.CASCADE, related_name="+", db_constraint=False
    )
    state = models.CharField(
        max_length=9, choices=MigratedState.choices, default=MigratedState.QUEUED
    )
    at = models.CharField(max_length=500, blank=True, default="")
    reason = models.CharField(max_length=2_000, blank=True, default="")
    not_before = models.DateTimeField(null=True, blank=True)
    busy_since = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["migration", "execution"], name="migrated_execution_once"
            ),
        ]
        indexes = [
            models.Index(fields=["migration", "state", "id"], name="migrated_state"),
            models.Index(fields=["migration", "id"], name="migrated_list"),
        ]

    def __str__(self) -> str:
        return f"{self.execution_id}: {self.state}"
