"""What starts executions by itself, and the record of each time it was due."""

from django.db import models
from django.db.models import Q
from uuid6 import uuid7

from executions.clock import ClockTimestamp
from executions.models.execution import WorkflowExecution
from executions.models.workflow import Workflow
from executions.states import TriggerType


class Trigger(models.Model):
    """One entry of a published version's `triggers:`; publishing keeps these rows in step."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workflow = models.ForeignKey(Workflow, on_delete=models.PROTECT, related_name="triggers")
    type = models.CharField(max_length=10, choices=TriggerType.choices)
    settings = models.JSONField(default=dict)
    enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        ordering = ["created_at"]

    def __str__(self) -> str:
        return f"{self.type} of {self.workflow}"


class CronTick(models.Model):
    """One fire time of a schedule. Its row is the guard: no time fires twice."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    trigger = models.ForeignKey(Trigger, on_delete=models.CASCADE, related_name="ticks")
    fire_at = models.DateTimeField()
    execution = models.ForeignKey(
        WorkflowExecution, on_delete=models.PROTECT, null=True, related_name="+"
    )
    reason = models.CharField(max_length=200, blank=True, default="")
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        ordering = ["-fire_at"]
        constraints = [
            models.UniqueConstraint(fields=["trigger", "fire_at"], name="tick_once"),
            models.CheckConstraint(
                condition=Q(execution__isnull=False) | ~Q(reason=""), name="tick_explained"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.trigger} at {self.fire_at}"
