"""People are told when a budget nears its end, and when it is spent: once a period each."""

import logging
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from executions.access.actor import Actor, record
from executions.database.clock import ClockTimestamp
from runners.budgets.amounts import amount, percent, plain
from runners.events import budget_reached
from runners.models import Budget, BudgetUse

log = logging.getLogger(__name__)
ACTOR = Actor.system("budgets")
SOFT, SPENT = "budget.soft", "budget.spent"


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
    budget_reached.send(Budget, budget=budget, what=action, spent=spent)
