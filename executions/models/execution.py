"""One execution of one version; `lifecycle.py` names the writers of its state."""

from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import Q

from executions.database.clock import ClockTimestamp
from executions.database.ids import uuid7
from executions.database.postgres_types import HashIndex
from executions.models.sealed_columns import SealedJSON, SealedObject, SealedText
from executions.models.workflow import Workflow, WorkflowVersion
from executions.models.workspace import Workspace
from executions.states import (
    COMPENSATION_MOVES,
    FINAL,
    CapacityState,
    CompensationState,
    ExecutionState,
    TriggerType,
)

FINAL_STATES = sorted(FINAL)


class WorkflowExecution(models.Model):
    """The request, the progress and the result of an execution.

    `epoch` counts roll-backs: claims and results of an older epoch are rejected. `context_data`
    holds the variables. `place` says whether the execution counts against its workspace's limit: if
    all its runs wait, the execution gives up its slot, and requests a slot again when it wakes. An
    execution that was started in its caller's transaction might not be counted yet.
    """

    SEALED_BY = "workspace"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    workflow = models.ForeignKey(
        Workflow, on_delete=models.PROTECT, related_name="executions", db_index=False
    )
    version = models.ForeignKey(
        WorkflowVersion, on_delete=models.PROTECT, related_name="executions", db_index=False
    )
    parent = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="children",
        db_index=False,
    )
    parent_run_id = models.UUIDField(
        null=True,
        blank=True,
        help_text="The run of the parent that started this execution and waits for it.",
    )
    depth = models.PositiveSmallIntegerField(default=0, help_text="The number of ancestors.")
    failure_of = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="error_executions",
        db_index=False,
        help_text="The failed execution for which this error workflow was started.",
    )
    origin = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="descendants",
        db_index=False,
        help_text="The execution that this one replays, or from which it was forked.",
    )
    origin_point = models.CharField(
        max_length=1000,
        blank=True,
        default="",
        help_text="The point from which the execution was forked.",
    )
    trigger = models.ForeignKey(
        "Trigger",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="executions",
        db_index=False,
    )
    principal = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.DO_NOTHING,
        null=True,
        blank=True,
        related_name="+",
        db_constraint=False,
        db_index=False,
        help_text="The user who started the execution or its root. Empty for triggers.",
    )
    state = models.CharField(
        max_length=10, choices=ExecutionState.choices, default=ExecutionState.PENDING
    )
    epoch = models.PositiveIntegerField(default=0)
    canary = models.BooleanField(
        default=False,
        db_default=False,
        editable=False,
        help_text="It took the canary version's share of the starts.",
    )
    trigger_type = models.CharField(
        max_length=10, choices=TriggerType.choices, default=TriggerType.MANUAL
    )
    trigger_payload = SealedJSON(null=True)
    context_data = SealedObject(default=dict)
    priority = models.PositiveSmallIntegerField(default=5, help_text="From 0 (last) to 9 (first).")
    place = models.CharField(
        max_length=6,
        choices=CapacityState.choices,
        default=CapacityState.HELD,
        db_default=CapacityState.HELD,
    )
    concurrency_key = models.CharField(max_length=300, null=True, blank=True)
    concurrency_limit = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="The maximum number of executions of the workflow with this key at once.",
    )
    labels = models.JSONField(
        null=True,
        blank=True,
        help_text="What it is found by: text by name, rendered at its start.",
    )
    idempotency_key = models.CharField(max_length=200, null=True, blank=True)
    request_hash = models.CharField(max_length=64, blank=True, default="")
    timeout_seconds = models.FloatField(null=True, blank=True)
    deadline_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=ClockTimestamp())
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    output = SealedJSON(null=True, blank=True)
    error_message = SealedText(blank=True, default="")
    error_stack_trace = SealedText(blank=True, default="")
    metrics_snapshot = models.JSONField(null=True, blank=True)
    trace_id = models.CharField(max_length=32, blank=True, default="")
    compensation = models.CharField(
        max_length=7, choices=CompensationState.choices, blank=True, default="", db_default=""
    )
    ending = models.CharField(
        max_length=10,
        blank=True,
        default="",
        db_default="",
        help_text="The final state, after the undo steps have run.",
    )

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["workflow", "idempotency_key"],
                condition=Q(idempotency_key__isnull=False),
                name="execution_key_once",
            ),
            models.CheckConstraint(
                condition=Q(state__in=ExecutionState.values), name="execution_state_known"
            ),
            models.CheckConstraint(
                condition=Q(compensation="", ending="")
                | (
                    Q(compensation__in=sorted(COMPENSATION_MOVES))
                    & Q(ending__in=["CANCELLED", "FAILED", "TIMEOUT"])
                ),
                name="execution_compensation_known",
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
        # docs/reference/indexes.md lists the statements that use each index. Indexes of live
        # executions and of failures include a condition on `finished_at`. Statements about one
        # execution omit this condition, so that the planner never chooses such an index for them,
        # even if the index was small when the plan was made.
        indexes = [
            models.Index(fields=["created_at", "id"], name="execution_list"),
            models.Index(fields=["workspace", "created_at", "id"], name="execution_workspace_list"),
            models.Index(fields=["workflow", "created_at", "id"], name="execution_workflow_list"),
            # Queries compare a trace's id for equality only.
            HashIndex(fields=["trace_id"], name="execution_trace"),
            # A BRIN index would be smaller, but one execution that waited for a week widens the
            # range of its block to that week.
            models.Index(
                fields=["finished_at"],
                condition=Q(finished_at__isnull=False),
                name="execution_ended",
            ),
            models.Index(
                fields=["workspace", "id"],
                condition=Q(
                    state__in=["FAILED", "TIMEOUT", "CANCELLED"], finished_at__isnull=False
                ),
                name="execution_ended_badly",
            ),
            # Sleeping executions, of which there may be hundreds of thousands, have a separate
            # `place`.
            models.Index(
                fields=["state", "place", "workspace", "id"],
                condition=Q(state__in=["PENDING", "RUNNING", "PAUSED"], finished_at__isnull=True),
                name="execution_live",
            ),
            models.Index(
                fields=["deadline_at"],
                condition=Q(finished_at__isnull=True, deadline_at__isnull=False),
                name="execution_deadline",
            ),
            # Executions with a concurrency key are in another index; otherwise, many executions
            # that wait for one key would hide the others.
            models.Index(
                fields=["workspace", "-priority", "created_at"],
                condition=Q(state="PENDING", concurrency_key__isnull=True),
                name="execution_waiting",
            ),
            models.Index(
                fields=["workspace", "workflow", "concurrency_key", "-priority", "created_at"],
                condition=Q(state="PENDING", concurrency_key__isnull=False),
                name="execution_waiting_key",
            ),
            models.Index(
                fields=["workflow", "concurrency_key", "state"],
                condition=Q(
                    concurrency_key__isnull=False, state__in=["PENDING", "RUNNING", "PAUSED"]
                ),
                name="execution_concurrency",
            ),
            models.Index(
                fields=["workspace", "-priority", "created_at"],
                condition=Q(place="WANTED"),
                name="execution_wants_place",
            ),
            models.Index(
                fields=["workspace", "-priority", "created_at"],
                condition=Q(place="ASKED"),
                name="execution_asked",
            ),
            models.Index(
                fields=["trigger", "finished_at"],
                condition=Q(trigger__isnull=False),
                name="execution_trigger",
            ),
            # Only starts of a canary version, which are counted while the canary runs.
            models.Index(
                fields=["version", "id"], condition=Q(canary=True), name="execution_canary"
            ),
            models.Index(
                fields=["origin"], condition=Q(origin__isnull=False), name="execution_origin"
            ),
            models.Index(
                fields=["parent"], condition=Q(parent__isnull=False), name="execution_child"
            ),
            models.Index(
                fields=["parent"],
                condition=Q(parent__isnull=False, finished_at__isnull=True),
                name="execution_child_unfinished",
            ),
            models.Index(
                fields=["failure_of"],
                condition=Q(failure_of__isnull=False),
                name="execution_failure_of",
            ),
            models.Index(
                fields=["id"],
                condition=Q(compensation="WAITING"),
                name="execution_waits_to_undo",
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)

    def sealed_workspace(self) -> UUID:
        """Return the ID of the workspace whose key seals the payloads of this row."""
        return self.workspace_id

    def sealed_place(self, column: str) -> str:
        """Return the text to which a column's envelope is bound (`sealing.payloads.place`)."""
        return f"{self.pk}||{column}"
