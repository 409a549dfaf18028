"""One attempt of one step: the hot table. Hand-written statements in `sql/` write most rows.

A live run has an entry in four indexes, including the primary key. Small partial indexes serve
retries, approvals, remote queues and failures. Renewing a lease touches no indexed column.

PostgreSQL evaluates every CHECK for each row that is inserted or updated, so only two exist. They
tie a state to its columns (an unknown state violates the second). The counters have no CHECK.
"""

from uuid import UUID

from django.db import models
from django.db.models import Q

from executions.configuration import OWN_QUEUES
from executions.database.clock import ClockTimestamp
from executions.database.ids import uuid7
from executions.models import Workflow, WorkflowExecution
from executions.models.sealed_columns import SealedFacts, SealedJSON, SealedLines, SealedText
from runners.states import FINAL, HELD, IDENTITY, LIVE, ErrorType, RunState


class Run(models.Model):
    """An attempt, its lease, its inputs and its result.

    `due_at` is when the sweeper must check a live run: at a retry, a timer or an expiry, or when a
    pending run's message or a leased run's holder may be lost.

    `recoveries` counts how often the run was taken from a lost holder, for any cause. `crashes`
    counts the processes that ended while this run alone was executing in them; only these crashes
    lead to a dead letter. A `suspect` run was lost with its process; workers with threads execute
    it in a separate process. `budget_start` is the attempt at which the current retry budget began.
    `waits_for` (a WaitKind) is the kind of the latest wait; `progress` is the state of the wait (a
    container's counters, an event's name), and `wake` contains the cause that ended the wait.
    """

    SEALED_BY = "execution__workspace"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    execution = models.ForeignKey(
        WorkflowExecution, on_delete=models.PROTECT, related_name="runs", db_index=False
    )
    epoch = models.IntegerField(default=0)
    segment = models.CharField(max_length=1000)
    step_path = models.CharField(max_length=1000)
    task_id = models.UUIDField()
    module_id = models.UUIDField()
    module = models.CharField(max_length=100)
    attempt = models.IntegerField(default=1)
    budget_start = models.IntegerField(
        default=1, help_text="The first attempt of the current series of retries."
    )
    state = models.CharField(
        max_length=10, choices=[(s.value, s.value.lower()) for s in RunState], default="PENDING"
    )
    superseded = models.BooleanField(default=False)
    queue = models.CharField(max_length=100)
    priority = models.SmallIntegerField(default=5)

    lease_token = models.IntegerField(default=0)
    leased_by = models.CharField(max_length=200, blank=True, default="")
    lease_until = models.DateTimeField(null=True)
    deadline_at = models.DateTimeField(null=True)
    heartbeat_at = models.DateTimeField(null=True)
    heartbeat_details = SealedJSON(null=True)
    recoveries = models.IntegerField(default=0)
    crashes = models.IntegerField(default=0, db_default=0)
    crash_cause = models.CharField(max_length=200, blank=True, default="", db_default="")
    suspect = models.BooleanField(default=False, db_default=False)

    idempotency_key = models.CharField(max_length=64, blank=True, default="")
    inputs_hash = models.CharField(max_length=64, blank=True, default="")
    config_hash = models.CharField(max_length=64, blank=True, default="")
    overrides = SealedJSON(null=True)
    inputs = SealedJSON(null=True)
    secret_places = models.JSONField(
        null=True,
        help_text=(
            "Remote steps: the places of secrets in the inputs. Set when the inputs are rendered."
        ),
    )
    outputs = SealedJSON(null=True)
    outcome = models.CharField(max_length=100, blank=True, default="")
    error = SealedText(blank=True, default="")
    error_type = models.CharField(
        max_length=12, blank=True, default="", choices=[(e.value, e.value) for e in ErrorType]
    )
    error_details = SealedJSON(null=True)
    logs = SealedLines(null=True)

    waits_for = models.CharField(max_length=10, blank=True, default="", db_default="")
    progress = SealedFacts(null=True)
    wake = SealedFacts(null=True)
    cached_from = models.UUIDField(null=True, help_text="The run whose result was reused.")

    retry_after = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True)
    published_at = models.DateTimeField(null=True)
    publications = models.IntegerField(default=0)
    queued_at = models.DateTimeField(db_default=ClockTimestamp())
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    duration_ms = models.FloatField(null=True)
    cost_tokens = models.BigIntegerField(default=0)
    cost_amount = models.DecimalField(max_digits=16, decimal_places=6, default=0)

    class Meta:
        ordering = ["-queued_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["execution", "epoch", "step_path"],
                condition=Q(state__in=sorted(IDENTITY), superseded=False),
                name="run_one_live_or_successful",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=sorted(HELD))
                | (Q(lease_until__isnull=False) & ~Q(leased_by="") & Q(lease_token__gt=0)),
                name="run_held_has_lease",
            ),
            models.CheckConstraint(
                condition=Q(state__in=sorted(FINAL), finished_at__isnull=False)
                | (Q(state__in=sorted(LIVE)) & Q(finished_at__isnull=True)),
                name="run_final_has_finished_at",
            ),
        ]
        # docs/reference/indexes.md lists the statements that use each index. Indexes of live runs
        # and of failures have a condition on `finished_at`. A statement about one run or one
        # execution never contains this condition, so the planner cannot choose such an index for
        # it, even if the index was small when the plan was made.
        indexes = [
            models.Index(fields=["execution", "state"], name="run_execution_state"),
            models.Index(
                fields=["state", "due_at"],
                condition=Q(finished_at__isnull=True),
                name="run_due",
            ),
            # Retries have an index of their own, so that a backlog of sent runs does not slow the
            # search for them.
            models.Index(
                fields=["due_at"],
                condition=Q(state="PENDING", published_at__isnull=True),
                name="run_retry",
            ),
            # Runs in queues that only remote runners serve, after their inputs were rendered, in
            # the order in which they are leased.
            models.Index(
                fields=["queue", "-priority", "id"],
                condition=Q(state="PENDING", secret_places__isnull=False)
                & ~Q(queue__in=sorted(OWN_QUEUES)),
                name="run_remote",
            ),
            # For lists of failed runs, which may be few among millions of runs.
            models.Index(
                fields=["state", "id"],
                condition=Q(state__in=["FAILED", "DLQ", "CANCELLED"], finished_at__isnull=False),
                name="run_ended_badly",
            ),
            # For the list of approvals, which are few among all runs.
            models.Index(
                fields=["state", "id"], condition=Q(waits_for="approval"), name="run_approval"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.step_path} #{self.attempt}"

    def sealed_workspace(self) -> UUID:
        """Return the ID of the workspace whose key seals the payloads of this row."""
        return self.execution.workspace_id

    def sealed_place(self, column: str) -> str:
        """Return the place to which a column's envelope is bound (`sealing.payloads.place`)."""
        of_wait = column in ("progress", "wake")
        return f"{self.execution_id}|{self.pk if of_wait else self.step_path}|{column}"

    @property
    def runner(self) -> str:
        """Return the name of the worker that held the run last; "" if no lease is recorded."""
        return self.leased_by.partition("|")[0]


# Results that equal steps may reuse until the results expire.


class CachedResult(models.Model):
    """The result of a step, stored under the inputs that produced it.

    `owner` is the workflow or the workspace within which the result is valid; `key` is the SHA-256,
    in hex, of module type, config hash and inputs hash.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    owner = models.UUIDField()
    key = models.CharField(max_length=64)
    run_id = models.UUIDField(help_text="The run with this result.")
    outcome = models.CharField(max_length=100)
    outputs = SealedJSON(null=True)
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    expires_at = models.DateTimeField()
    rows_belong_to = (("owner", "executions.Workflow"), ("owner", "executions.Workspace"))
    SEALED_BY = "owner"

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "key"], name="cached_result_once"),
        ]
        indexes = [models.Index(fields=["expires_at"], name="cached_result_age")]

    def __str__(self) -> str:
        return self.key

    @staticmethod
    def sealed_rows(workspace_id: UUID) -> Q:
        """Return the condition that selects the rows of a workspace and of its workflows."""
        workflows = Workflow.objects.filter(workspace_id=workspace_id).values("pk")
        return Q(owner=workspace_id) | Q(owner__in=workflows)

    def sealed_workspace(self) -> UUID:
        """Return the ID of the workspace whose key seals the payloads of this row."""
        workflow = Workflow.objects.filter(pk=self.owner).only("workspace_id").first()
        return workflow.workspace_id if workflow else self.owner

    def sealed_place(self, column: str) -> str:
        """Return the place to which a column's envelope is bound (`sealing.payloads.place`)."""
        return f"cached {self.key}||{column}"
