"""People are told when a budget nears its end, and when it is spent: once a period each."""

import logging
from collections.abc import Callable, Collection
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from executions.public.access import Actor, record
from executions.public.conditions import LASTING, Lasting, ReportedCondition, condition_began
from executions.public.database import ClockTimestamp
from executions.public.models import Workspace
from valkyr_plugins.limits.budgets.amounts import amount, percent, plain
from valkyr_plugins.limits.budgets.usage import uses_of
from valkyr_plugins.limits.models import Budget, BudgetUse

log = logging.getLogger(__name__)
ACTOR = Actor.system("budgets")
SOFT, SPENT = "budget.soft", "budget.spent"
IS_NEARLY_SPENT, IS_SPENT = "BUDGET_SOFT", "BUDGET_SPENT"  # as rules of alerts name them


def tell(budget_id: UUID, starts_at: datetime, spent: Decimal) -> None:
    """Tell what was reached and not told yet, in the transaction that spent.

    A budget that is spent at one go is not told of as nearly spent, too.
    """
    budget = Budget.objects.filter(pk=budget_id).first()
    if budget is None:
        return
    rows = BudgetUse.objects.filter(budget_id=budget_id, starts_at=starts_at)
    now = ClockTimestamp()
    if spent >= budget.amount:
        if rows.filter(spent_told_at=None).update(spent_told_at=now):
            _tell(budget, SPENT, spent, starts_at)
        rows.filter(soft_told_at=None).update(soft_told_at=now)
    elif rows.filter(soft_told_at=None).update(soft_told_at=now):
        _tell(budget, SOFT, spent, starts_at)


def _tell(budget: Budget, action: str, spent: Decimal, starts_at: datetime) -> None:
    details: dict[str, Any] = {
        "spent": plain(spent),
        "amount": amount(budget.amount, budget.currency),
        "percent": percent(spent, budget.amount),
        "period": budget.period,
        "startsAt": starts_at.isoformat(),
        "userId": budget.user_id,
    }
    record(
        ACTOR,
        action,
        workspace_id=budget.workspace_id,
        object_type="Budget",
        object_id=budget.pk,
        details=details,
    )
    log.warning(
        "%s: budget %s of workspace %s (user %s): %s of %s in the %s from %s",
        action, budget.pk, budget.workspace_id, budget.user_id, details["spent"],
        details["amount"], budget.period, details["startsAt"],
    )  # fmt: skip
    condition_began.send(Budget, condition=_condition(budget, action == SPENT, spent))


def _condition(budget: Budget, over: bool, spent: Decimal) -> ReportedCondition:
    whose = Workspace.objects.values_list("slug", flat=True).get(pk=budget.workspace_id)
    limit = amount(Decimal(budget.amount), budget.currency)
    period = "in all" if budget.period == "total" else f"this {budget.period}"
    said = "spent" if over else "nearly spent"
    return ReportedCondition(
        IS_SPENT if over else IS_NEARLY_SPENT,
        "budget",
        budget.pk,
        budget.workspace_id,
        f"A budget of {whose} is {said}: {plain(spent)} of {limit} {period}.",
        f"/admin/valkyr_limits/budget/{budget.pk}/change/",
        {"budgetId": str(budget.pk), "spent": plain(spent), "amount": limit},
    )


def _lasts(reached: Callable[[Budget], float]) -> Lasting:
    """Those of some budgets of which so many per cent are spent in the present period."""

    def still(ids: Collection[UUID]) -> set[UUID]:
        budgets = list(Budget.objects.filter(pk__in=ids))
        uses = uses_of(budgets)
        return {b.pk for b in budgets if uses[b.pk].percent >= reached(b)}

    return still


LASTING |= {
    IS_NEARLY_SPENT: _lasts(lambda budget: budget.soft_percent or 100),
    IS_SPENT: _lasts(lambda budget: 100),
}
