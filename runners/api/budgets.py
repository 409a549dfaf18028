"""Budgets: list, create, read, change, delete; each with what is spent of it."""

from collections.abc import Sequence
from uuid import UUID

from django.db.models import QuerySet
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, obtain, visible, workspace_for
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.paging import narrowed, page
from executions.states import Permission
from runners.api.budget_shapes import BudgetChange, BudgetQuery, BudgetShape, NewBudget
from runners.budgets.setting import FIELDS, change_budget, create_budget, delete_budget
from runners.budgets.usage import uses_of
from runners.models import Budget
from runners.states import BudgetPeriod


def budgets() -> QuerySet[Budget]:
    """Budgets with the names of whom they limit."""
    return Budget.objects.select_related("user")


def shown(found: Sequence[Budget]) -> list[dict[str, object]]:
    """Budgets with what is spent of them."""
    return list(BudgetShape(found, many=True, context={"uses": uses_of(found)}).data)


class Budgets(Endpoint):
    """All budgets."""

    @operation("listBudgets", "Budget", {200: BudgetShape(many=True)}, parameters=[BudgetQuery])
    def get(self, request: Request) -> Response:
        """The budgets of your workspaces, newest first, with what is spent."""
        query = self.query(BudgetQuery)
        rows = narrowed(visible(self.user, budgets()), query, {"userId": "user_id"})
        found = page(request, rows, query)
        return Response(shown(found.rows), headers=found.headers)

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
        workspace = workspace_for(self.user, given.get("workspaceId"), Permission.CONFIGURE)
        facts = {name: given[name] for name in FIELDS if name in given}
        facts["period"] = given.get("period", BudgetPeriod.MONTH.value)
        facts["currency"] = given.get("currency") or ""
        made = create_budget(workspace, facts, user_id=given.get("userId"), actor=self.actor)
        return Response(shown([made])[0], 201, headers={"Location": f"/v1/Budget/{made.pk}"})


class OneBudget(Endpoint):
    """One budget."""

    @operation("getBudget", "Budget", {200: BudgetShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """One budget, with what is spent of it."""
        budget, _ = obtain(self.user, budgets(), id, Action.VIEW)
        return Response(shown([budget])[0])

    @operation("patchBudget", "Budget", {200: BudgetShape}, request=BudgetChange, errors=[403, 404])
    def patch(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Set another amount, threshold or switch; what was spent stays."""
        obtain(self.user, budgets(), id, Permission.CONFIGURE)
        given = self.body(BudgetChange)
        if not given:
            raise ValidationError("Name at least one field to change.", code="required")
        return Response(shown([change_budget(id, given, actor=self.actor)])[0])

    @operation("deleteBudget", "Budget", {204: None}, errors=[403, 404])
    def delete(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Take the budget away: it limits nothing any more, and what was spent is forgotten."""
        obtain(self.user, budgets(), id, Permission.CONFIGURE)
        delete_budget(id, actor=self.actor)
        return Response(status=204)
