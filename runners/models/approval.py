"""Approvals: the runs that wait, or waited, for a person's decision."""

from typing import Any, ClassVar

from django.db import models

from runners.models.run import Run
from runners.states import WaitKind


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
