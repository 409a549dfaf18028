"""Models of quotas, budgets and costs of steps. The engine's `QuotaUse` stores quotas' counters."""

from enum import StrEnum

from django.conf import settings
from django.db import models
from django.db.models import Q, TextChoices

from executions.public.database import ClockTimestamp, cascade, uuid7
from executions.public.language import lazy
from executions.public.models import Workflow, WorkflowExecution, Workspace

# The resources that quotas count, and the periods of budgets.


class Resource(TextChoices):
    """The resource that a quota counts."""

    EXECUTIONS = "executions", lazy("executions")
    MODULE = "module", lazy("steps of a module type")
    TOKENS = "tokens", lazy("tokens of language models")


class BudgetPeriod(StrEnum):
    """The period after which a budget resets; days and months are in UTC."""

    DAY = "day"
    MONTH = "month"
    TOTAL = "total"


class SpenderLimit(models.Model):
    """A limit of a workspace, or of one of its principals."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=cascade, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        abstract = True
        ordering = ["-created_at", "-id"]


class Quota(SpenderLimit):
    """A limit on a resource for a workspace, or for one of its principals.

    A `max_...` field that is empty sets no limit.

    `target` is the module type or, for tokens, the model; empty means all models. It is always
    empty for executions. `max_concurrent` applies only to module types.
    """

    resource = models.CharField(
        max_length=20, choices=Resource.choices, default=Resource.EXECUTIONS
    )
    target = models.CharField(max_length=100, blank=True, default="")
    max_concurrent = models.PositiveIntegerField(null=True, blank=True)
    max_per_hour = models.PositiveBigIntegerField(null=True, blank=True)
    max_per_day = models.PositiveBigIntegerField(null=True, blank=True)

    class Meta(SpenderLimit.Meta):
        db_table = "executions_quota"
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "user", "resource", "target"],
                nulls_distinct=False,
                name="quota_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.resource} of {self.user or self.workspace}"


class QuotaHold(models.Model):
    """One slot of a quota with `max_concurrent`, held by a run until it ends or `until` passes.

    `token` is the token of the run's lease.
    """

    quota = models.ForeignKey(Quota, on_delete=models.CASCADE, related_name="holds")
    run_id = models.UUIDField()
    token = models.IntegerField(default=0, db_default=0)
    until = models.DateTimeField()

    class Meta:
        db_table = "executions_quotahold"
        constraints = [
            models.UniqueConstraint(fields=["quota", "run_id"], name="quota_hold_once"),
        ]
        indexes = [models.Index(fields=["run_id"], name="quota_hold_run")]

    def __str__(self) -> str:
        return f"{self.run_id} until {self.until}"


class CostEntry(models.Model):
    """The spending of one attempt of a step on one model or service, stored with its result.

    `user` is the principal that started the execution (or its root). `amount` is in `currency`.
    Entries can be kept longer than executions, so `execution` may be deleted.
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
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.DO_NOTHING,
        null=True,
        blank=True,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    module = models.CharField(max_length=100)
    model = models.CharField(max_length=200, blank=True, default="")
    input_tokens = models.BigIntegerField(default=0)
    output_tokens = models.BigIntegerField(default=0)
    tokens = models.BigIntegerField(default=0)
    amount = models.DecimalField(max_digits=18, decimal_places=8, default=0)
    currency = models.CharField(max_length=3)
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        db_table = "runners_costentry"
        verbose_name_plural = "cost entries"
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(fields=["workspace", "created_at", "id"], name="cost_list"),
            models.Index(fields=["workflow", "created_at"], name="cost_workflow"),
            models.Index(fields=["created_at"], name="cost_age"),
        ]

    def __str__(self) -> str:
        return f"{self.tokens} tokens, {self.amount} {self.currency}"


class Budget(SpenderLimit):
    """The maximum spending of a workspace, or of one of its principals, per period.

    The unit is money or tokens. `currency` is empty for a budget of tokens. At `soft_percent` of
    the amount, users are notified. After the amount is spent, steps with costs are rejected, and
    with `kill_switch` the spender's executions are cancelled.
    """

    period = models.CharField(
        max_length=5, choices=[(p.value, p.value) for p in BudgetPeriod], default="month"
    )
    currency = models.CharField(max_length=3, blank=True, default="")
    amount = models.DecimalField(max_digits=24, decimal_places=8)
    soft_percent = models.PositiveSmallIntegerField(null=True, blank=True, default=80)
    kill_switch = models.BooleanField(default=False)

    class Meta(SpenderLimit.Meta):
        db_table = "runners_budget"
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
        per = "in total" if self.period == BudgetPeriod.TOTAL else f"per {self.period}"
        return f"{self.amount:f} {unit} {per} for {self.user or self.workspace}"


class BudgetUse(models.Model):
    """The spending of a budget in one period, which began at `starts_at` (UTC)."""

    budget = models.ForeignKey(Budget, on_delete=models.CASCADE, related_name="uses")
    starts_at = models.DateTimeField()
    spent = models.DecimalField(max_digits=24, decimal_places=8, default=0)
    soft_told_at = models.DateTimeField(null=True, blank=True)
    spent_told_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "runners_budgetuse"
        constraints = [
            models.UniqueConstraint(fields=["budget", "starts_at"], name="budget_use_once"),
        ]

    def __str__(self) -> str:
        return f"{self.spent:f} since {self.starts_at}"
