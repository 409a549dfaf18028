"""What steps cost, and budgets that limit it."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from uuid6 import uuid7

from executions.database.clock import ClockTimestamp
from executions.models import Workflow, WorkflowExecution, Workspace
from runners.states import BudgetPeriod


class CostEntry(models.Model):
    """What one attempt of one step spent, by model or service; written as its result is recorded.

    `user_id` is the principal that started the execution (or its root). `amount` is in `currency`.
    Accounts are kept for longer than executions, so `execution` may be gone.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    workflow = models.ForeignKey(
        Workflow, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    execution = models.ForeignKey(
        WorkflowExecution,
        on_delete=models.DO_NOTHING,
        related_name="cost_entries",
        db_constraint=False,
    )
    run_id = models.UUIDField()
    user_id = models.IntegerField(null=True, blank=True)
    module = models.CharField(max_length=100)
    model = models.CharField(max_length=200, blank=True, default="")
    input_tokens = models.BigIntegerField(default=0)
    output_tokens = models.BigIntegerField(default=0)
    tokens = models.BigIntegerField(default=0)
    amount = models.DecimalField(max_digits=18, decimal_places=8, default=0)
    currency = models.CharField(max_length=3)
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(fields=["workspace", "created_at", "id"], name="cost_list"),
            models.Index(fields=["workflow", "created_at"], name="cost_workflow"),
            models.Index(fields=["created_at"], name="cost_age"),
        ]

    def __str__(self) -> str:
        return f"{self.tokens} tokens, {self.amount} {self.currency}"


class Budget(models.Model):
    """What a workspace, or one principal in it, may spend in a period: money, or tokens.

    `currency` is empty for a budget of tokens. At `soft_percent` of it people are told; once it is
    spent, steps that cost are refused, and with `kill_switch` the spender's executions cancelled.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="budgets")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    period = models.CharField(
        max_length=5, choices=[(p.value, p.value) for p in BudgetPeriod], default="month"
    )
    currency = models.CharField(max_length=3, blank=True, default="")
    amount = models.DecimalField(max_digits=24, decimal_places=8)
    soft_percent = models.PositiveSmallIntegerField(null=True, blank=True, default=80)
    kill_switch = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "user", "period", "currency"],
                nulls_distinct=False,
                name="budget_once",
            ),
            models.CheckConstraint(condition=Q(amount__gt=0), name="budget_positive"),
            models.CheckConstraint(
                condition=Q(soft_percent__isnull=True)
                | Q(soft_percent__gte=1, soft_percent__lte=100),
                name="budget_soft_percent",
            ),
        ]

    def __str__(self) -> str:
        unit = self.currency or "tokens"
        return f"{self.amount:f} {unit} a {self.period} for {self.user or self.workspace}"


class BudgetUse(models.Model):
    """What was spent of a budget in one period, which began at `starts_at` (UTC)."""

    budget = models.ForeignKey(Budget, on_delete=models.CASCADE, related_name="uses")
    starts_at = models.DateTimeField()
    spent = models.DecimalField(max_digits=24, decimal_places=8, default=0)
    soft_told_at = models.DateTimeField(null=True, blank=True)
    spent_told_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["budget", "starts_at"], name="budget_use_once"),
        ]

    def __str__(self) -> str:
        return f"{self.spent:f} since {self.starts_at}"
