"""Budgets: what one may say."""

from decimal import Decimal
from typing import Any

from executions.public.definitions import DefinitionProblem
from valkyr_plugins.limits.budgets.amounts import plain
from valkyr_plugins.limits.models import Budget, BudgetUse
from valkyr_plugins.limits.setting import LimitExists, LimitKind, LimitRefused
from valkyr_plugins.limits.states import BudgetPeriod

FIELDS = ("amount", "soft_percent", "kill_switch")
MOST = Decimal(10**15)
REFUSED = "The budget cannot be as asked."


class BudgetExists(LimitExists):
    """There is such a budget already; change it instead."""

    code = "budget_exists"


class BudgetRefused(LimitRefused):
    """The budget would not do what it says."""

    code = "budget_refused"


def _check(budget: Budget) -> None:
    if budget.period not in list(BudgetPeriod):
        known = ", ".join(BudgetPeriod)
        raise _refused("period", "unknown", f"{budget.period!r} is none of: {known}.")
    code = budget.currency
    if code and not (len(code) == 3 and code.isascii() and code.isalpha() and code.isupper()):
        what = f"{code!r} is no currency; give three capitals, such as EUR, or nothing for tokens."
        raise _refused("currency", "unknown", what)
    amount = Decimal(budget.amount)
    if not (amount.is_finite() and 0 < amount <= MOST):
        raise _refused("amount", "out_of_range", f"Give more than 0 and at most {MOST:,f}.")
    if not code and amount != amount.to_integral_value():
        raise _refused("amount", "not_whole", "A budget of tokens is a whole number of them.")
    soft = budget.soft_percent
    if soft is not None and not 1 <= soft <= 100:
        raise _refused("softPercent", "out_of_range", "Give 1 to 100, or null to be told nothing.")


def _refused(path: str, code: str, message: str) -> BudgetRefused:
    return BudgetRefused(REFUSED, [DefinitionProblem(path, code, message)])


class BudgetKind(LimitKind[Budget]):
    """Budgets, each of one period and currency (empty: tokens)."""

    model = Budget
    noun = "budget"
    changeable = FIELDS
    refused = BudgetRefused
    exists = BudgetExists
    members_only = REFUSED

    def check(self, limit: Budget) -> None:
        """Raise BudgetRefused for a budget that makes no sense."""
        _check(limit)

    def facts(self, limit: Budget) -> dict[str, Any]:
        """Whom it limits, after what it begins anew, and how much."""
        facts = {name: getattr(limit, name) for name in ("user_id", "period", "currency", *FIELDS)}
        return facts | {"amount": plain(Decimal(limit.amount))}

    def already(self, limit: Budget, whose: str) -> str:
        """The sentence about an equal budget."""
        unit = limit.currency or "tokens"
        return f"There is a {limit.period} budget in {unit} for {whose} already. Change that one."

    def changed(self, limit: Budget) -> None:
        """What was spent stays. What a higher amount makes untrue is told again when it is so."""
        uses = BudgetUse.objects.filter(budget=limit)
        uses.filter(spent__lt=limit.amount).update(spent_told_at=None)
        soft = limit.amount * (limit.soft_percent or 100) / 100
        uses.filter(spent__lt=soft).update(soft_told_at=None)


BUDGETS = BudgetKind()
