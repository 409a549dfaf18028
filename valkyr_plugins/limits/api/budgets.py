"""Budgets: list, create, read, change, delete; each with what is spent of it."""

from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from executions.public.api import operation
from valkyr_plugins.limits.api.budget_shapes import (
    BudgetChange,
    BudgetQuery,
    BudgetShape,
    NewBudget,
)
from valkyr_plugins.limits.api.limits import LimitEndpoint
from valkyr_plugins.limits.budgets.rules import BUDGETS, FIELDS
from valkyr_plugins.limits.budgets.usage import uses_of
from valkyr_plugins.limits.states import BudgetPeriod


class BudgetEndpoint(LimitEndpoint):
    """Requests about budgets."""

    kind, shape, uses_of = BUDGETS, BudgetShape, uses_of


class Budgets(BudgetEndpoint):
    """All budgets."""

    @operation("listBudgets", "Budget", {200: BudgetShape(many=True)}, parameters=[BudgetQuery])
    def get(self, request: Request) -> Response:
        """The budgets of your workspaces, newest first, with what is spent."""
        return self.listed(request, BudgetQuery)

    @operation(
        "createBudget",
        "Budget",
        {201: BudgetShape},
        request=NewBudget,
        errors=[403, 404],
        idempotent=True,
    )
    def post(self, request: Request) -> Response:
        """Limit what a workspace, or one of its members, spends in a day, a month, or ever."""
        given = self.body(NewBudget)
        facts = {name: given[name] for name in FIELDS if name in given}
        facts["period"] = given.get("period", BudgetPeriod.MONTH.value)
        facts["currency"] = given.get("currency") or ""
        return self.created(given, facts)


class OneBudget(BudgetEndpoint):
    """One budget."""

    @operation("getBudget", "Budget", {200: BudgetShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """One budget, with what is spent of it."""
        return self.one(id)

    @operation("patchBudget", "Budget", {200: BudgetShape}, request=BudgetChange, errors=[403, 404])
    def patch(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Set another amount, threshold or switch; what was spent stays."""
        return self.changed(id, BudgetChange)

    @operation("deleteBudget", "Budget", {204: None}, errors=[403, 404])
    def delete(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Take the budget away: it limits nothing any more, and what was spent is forgotten."""
        return self.deleted(id)
