"""How much of budgets is spent in their present periods: days and months in UTC, or all time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID

from executions.public.database import database_now
from valkyr_plugins.limits.budgets.amounts import percent
from valkyr_plugins.limits.models import Budget, BudgetUse
from valkyr_plugins.limits.states import BudgetPeriod


def start_of(period: str, now: datetime, created_at: datetime) -> datetime:
    """When the period began in which `now` lies; a total's when its budget was made."""
    if period == BudgetPeriod.TOTAL:
        return created_at
    day = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return day if period == BudgetPeriod.DAY else day.replace(day=1)


def end_of(period: str, starts_at: datetime) -> datetime | None:
    """When the budget begins anew; None for a total, which never does."""
    if period == BudgetPeriod.TOTAL:
        return None
    if period == BudgetPeriod.DAY:
        return starts_at + timedelta(days=1)
    # The 1st and 31 days more lie in the month after, whatever month it is.
    return (starts_at.replace(day=1) + timedelta(days=31)).replace(day=1)


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
