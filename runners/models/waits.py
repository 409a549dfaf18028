"""What runs wait for: waiters, approvals, and calls that came too early."""

from typing import Any, ClassVar

from django.db import models
from django.db.models import Q

from executions.database.clock import ClockTimestamp
from executions.models import WorkflowExecution, Workspace
from runners.models.run import Run
from runners.states import WaitKind


class Waiter(models.Model):
    """One row a WAITING run that something outside may wake; gone once the wait is over.

    `key` is what it listens for: an event's name, the hash of a callback's token, the id of a
    child execution; empty for an approval. `unheard_since` is set from the moment the run falls
    asleep until somebody has looked for events that came before others could see it wait.
    """

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True)
    execution = models.ForeignKey(
        WorkflowExecution, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    kind = models.CharField(max_length=10, choices=[(k.value, k.value) for k in WaitKind])
    key = models.CharField(max_length=300, blank=True, default="")
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    unheard_since = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["created_at"]
        indexes = [
            models.Index(fields=["execution"], name="waiter_execution"),
            models.Index(fields=["kind", "key", "workspace", "run"], name="waiter_key"),
            models.Index(
                fields=["unheard_since"],
                condition=Q(unheard_since__isnull=False),
                name="waiter_unheard",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"


# Approvals: the runs that wait, or waited, for a person's decision.


class ApprovalManager(models.Manager["Approval"]):
    """Approvals alone."""

    def get_queryset(self) -> models.QuerySet["Approval"]:
        """By a partial index on exactly these."""
        return super().get_queryset().filter(waits_for=WaitKind.APPROVAL.value)


class Approval(Run):
    """A run of `flow.approval` that has begun to wait; the same row, seen as an approval."""

    objects: ClassVar[ApprovalManager] = ApprovalManager()

    class Meta:
        proxy = True

    def __str__(self) -> str:
        return self.title or self.step_path

    @property
    def title(self) -> str:
        """What is to be decided."""
        return str(self._asked.get("title", ""))

    @property
    def description(self) -> str:
        """What the person should know."""
        return str(self._asked.get("description", ""))

    @property
    def approvers(self) -> list[str]:
        """Who may decide; [] for whoever may operate."""
        return list(self._asked.get("approvers", ()))

    @property
    def decision(self) -> str:
        """`approved`, `rejected` or `expired`; "" while nobody decided."""
        found = self._answer
        return "expired" if found.get("by") == "timer" else str(found.get("decision", ""))

    @property
    def decided_by(self) -> str:
        """Who decided, by name; "" where nobody did."""
        return str(self._answer.get("actor", ""))

    @property
    def comment(self) -> str:
        """What they said to it."""
        return str(self._answer.get("comment", ""))

    @property
    def _asked(self) -> dict[str, Any]:
        return self.progress or {}

    @property
    def _answer(self) -> dict[str, Any]:
        return self.wake or {}


# A call from outside that came before its step waited: kept, so that the step goes on with it.


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
