"""The journal of agents that run inside steps."""

from uuid import UUID

from django.db import models

from executions.public.database import ClockTimestamp, uuid7
from executions.public.models import WorkflowExecution
from executions.public.sealing import SealedObject


class AgentUnit(models.Model):
    """One recorded call that an agent made inside a step, for example of a model or a tool.

    `key` is the step's idempotency key, the same for all its attempts; `number` counts the calls. A
    recorded call never changes. The database itself deletes a call with its execution. So the
    engine can delete executions even if this plugin was removed and its table remains.
    """

    SEALED_BY = "execution__workspace"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    execution = models.ForeignKey(
        WorkflowExecution,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
        db_constraint=False,  # the migration adds a constraint with ON DELETE CASCADE
    )
    key = models.CharField(max_length=64)
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=300)
    attempt = models.PositiveIntegerField(help_text="The attempt of the step that made the call.")
    result = SealedObject(help_text="Its result, as `value`.")
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        verbose_name = "agent call"
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["execution", "key", "number"], name="agent_unit_once"),
        ]

    def __str__(self) -> str:
        return f"#{self.number} {self.name}"

    def sealed_workspace(self) -> UUID:
        """Return the ID of the workspace whose key seals the result."""
        return self.execution.workspace_id

    def sealed_place(self, column: str) -> str:
        """Return the row and column to which the sealed result is bound, as text."""
        return f"{self.execution_id}|{self.key}:{self.number}|{column}"
