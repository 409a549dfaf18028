"""One execution of one version; `lifecycle.py` alone writes its state."""

from django.db import models
from django.db.models import Q
from uuid6 import uuid7

from executions.clock import ClockTimestamp
from executions.models.workflow import Workflow, WorkflowVersion
from executions.models.workspace import Workspace
from executions.states import FINAL, ExecutionState, TriggerType

FINAL_STATES = sorted(FINAL)


class WorkflowExecution(models.Model):
    """What was asked for, how far it is, and what came of it.

    `epoch` counts roll-backs: claims and results of an older epoch are refused.
    `context_data` holds the variables.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="+")
    workflow = models.ForeignKey(Workflow, on_delete=models.PROTECT, related_name="executions")
    version = models.ForeignKey(
        WorkflowVersion, on_delete=models.PROTECT, related_name="executions", db_index=False
    )
    parent = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="children"
    )
    state = models.CharField(
        max_length=10, choices=ExecutionState.choices, default=ExecutionState.PENDING
    )
    epoch = models.PositiveIntegerField(default=0)
    trigger_type = models.CharField(
        max_length=10, choices=TriggerType.choices, default=TriggerType.MANUAL
    )
    trigger_payload = models.JSONField(null=True)
    context_data = models.JSONField(default=dict)
    priority = models.PositiveSmallIntegerField(default=5, help_text="0 is last, 9 is first.")
    idempotency_key = models.CharField(max_length=200, null=True, blank=True)
    request_hash = models.CharField(max_length=64, blank=True, default="")
    timeout_seconds = models.FloatField(null=True, blank=True)
    deadline_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=ClockTimestamp())
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    output = models.JSONField(null=True, blank=True)
    error_message = models.TextField(blank=True, default="")
    error_stack_trace = models.TextField(blank=True, default="")
    metrics_snapshot = models.JSONField(null=True, blank=True)
    trace_id = models.CharField(max_length=32, blank=True, default="")

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["workflow", "idempotency_key"], name="execution_key_once"
            ),
            models.CheckConstraint(
                condition=Q(state__in=ExecutionState.values), name="execution_state_known"
            ),
            models.CheckConstraint(
                condition=Q(priority__gte=0, priority__lte=9), name="execution_priority_range"
            ),
            models.CheckConstraint(
                condition=Q(state__in=FINAL_STATES, finished_at__isnull=False)
                | (~Q(state__in=FINAL_STATES) & Q(finished_at__isnull=True)),
                name="execution_final_has_finished_at",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["RUNNING", "PAUSED", "SUCCESS"])
                | Q(started_at__isnull=False),
                name="execution_running_has_started_at",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "created_at", "id"], name="execution_workspace_list"),
            models.Index(fields=["workflow", "created_at", "id"], name="execution_workflow_list"),
            models.Index(
                fields=["workspace", "-priority", "created_at"],
                condition=Q(state="PENDING"),
                name="execution_waiting",
            ),
            models.Index(
                fields=["workspace", "state", "started_at"],
                condition=Q(state__in=["RUNNING", "PAUSED"]),
                name="execution_active",
            ),
            models.Index(
                fields=["deadline_at"],
                condition=Q(state__in=["PENDING", "RUNNING", "PAUSED"]),
                name="execution_deadline",
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)
