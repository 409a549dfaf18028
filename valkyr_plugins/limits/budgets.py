"""Budgets: their values, their spending, and the metric of their spent shares."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from math import floor
from typing import Any
from uuid import UUID

from dlq.public.metrics import NAMED, Family
from executions.public.database import database_now
from executions.public.definitions import DefinitionProblem
from valkyr_plugins.limits.limit_kind import LimitExists, LimitKind, LimitRefused
from valkyr_plugins.limits.models import Budget, BudgetPeriod, BudgetUse

# Write amounts of money or of tokens for sentences. Pure.


def plain(value: Decimal) -> str:
    """Return a number as text, without the column's trailing zeros: `12.5`, `1,000`."""
    text = f"{value:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def amount(value: Decimal, currency: str) -> str:
    """Return an amount with its unit, such as `12.5 USD`; without a currency, `1,000 tokens`."""
    return f"{plain(value)} {currency or 'tokens'}"


def percent(spent: Decimal, of: Decimal) -> float:
    """Return the spent percentage of an amount, rounded down to a tenth: 100 means spent."""
    return floor(1_000 * spent / of) / 10


# Check the values of budgets.


FIELDS = ("amount", "soft_percent", "kill_switch")
MOST = Decimal(10**15)
REFUSED = "The budget is not valid."


class BudgetExists(LimitExists):
    """This budget already exists. Change it instead."""

    code = "budget_exists"


class BudgetRefused(LimitRefused):
    """The values of the budget are invalid or contradictory."""

    code = "budget_refused"


def _check(budget: Budget) -> None:
    if budget.period not in list(BudgetPeriod):
        known = ", ".join(BudgetPeriod)
        raise _refused("period", "unknown", f"{budget.period!r} is not one of: {known}.")
    code = budget.currency
    if code and not (len(code) == 3 and code.isascii() and code.isalpha() and code.isupper()):
        what = (
            f"{code!r} is not a currency; use a three-letter code such as EUR, or leave it "
            "empty for tokens."
        )
        raise _refused("currency", "unknown", what)
    amount = Decimal(budget.amount)
    if not (amount.is_finite() and 0 < amount <= MOST):
        raise _refused("amount", "out_of_range", f"Expected more than 0 and at most {MOST:,f}.")
    if not code and amount != amount.to_integral_value():
        raise _refused("amount", "not_whole", "A budget of tokens must be a whole number.")
    soft = budget.soft_percent
    if soft is not None and not 1 <= soft <= 100:
        raise _refused("softPercent", "out_of_range", "Expected 1 to 100, or null for no warning.")


def _refused(path: str, code: str, message: str) -> BudgetRefused:
    return BudgetRefused(REFUSED, [DefinitionProblem(path, code, message)])


class BudgetKind(LimitKind[Budget]):
    """The kind of limit `budget`: each budget has one period, and one currency or tokens."""

    model = Budget
    noun = "budget"
    changeable = FIELDS
    refused = BudgetRefused
    exists = BudgetExists
    members_only = REFUSED

    def check(self, limit: Budget) -> None:
        """Raise BudgetRefused for invalid or contradictory values."""
        _check(limit)

    def facts(self, limit: Budget) -> dict[str, Any]:
        """Return the budget's user, period, currency, amount, threshold and kill switch."""
        facts = {name: getattr(limit, name) for name in ("user_id", "period", "currency", *FIELDS)}
        return facts | {"amount": plain(Decimal(limit.amount))}

    def already(self, limit: Budget, whose: str) -> str:
        """Return the error text for a budget that already exists."""
        unit = limit.currency or "tokens"
        return (
            f"There is already a {limit.period} budget in {unit} for {whose}. Change that budget."
        )

    def changed(self, limit: Budget) -> None:
        """Allow new reports of the thresholds that the spending no longer reaches."""
        uses = BudgetUse.objects.filter(budget=limit)
        uses.filter(spent__lt=limit.amount).update(spent_told_at=None)
        soft = limit.amount * (limit.soft_percent or 100) / 100
        uses.filter(spent__lt=soft).update(soft_told_at=None)


BUDGETS = BudgetKind()


# The spending of budgets in their current periods: a day or month in UTC, or all time.


def start_of(period: str, now: datetime, created_at: datetime) -> datetime:
    """Return the start of the period that contains `now`.

    The period of a total budget starts when the budget is created.
    """
    if period == BudgetPeriod.TOTAL:
        return created_at
    day = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return day if period == BudgetPeriod.DAY else day.replace(day=1)


def end_of(period: str, starts_at: datetime) -> datetime | None:
    """Return when the budget resets; None for a total budget, which never does."""
    if period == BudgetPeriod.TOTAL:
        return None
    if period == BudgetPeriod.DAY:
        return starts_at + timedelta(days=1)
    # 31 days after the 1st is always in the next month.
    return (starts_at.replace(day=1) + timedelta(days=31)).replace(day=1)


@dataclass(frozen=True, slots=True)
class Use:
    """The spending of one budget in its current period; `ends_at` is None for a total budget."""

    spent: Decimal
    percent: float
    starts_at: datetime
    ends_at: datetime | None


def uses_of(budgets: Sequence[Budget]) -> dict[UUID, Use]:
    """Return the current use of each budget, keyed by ID. Uses two queries."""
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


# The spent share of budgets, for Prometheus.


def budget_ratios(now: datetime) -> Iterator[Family]:
    """Yield the metric of the highest spent shares among the 500 oldest budgets."""
    some = list(Budget.objects.select_related("workspace").order_by("pk")[:500])
    uses = uses_of(some)
    some.sort(key=lambda budget: -uses[budget.pk].percent)
    family = Family(
        "valkyr_budget_used_ratio",
        f"Share of a budget that is spent in its current period, for the {NAMED} highest.",
        labels=["workspace", "budget"],
    )
    for budget in some[:NAMED]:
        family.add_metric([budget.workspace.slug, str(budget.pk)], uses[budget.pk].percent / 100)
    yield family
