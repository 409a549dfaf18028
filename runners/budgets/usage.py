"""How much of budgets is spent in their present periods, for people to see."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from executions.database.clock import database_now
from runners.budgets.amounts import percent
from runners.budgets.periods import end_of, start_of
from runners.models import Budget, BudgetUse


@dataclass(frozen=True, slots=True)
class Use:
    """What is spent of one budget in its present period; `ends_at` is None for a total."""

    spent: Decimal
    percent: float
    starts_at: datetime
    ends_at: datetime | None


def uses_of(budgets: Sequence[Budget]) -> dict[UUID, Use]:
    """The present use of each budget, by its id; two queries, however many there are."""
    if not budgets:
        return {}
    now = database_now()
    starts = {each.pk: start_of(each.period, now, each.created_at) for each in budgets}
    rows = BudgetUse.objects.filter(budget__in=starts, starts_at__in=set(starts.values()))
    spent = {
        (budget_id, starts_at): value
        for budget_id, starts_at, value in rows.values_list("budget_id", "starts_at", "spent")
    }
    return {each.pk: _use(each, starts[each.pk], spent) for each in budgets}


def _use(budget: Budget, starts_at: datetime, spent: dict[tuple[UUID, datetime], Decimal]) -> Use:
    value = spent.get((budget.pk, starts_at), Decimal(0))
    ends_at = end_of(budget.period, starts_at)
    return Use(value, percent(value, Decimal(budget.amount)), starts_at, ends_at)
