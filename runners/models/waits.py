"""The waits of runs: waiters, approvals and early callbacks."""

from typing import Any, ClassVar
from uuid import UUID

from django.db import models
from django.db.models import Q

from executions.database.clock import ClockTimestamp
from executions.models import WorkflowExecution, Workspace
from executions.models.sealed_columns import SealedJSON
from runners.models.run import Run
from runners.states import WaitKind


class Waiter(models.Model):
    """A WAITING run that an outside event may wake; the row is deleted when the wait ends.

    `key` names what the run waits for: an event's name, the ID of a child execution or a quota, or
    a circuit's target. It is empty for an approval, a callback, or the end of a quota's window.
    `unheard_since` is set when the run begins to wait for an event. It is cleared once a worker has
    looked for events that arrived before the wait was visible to other processes.
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


# Approvals: runs that wait, or waited, for a user's decision.


class ApprovalManager(models.Manager["Approval"]):
    """Selects only the runs that wait or waited for an approval."""

    def get_queryset(self) -> models.QuerySet["Approval"]:
        """Return the approvals, read through a partial index of exactly these rows."""
        return super().get_queryset().filter(waits_for=WaitKind.APPROVAL.value)


class Approval(Run):
    """A run of `flow.approval` that has begun to wait: a proxy model of Run."""

    objects: ClassVar[ApprovalManager] = ApprovalManager()

    class Meta:
        proxy = True

    def __str__(self) -> str:
        return self.title or self.step_path

    @property
    def title(self) -> str:
        """Return the question of the approval."""
        return str(self._asked.get("title", ""))

    @property
    def description(self) -> str:
        """Return the description for the approvers; "" if there is none."""
        return str(self._asked.get("description", ""))

    @property
    def approvers(self) -> list[str]:
        """Return the names of the users and roles that may decide; [] for all operators."""
        return list(self._asked.get("approvers", ()))

    @property
    def decision(self) -> str:
        """Return `approved`, `rejected` or `expired`; "" before a decision."""
        found = self._answer
        return "expired" if found.get("by") == "timer" else str(found.get("decision", ""))

    @property
    def decided_by(self) -> str:
        """Return the name of the user who decided; "" if no user has decided."""
        return str(self._answer.get("actor", ""))

    @property
    def comment(self) -> str:
        """Return the comment of the user who decided; "" if there is none."""
        return str(self._answer.get("comment", ""))

    @property
    def _asked(self) -> dict[str, Any]:
        return self.progress or {}

    @property
    def _answer(self) -> dict[str, Any]:
        return self.wake or {}


# A callback that arrived before its step began to wait. It is stored so that the step can continue
# with it.


class EarlyCallback(models.Model):
    """A callback that arrived early, stored until the step at `step_path` begins to wait."""

    SEALED_BY = "execution__workspace"

    execution = models.ForeignKey(
        WorkflowExecution, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    step_path = models.CharField(max_length=1000)
    payload = SealedJSON(null=True)
    received_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["execution", "step_path"], name="early_callback_once"),
        ]

    def __str__(self) -> str:
        return f"{self.step_path} of {self.execution_id}"

    def sealed_workspace(self) -> UUID:
        """Return the ID of the workspace whose key seals the payloads of this row."""
        return self.execution.workspace_id

    def sealed_place(self, column: str) -> str:
        """Return the place to which a column's envelope is bound (`sealing.payloads.place`)."""
        return f"{self.execution_id}|{self.step_path}|callback.{column}"
