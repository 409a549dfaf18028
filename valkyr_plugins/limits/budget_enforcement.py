"""Spent budgets: the gate that rejects steps, the kill switch, and the notifications."""

import logging
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from executions.public import addresses
from executions.public.access import Actor, key_as_json, record
from executions.public.conditions import LASTING, Lasting, ReportedCondition, condition_began
from executions.public.database import ClockTimestamp, in_states
from executions.public.errors import WrongState
from executions.public.lifecycle import cancel
from executions.public.models import ACTIVE, ExecutionState, WorkflowExecution, Workspace
from runners.public.gates import Asked
from runners.public.modules import StepError
from runners.public.recovery import each
from valkyr_plugins.limits import statements
from valkyr_plugins.limits.budgets import amount, end_of, percent, plain, uses_of
from valkyr_plugins.limits.known_limits import known
from valkyr_plugins.limits.models import Budget, BudgetUse

# Seconds until the next check of a budget that never resets, because a user may raise it.
NEVER_ENDS = 86_400.0


class BudgetSpent(StepError):
    """A step with costs is rejected, because a budget of its workspace or user is spent."""


@dataclass(frozen=True, slots=True)
class Spent:
    """A spent budget of a workspace, or of one of its users."""

    id: UUID
    workspace_id: UUID
    workspace: str
    user_id: Any
    period: str
    currency: str
    amount: Decimal
    spent: Decimal
    starts_at: datetime
    now: datetime

    @property
    def ends_at(self) -> datetime | None:
        """Return when the budget resets; None for a total budget, which never does."""
        return end_of(self.period, self.starts_at)

    @property
    def retry_after(self) -> float:
        """Return the seconds until the budget resets, at least 1; a day if it never resets."""
        if self.ends_at is None:
            return NEVER_ENDS
        return max(1.0, (self.ends_at - self.now).total_seconds())

    @property
    def lasts(self) -> tuple[bool, float]:
        """Return a sort key for the time of reset; budgets that never reset sort last."""
        return self.ends_at is None, self.retry_after

    @property
    def sentence(self) -> str:
        """Return a sentence with the budget's owner, spending, amount and time of reset."""
        whose = f"the workspace {self.workspace!r}"
        if self.user_id is not None:
            whose = f"user {self.user_id} in {whose}"
        again = "it does not reset automatically"
        if self.ends_at is not None:
            again = f"it resets at {self.ends_at:%Y-%m-%d %H:%M} UTC"
        return (
            f"The {self.period} budget of {whose} is spent: {plain(self.spent)} of "
            f"{amount(self.amount, self.currency)}; {again}. Raise it, or wait."
        )

    @property
    def facts(self) -> dict[str, Any]:
        """Return the budget's state as a mapping, for programs."""
        ends_at = self.ends_at
        return {
            "budgetId": str(self.id),
            "spent": plain(self.spent).replace(",", ""),
            "amount": plain(self.amount).replace(",", ""),
            "currency": self.currency or None,
            "resetAt": None if ends_at is None else ends_at.isoformat(),
        }


def spent_of(workspace_id: UUID, user_id: Any, *, killing: bool = False) -> Spent | None:
    """Return the spent budget of the workspace or the user that resets last, or never resets.

    Return None if neither has a spent budget. With `killing`, only budgets with a kill switch
    count. Uses one query.
    """
    found = _fetch({"workspaces": [workspace_id], "users": [user_id], "killing": killing})
    return max(found, key=lambda spent: spent.lasts, default=None)


def all_killing() -> list[Spent]:
    """Return all spent budgets that have a kill switch."""
    return _fetch({"workspaces": None, "users": [], "killing": True})


def _fetch(params: dict[str, Any]) -> list[Spent]:
    return [Spent(*row) for row in statements.fetch("spent_budgets", params)]


def ask(asked: Asked) -> None:
    """Raise BudgetSpent for a step with costs whose workspace or user has spent a budget.

    A spent budget in any currency rejects the step, because a step's costs are unknown before it
    runs. Uses one query, only for steps with costs in workspaces with budgets.
    """
    if not _draws(asked):
        return
    spent = spent_of(asked.context.version.workspace_id, asked.context.principal_id)
    if spent is not None:
        raise _refusal(spent)


