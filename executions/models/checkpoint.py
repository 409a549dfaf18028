"""A named point of an execution to go back to or branch off from."""

from django.conf import settings
from django.db import models
from uuid6 import uuid7

from executions.database.clock import ClockTimestamp
from executions.models.execution import WorkflowExecution
from executions.states import CheckpointKind


class Checkpoint(models.Model):
    """The variables at one moment; the steps' states are derived from the runs finished by then."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    execution = models.ForeignKey(
        WorkflowExecution, on_delete=models.CASCADE, related_name="checkpoints", db_index=False
    )
    kind = models.CharField(
        max_length=6, choices=CheckpointKind.choices, default=CheckpointKind.AUTO
    )
    name = models.CharField(max_length=200, blank=True, default="")
    step_path = models.CharField(
        max_length=1000, blank=True, default="", help_text="The step it was taken after."
    )
    epoch = models.PositiveIntegerField(default=0)
    sequence = models.PositiveIntegerField(help_text="Counts the checkpoints of an execution.")
    variables = models.JSONField(default=dict)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        ordering = ["-sequence"]
        constraints = [
            models.UniqueConstraint(fields=["execution", "sequence"], name="checkpoint_once"),
        ]
        indexes = [models.Index(fields=["created_at"], name="checkpoint_age")]

    def __str__(self) -> str:
        return self.name or f"#{self.sequence} after {self.step_path}"
