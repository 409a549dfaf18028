"""Backtests of workflows: the definition, the progress, the summary, and a row per execution."""

from uuid import UUID

from django.db import models
from django.db.models import Q

from executions.public.database import ClockTimestamp, uuid7
from executions.public.language import lazy
from executions.public.models import Workflow, Workspace
from executions.public.sealing import SealedJSON
from valkyr_plugins.backtest.verdicts import BacktestVerdict


class BacktestState(models.TextChoices):
    """The state of a backtest. Only `lifecycle` writes it."""

    PENDING = "PENDING", lazy("pending")
    RUNNING = "RUNNING", lazy("running")
    DONE = "DONE", lazy("done")
    CANCELLED = "CANCELLED", lazy("cancelled")
    FAILED = "FAILED", lazy("failed")


class BacktestSource(models.TextChoices):
    """The source of the compared definition."""

    DRAFT = "DRAFT", lazy("draft")
    VERSION = "VERSION", lazy("version")
    DEFINITION = "DEFINITION", lazy("given definition")


_S = BacktestState

# For each state: the states that may follow it.
MOVES: dict[str, frozenset[str]] = {
    _S.PENDING: frozenset({_S.RUNNING, _S.CANCELLED}),
    _S.RUNNING: frozenset({_S.DONE, _S.CANCELLED, _S.FAILED}),
    _S.DONE: frozenset(),
    _S.CANCELLED: frozenset(),
    _S.FAILED: frozenset(),
}
UNFINISHED = tuple(sorted(state for state, targets in MOVES.items() if targets))


class Backtest(models.Model):
    """A definition compared with the records of past executions.

    A backtest starts no execution and changes none. `definition` is resolved like the definition of
    a version. `version` is the compared version's number, or null for the draft (at `revision`) and
    for a given definition. `at` is the last compared execution; the newest is compared first.
    `token` fences workers: it increases with each claim, and another worker can claim the backtest
    after `leased_until`.
    """

    AUDITED_AS = "Backtest"
    SEALED_BY = "workspace"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    workflow = models.ForeignKey(
        Workflow, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    source = models.CharField(
        max_length=10, choices=BacktestSource.choices, default=BacktestSource.DRAFT
    )
    version = models.PositiveIntegerField(null=True)
    revision = models.PositiveIntegerField(help_text="The revision of the workflow at its start.")
    definition = models.JSONField()
    selection = models.JSONField(default=dict)
    most = models.PositiveIntegerField(help_text="At most this many executions.")
    state = models.CharField(
        max_length=9, choices=BacktestState.choices, default=BacktestState.PENDING
    )
    total = models.PositiveIntegerField(null=True, help_text="Null until a worker has counted.")
    done = models.PositiveIntegerField(default=0)
    counts = models.JSONField(default=dict, help_text="Executions by verdict.")
    by_step = models.JSONField(default=dict, help_text="Verdicts by step, and their counts.")
    groups = SealedJSON(null=True)
    at = models.UUIDField(null=True, editable=False)
    at_time = models.DateTimeField(null=True, editable=False)
    token = models.PositiveIntegerField(default=0, editable=False)
    leased_until = models.DateTimeField(null=True, editable=False)
    error = models.TextField(blank=True, default="")
    created_by_name = models.CharField(max_length=200, blank=True, default="")
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    started_at = models.DateTimeField(null=True, editable=False)
    finished_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=UNFINISHED, finished_at=None)
                | (~Q(state__in=UNFINISHED) & Q(finished_at__isnull=False)),
                name="backtest_ended_has_time",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "created_at", "id"], name="backtest_list"),
            models.Index(fields=["workflow", "created_at", "id"], name="backtest_workflow"),
            models.Index(fields=["id"], condition=Q(finished_at=None), name="backtest_unfinished"),
            models.Index(fields=["created_at"], name="backtest_age"),
        ]

    def __str__(self) -> str:
        return f"{self.workflow} {self.compared}"

    @property
    def compared(self) -> str:
        """Return the name of the compared definition: `draft`, `v3`, or `given definition`."""
        if self.source == BacktestSource.VERSION:
            return f"v{self.version}"
        return str(BacktestSource(self.source).label)

    def sealed_workspace(self) -> UUID:
        """Return the workspace whose key seals the groups."""
        return self.workspace_id

    def sealed_place(self, column: str) -> str:
        """Return the name of the row and column to which the groups' envelope is bound."""
        return f"backtest {self.pk}||{column}"


class BacktestResult(models.Model):
    """The verdict on one execution; `steps` contains the first 100 verdicts other than SAME."""

    SEALED_BY = "backtest__workspace"

    id = models.BigAutoField(primary_key=True)
    backtest = models.ForeignKey(
        Backtest, on_delete=models.CASCADE, related_name="results", db_index=False
    )
    execution_id = models.UUIDField(help_text="It may have been deleted since.")
    verdict = models.CharField(max_length=16, choices=BacktestVerdict.choices)
    same = models.PositiveIntegerField(
        default=0, help_text="The number of steps that are the same."
    )
    steps = SealedJSON(null=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["backtest", "execution_id"], name="backtest_execution_once"
            ),
        ]
        indexes = [
            models.Index(fields=["backtest", "id"], name="backtest_result_list"),
            models.Index(fields=["backtest", "verdict", "id"], name="backtest_result_verdict"),
        ]

    def __str__(self) -> str:
        return f"{self.execution_id}: {self.verdict}"

    def sealed_workspace(self) -> UUID:
        """Return the workspace whose key seals the steps."""
        return self.backtest.workspace_id

    def sealed_place(self, column: str) -> str:
        """Return the name of the row and column to which the steps' envelope is bound."""
        return f"backtest {self.backtest_id} {self.execution_id}||{column}"