def ask_all(asked: Sequence[Asked]) -> list[Exception | None]:
    """Check steps that are leased together; return BudgetSpent or None for each step.

    Uses at most one query.
    """
    spenders = {_spender(one) for one in asked if _draws(one)}
    if not spenders:
        return [None] * len(asked)
    workspaces, users = map(list, zip(*spenders, strict=True))
    found = _fetch({"workspaces": workspaces, "users": users, "killing": False})
    answers: list[Exception | None] = []
    for one in asked:
        workspace_id, user_id = _spender(one)
        mine = [
            spent
            for spent in found
            if spent.workspace_id == workspace_id and spent.user_id in (None, user_id)
        ]
        lasting = max(mine, key=lambda spent: spent.lasts) if mine and _draws(one) else None
        answers.append(None if lasting is None else _refusal(lasting))
    return answers


def _spender(asked: Asked) -> tuple[UUID, Any]:
    return asked.context.version.workspace_id, asked.context.principal_id


def _draws(asked: Asked) -> bool:
    """Return whether the step can have costs that count against a budget."""
    return asked.context.version.workspace_id in known().budgets and asked.costs


def _refusal(spent: Spent) -> BudgetSpent:
    return BudgetSpent(spent.sentence, details=spent.facts)


# The kill switch: if a spent budget has one, end the live executions that the budget covers.


ACTOR = Actor.system("budgets")
BATCH = 200
SECONDS = 0.7  # time limit of one sweep, which runs every second


def unfinished(spent: Spent, most: int) -> Sequence[UUID]:
    """Return the IDs of at most `most` unfinished root executions of the spender.

    Running and paused executions are first. Executions that are being undone are omitted, because
    they end automatically.
    """
    rows = WorkflowExecution.objects.filter(
        workspace_id=spent.workspace_id, parent__isnull=True, compensation=""
    )
    if spent.user_id is not None:
        rows = rows.filter(principal_id=spent.user_id)
    found: list[UUID] = []
    # Two queries, because each uses its own index.
    for states in (sorted(ACTIVE), [ExecutionState.PENDING.value]):
        some = rows.filter(in_states(*states)).order_by()
        found += some.values_list("pk", flat=True)[: most - len(found)]
    return found


def stop(execution_id: UUID, spent: Spent) -> int:
    """Cancel one execution with its children; return 1, or 0 if it has already ended."""
    try:
        cancel(execution_id, actor=ACTOR, reason=f"Budget {spent.id} is spent. {spent.sentence}")
    except WrongState:
        return 0
    return 1


def sweep() -> int:
    """For up to 0.7 s, cancel executions whose kill-switch budget is spent; return their number."""
    until, count = time.monotonic() + SECONDS, 0
    for spent in all_killing():
        while found := unfinished(spent, BATCH):
            cancelled = 0
            for execution_id in found:
                cancelled += each(f"spent budget {spent.id}", stop, execution_id, spent)
                if time.monotonic() > until:
                    return count + cancelled
            count += cancelled
            if not cancelled:
                break
    return count


# Notify users when a budget is nearly spent and when it is spent, once per period each.


log = logging.getLogger(__name__)
SOFT, SPENT = "budget.soft", "budget.spent"
IS_NEARLY_SPENT, IS_SPENT = "BUDGET_SOFT", "BUDGET_SPENT"  # names of the kinds in alert rules


def tell(budget_id: UUID, starts_at: datetime, spent: Decimal) -> None:
    """Report newly reached thresholds, in the transaction that records the spending.

    A budget that reaches both thresholds at once is reported only as spent.
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
        "userId": key_as_json(budget.user_id),
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
        addresses.page("valkyr_limits_budget", budget.pk),
        {"budgetId": str(budget.pk), "spent": plain(spent), "amount": limit},
    )


def _lasts(reached: Callable[[Budget], float]) -> Lasting:
    """Return a function that selects the IDs of budgets whose spending reached a percentage."""

    def still(ids: Collection[UUID]) -> set[UUID]:
        budgets = list(Budget.objects.filter(pk__in=ids))
        uses = uses_of(budgets)
        return {b.pk for b in budgets if uses[b.pk].percent >= reached(b)}

    return still


LASTING |= {
    IS_NEARLY_SPENT: _lasts(lambda budget: budget.soft_percent or 100),
    IS_SPENT: _lasts(lambda budget: 100),
}
