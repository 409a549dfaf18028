"""Points of an execution to which it can be rolled back, or from which it can be forked."""

from uuid import UUID

from django.conf import settings
from django.db import models

from executions.public.database import ClockTimestamp, set_null, uuid7
from executions.public.language import lazy
from executions.public.models import WorkflowExecution
from executions.public.sealing import SealedObject


class CheckpointKind(models.TextChoices):
    """Whether the engine or a user took a checkpoint."""

    AUTO = "AUTO", lazy("by the engine")
    MANUAL = "MANUAL", lazy("manually")


class Checkpoint(models.Model):
    """The variables at one moment; the steps' states are derived from the runs that ended by then.

    The database itself deletes a checkpoint with its execution, and clears references to deleted
    accounts. So the engine can delete executions and accounts even if this plugin was removed.
    """

    SEALED_BY = "execution__workspace"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    execution = models.ForeignKey(
        WorkflowExecution,
        on_delete=models.CASCADE,
        related_name="checkpoints",
        db_index=False,
        db_constraint=False,  # the migration adds a constraint with ON DELETE CASCADE
    )
    kind = models.CharField(
        max_length=6, choices=CheckpointKind.choices, default=CheckpointKind.AUTO
    )
    name = models.CharField(max_length=200, blank=True, default="")
    step_path = models.CharField(
        max_length=1000,
        blank=True,
        default="",
        help_text="The step after which the checkpoint was taken.",
    )
    epoch = models.PositiveIntegerField(default=0)
    sequence = models.PositiveIntegerField(
        help_text="The number of the checkpoint within its execution."
    )
    variables = SealedObject(default=dict)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=set_null,
        null=True,
        related_name="+",
        db_constraint=False,  # the migration adds a constraint with ON DELETE SET NULL
    )
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        db_table = "executions_checkpoint"
        ordering = ["-sequence"]
        constraints = [
            models.UniqueConstraint(fields=["execution", "sequence"], name="checkpoint_once"),
        ]
        indexes = [models.Index(fields=["created_at"], name="checkpoint_age")]

    def __str__(self) -> str:
        after = f" after {self.step_path}" if self.step_path else ""
        return self.name or f"#{self.sequence}{after}"

    def sealed_workspace(self) -> UUID:
        """Return the workspace whose key seals the variables."""
        return self.execution.workspace_id

    def sealed_place(self, column: str) -> str:
        """Return the row and field to which the sealed variables are bound.

        These are the execution and its variables, because SQL copies the sealed values.
        """
        return f"{self.execution_id}||context_data"
