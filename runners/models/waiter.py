"""What can wake a waiting run from outside: a person, an event, a callback, a child."""

from django.db import models

from executions.database.clock import ClockTimestamp
from executions.models import WorkflowExecution, Workspace
from runners.models.run import Run
from runners.states import WaitKind


class Waiter(models.Model):
    """One row a WAITING run that something outside may wake; gone once the wait is over.

    `key` is what it listens for: an event's name, the hash of a callback's token, the id of a
    child execution; empty for an approval.
    """

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True)
    execution = models.ForeignKey(WorkflowExecution, on_delete=models.CASCADE, related_name="+")
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    kind = models.CharField(max_length=10, choices=[(k.value, k.value) for k in WaitKind])
    key = models.CharField(max_length=300, blank=True, default="")
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        ordering = ["created_at"]
        indexes = [
            models.Index(fields=["kind", "key", "workspace", "run"], name="waiter_key"),
            models.Index(fields=["workspace", "kind", "created_at"], name="waiter_list"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"
