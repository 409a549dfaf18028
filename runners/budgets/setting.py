"""Making, changing and taking away budgets: the only writer of them, each time audited."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from executions.access.actor import Actor, record
from executions.database.clock import database_now
from executions.definition.graph.problem import Problem
from executions.errors import NotFound
from executions.models import Membership, Workspace
from runners.budgets.amounts import plain
from runners.budgets.errors import BudgetExists, BudgetRefused
from runners.models import Budget, BudgetUse
from runners.states import BudgetPeriod

FIELDS = ("amount", "soft_percent", "kill_switch")
MOST = Decimal(10**15)


def create_budget(
    workspace: Workspace, facts: Mapping[str, Any], *, user_id: int | None, actor: Actor
) -> Budget:
    """Limit what a workspace, or one of its members, spends; raises BudgetRefused, BudgetExists.

    `facts` are the period, currency (empty: tokens), amount, soft_percent and kill_switch.
    """
    budget = Budget(workspace=workspace, user_id=user_id, created_at=database_now(), **facts)
    _check(budget)
    if user_id is not None and not _is_member(workspace, user_id):
        raise _refused("userId", "no_member", f"{user_id} is no member of {workspace.slug!r}.")
    try:
        with transaction.atomic():
            budget.save(force_insert=True)
            _audit(actor, "budget.create", budget, after=_facts(budget))
    except IntegrityError:
        raise BudgetExists(
            f"There is a {budget.period} budget in {budget.currency or 'tokens'} for "
            f"{'the workspace' if user_id is None else f'user {user_id}'} already. Change that one."
        ) from None
    return budget


def change_budget(budget_id: UUID, changes: Mapping[str, Any], *, actor: Actor) -> Budget:
    """Set another amount, threshold or switch, which hold at once; raises NotFound, BudgetRefused.

    What was spent stays. What a higher amount makes untrue is told again when it comes true.
    """
    with transaction.atomic():
        budget = _locked(budget_id)
        before = _facts(budget)
        for name, value in changes.items():
            setattr(budget, name, value)
        _check(budget)
        if _facts(budget) != before:
            budget.save(update_fields=FIELDS)
            _untell(budget)
            _audit(actor, "budget.update", budget, before=before, after=_facts(budget))
    return budget


def delete_budget(budget_id: UUID, *, actor: Actor, reason: str = "") -> None:
    """Take a budget away: it limits nothing any more; raises NotFound."""
    with transaction.atomic():
        budget = _locked(budget_id)
        _audit(actor, "budget.delete", budget, before=_facts(budget), reason=reason)
        budget.delete()


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
    return BudgetRefused("The budget cannot be as asked.", [Problem(path, code, message)])


def _untell(budget: Budget) -> None:
    """Forget that people were told what is not so any more."""
    uses = BudgetUse.objects.filter(budget=budget)
    uses.filter(spent__lt=budget.amount).update(spent_told_at=None)
    soft = budget.amount * (budget.soft_percent or 100) / 100
    uses.filter(spent__lt=soft).update(soft_told_at=None)


def _is_member(workspace: Workspace, user_id: int) -> bool:
    return Membership.objects.filter(workspace=workspace, user_id=user_id).exists()


def _locked(budget_id: UUID) -> Budget:
    rows = Budget.objects.select_for_update(no_key=True, of=("self",))
    budget = rows.select_related("user", "workspace").filter(pk=budget_id).first()
    if budget is None:
        raise NotFound(f"There is no budget {budget_id}.")
    return budget


def _facts(budget: Budget) -> dict[str, Any]:
    return {
        "user_id": budget.user_id,
        "period": budget.period,
        "currency": budget.currency,
        "amount": plain(Decimal(budget.amount)),
        "soft_percent": budget.soft_percent,
        "kill_switch": budget.kill_switch,
    }


def _audit(actor: Actor, action: str, budget: Budget, **what: Any) -> None:
    record(
        actor,
        action,
        workspace_id=budget.workspace_id,
        object_type="Budget",
        object_id=budget.pk,
        **what,
    )
