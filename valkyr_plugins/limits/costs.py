"""Costs of steps: entries, their sums, and the counters of limits."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db.models import Count, QuerySet, Sum
from django.db.models.functions import TruncDay

from dlq.public.retention import Aged
from executions.public.configuration import read
from executions.public.database import uuid7
from executions.public.models import Workflow, Workspace
from executions.public.values import payloads
from runners.public.costs import Cost, SegmentContext, Unit, Work, record_costs, spent_by
from valkyr_plugins.limits import statements
from valkyr_plugins.limits.budget_enforcement import tell
from valkyr_plugins.limits.conf import LimitsSettings
from valkyr_plugins.limits.known_limits import known
from valkyr_plugins.limits.models import CostEntry

# Write and count the cost of an attempt in the transaction that records the attempt.
#
# If a result is rejected because its lease was lost, the transaction is rolled back, so no entry
# remains. Tokens are counted after a step has used them.


# The maximum value of the columns. A higher value makes no difference to a budget.
MOST_SPENT = Decimal(9999999999999999)


@record_costs.provide
def note(context: SegmentContext, work: Work, unit: Unit) -> None:
    """Record and count the costs of steps, in the transaction that records the steps' results."""
    told = statements.fetch(
        "record_costs",
        {
            "execution": context.execution_id,
            "run": work.run_id,
            "module": work.step.module,
            "costs": payloads.dump([_row(cost) for cost in unit.costs], "costs"),
            "most": MOST_SPENT,
        },
    )
    for budget_id, starts_at, spent in told:
        tell(budget_id, starts_at, spent)
    workspace_id: UUID = context.version.workspace_id
    if workspace_id in known().tokens:
        used = [(cost.model, cost.tokens) for cost in unit.costs if cost.tokens]
        count_tokens(workspace_id, context.execution_id, used)


def _row(cost: Cost) -> dict[str, object]:
    return {
        "id": str(uuid7()),
        "model": cost.model,
        "currency": cost.currency,
        "input_tokens": cost.input_tokens,
        "output_tokens": cost.output_tokens,
        "tokens": cost.tokens,
        "amount": f"{cost.amount:f}",
    }


def count_tokens(workspace_id: UUID, execution_id: UUID, used: Sequence[tuple[str, int]]) -> None:
    """Add the tokens of each model to the quotas' windows. The caller has locked the run."""
    if not used:
        return
    models = [{"model": model, "tokens": tokens} for model, tokens in used]
    statements.fetch(
        "count_tokens",
        {"workspace": workspace_id, "execution": execution_id, "used": json.dumps(models)},
    )


@spent_by.provide
def spent(execution_ids: Sequence[UUID]) -> dict[str, Decimal]:
    """Return the costs of these executions, keyed by currency. Uses one query."""
    rows = CostEntry.objects.filter(execution_id__in=execution_ids).order_by()
    return dict(rows.values_list("currency").annotate(spent=Sum("amount")))


# Costs, summed by user, workspace, workflow, model or day.


MOST_GROUPS = 1_000
COLUMNS: Mapping[str, str] = {
    "principal": "user_id",
    "workspace": "workspace_id",
    "workflow": "workflow_id",
    "model": "model",
    "day": "day",
}


@dataclass(frozen=True, slots=True)
class Spend:
    """The spending of a group in one currency; `key` is empty for entries without a user or model.

    `entries` counts attempts, once for each model that they used. `name` is for people.
    """

    key: str
    name: str | None
    currency: str
    entries: int
    tokens: int
    input_tokens: int
    output_tokens: int
    amount: Decimal


def totals(
    rows: QuerySet[CostEntry], group_by: str, *, users: QuerySet[Any] | None = None
) -> list[Spend]:
    """Return at most 1,000 sums of entries, one per group and currency, the highest amount first.

    `users` are the users whose names may be shown; with None, no user names are shown. Uses at most
    two queries. Groups by day are in the order of the days.
    """
    column = COLUMNS[group_by]
    if group_by == "day":
        rows = rows.annotate(day=TruncDay("created_at", tzinfo=UTC))
    sums = {name: Sum(name) for name in ("tokens", "input_tokens", "output_tokens", "amount")}
    named = {f"all_{name}": total for name, total in sums.items()}
    found = rows.order_by().values(column, "currency").annotate(entries=Count("pk"), **named)
    order = [column] if group_by == "day" else ["-all_amount", "-all_tokens", column]
    groups = list(found.order_by(*order, "currency")[:MOST_GROUPS])
    names = _names(group_by, {group[column] for group in groups}, users)
    return [
        Spend(
            key=_key(group[column]),
            name=names.get(group[column]),
            currency=group["currency"],
            entries=group["entries"],
            tokens=int(group["all_tokens"]),
            input_tokens=int(group["all_input_tokens"]),
            output_tokens=int(group["all_output_tokens"]),
            amount=group["all_amount"],
        )
        for group in groups
    ]


@dataclass(frozen=True, slots=True)
class CostTotal:
    """The cost and the tokens of one execution in one currency."""

    currency: str
    tokens: int
    amount: Decimal


def cost_of(execution_id: UUID) -> list[CostTotal]:
    """Return the costs of an execution so far, without its children; one row per currency."""
    rows = CostEntry.objects.filter(execution_id=execution_id).order_by()
    sums = rows.values("currency").annotate(all=Sum("tokens"), total=Sum("amount"))
    return [
        CostTotal(currency, int(tokens), amount)
        for currency, tokens, amount in sums.order_by("currency").values_list(
            "currency", "all", "total"
        )
    ]


def _key(value: Any) -> str:
    if isinstance(value, datetime):
        return value.date().isoformat()
    return "" if value is None else str(value)


def _names(group_by: str, keys: Collection[Any], users: QuerySet[Any] | None) -> dict[Any, str]:
    if group_by == "workspace":
        return dict(Workspace.objects.filter(pk__in=keys).values_list("pk", "slug"))
    if group_by == "workflow":
        return dict(Workflow.objects.filter(pk__in=keys).values_list("pk", "name"))
    if group_by == "principal" and users is not None:
        name = get_user_model().USERNAME_FIELD
        return dict(users.filter(pk__in=[key for key in keys if key]).values_list("pk", name))
    return {}


# Delete cost entries only by their age, even after their executions were deleted.


def cost_days() -> float:
    """Return the retention of cost entries, in days."""
    return read(LimitsSettings).keep_costs_days


def _costs(before: datetime) -> QuerySet[CostEntry]:
    return CostEntry.objects.filter(created_at__lt=before)


COSTS = Aged("costs", cost_days, _costs, "created_at", "created_at", "workspace_id", "workflow_id")
