"""Budgets that are spent in their present period, and the gate that refuses steps then."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from runners.public.gates import Asked
from runners.public.modules import StepError
from valkyr_plugins.limits import statements
from valkyr_plugins.limits.budgets.amounts import amount, plain
from valkyr_plugins.limits.budgets.usage import end_of
from valkyr_plugins.limits.known import known

# After how many seconds to ask again where a budget never begins anew: somebody may raise it.
NEVER_ENDS = 86_400.0


class BudgetSpent(StepError):
    """A step that costs is refused: a budget that it would draw on is spent."""


@dataclass(frozen=True, slots=True)
class Spent:
    """A budget of a workspace, or of one user in it, of which nothing is left."""

    id: UUID
    workspace_id: UUID
    workspace: str
    user_id: int | None
    period: str
    currency: str
    amount: Decimal
    spent: Decimal
    starts_at: datetime
    now: datetime

    @property
    def ends_at(self) -> datetime | None:
        """When it begins anew."""
        return end_of(self.period, self.starts_at)

    @property
    def retry_after(self) -> float:
        """In how many seconds to try again."""
        if self.ends_at is None:
            return NEVER_ENDS
        return max(1.0, (self.ends_at - self.now).total_seconds())

    @property
    def sentence(self) -> str:
        """Whose budget is spent, how much of how much, and when it begins anew."""
        whose = f"the workspace {self.workspace!r}"
        if self.user_id is not None:
            whose = f"user {self.user_id} in {whose}"
        anew = "it does not begin anew by itself"
        if self.ends_at is not None:
            anew = f"it begins anew at {self.ends_at:%Y-%m-%d %H:%M} UTC"
        return (
            f"The {self.period} budget of {whose} is spent: {plain(self.spent)} of "
            f"{amount(self.amount, self.currency)}; {anew}. Raise it, or wait."
        )

    @property
    def facts(self) -> dict[str, Any]:
        """The same for programs."""
        ends_at = self.ends_at
        return {
            "budgetId": str(self.id),
            "spent": plain(self.spent).replace(",", ""),
            "amount": plain(self.amount).replace(",", ""),
            "currency": self.currency or None,
            "resetAt": None if ends_at is None else ends_at.isoformat(),
        }


def spent_of(workspace_id: UUID, user_id: int | None, *, killing: bool = False) -> Spent | None:
    """A spent budget of the workspace, or of one user in it: the one that lasts longest.

    With `killing` only one that has a kill switch. One query.
    """
    found = _fetch({"workspace": workspace_id, "user": user_id, "killing": killing})
    return max(found, key=lambda spent: spent.retry_after, default=None)


def all_killing() -> list[Spent]:
    """Every spent budget that has a kill switch."""
    return _fetch({"workspace": None, "user": None, "killing": True})


def _fetch(params: dict[str, Any]) -> list[Spent]:
    return [Spent(*row) for row in statements.fetch("spent_budgets", params)]


def ask(asked: Asked) -> None:
    """Raise BudgetSpent for a step whose spender has nothing left.

    Any spent budget counts, whatever its currency: what a step will spend is not known before it
    runs. One query, for steps that cost in workspaces that have budgets.
    """
    workspace_id = asked.context.version.workspace_id
    if not asked.module.costs or workspace_id not in known().budgets:
        return
    spent = spent_of(workspace_id, asked.context.principal_id)
    if spent is not None:
        raise BudgetSpent(spent.sentence, details=spent.facts)
