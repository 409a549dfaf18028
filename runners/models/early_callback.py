"""A call from outside that came before its step waited: kept, so that the step goes on with it."""

from django.db import models

from executions.database.clock import ClockTimestamp
from executions.models import WorkflowExecution


class EarlyCallback(models.Model):
    """One row until the step begins to wait; `step_path` says which it is for."""

    execution = models.ForeignKey(
        WorkflowExecution, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    step_path = models.CharField(max_length=1000)
    payload = models.JSONField(null=True)
    received_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["execution", "step_path"], name="early_callback_once"),
        ]

    def __str__(self) -> str:
        return f"{self.step_path} of {self.execution_id}"
