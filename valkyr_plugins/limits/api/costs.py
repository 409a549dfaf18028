"""What steps cost: the entries one by one, and their sums."""

from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from executions.public.access import Action, User, reach_of, visible
from executions.public.api import Endpoint, narrowed, operation, page
from executions.public.database import database_now
from valkyr_plugins.limits.api.cost_shapes import CostEntryShape, CostQuery, SpendQuery, SpendShape
from valkyr_plugins.limits.costs.report import totals
from valkyr_plugins.limits.models import CostEntry

FILTERS = {
    "workflowId": "workflow_id",
    "executionId": "execution_id",
    "userId": "user_id",
    "model": "model",
    "createdAfter": "created_at__gt",
    "createdBefore": "created_at__lt",
}
SPAN = timedelta(days=30)


class Costs(Endpoint):
    """All entries."""

    @operation("listCosts", "CostEntry", {200: CostEntryShape(many=True)}, parameters=[CostQuery])
    def get(self, request: Request) -> Response:
        """What steps of your workspaces spent, newest first."""
        query = self.query(CostQuery)
        rows = narrowed(visible(self.user, CostEntry.objects.all()), query, FILTERS)
        found = page(request, rows, query)
        return Response(CostEntryShape(found.rows, many=True).data, headers=found.headers)


class SpendReport(Endpoint):
    """Sums of entries."""

    @operation("getSpend", "CostEntry", {200: SpendShape(many=True)}, parameters=[SpendQuery])
    def get(self, request: Request) -> Response:
        """What was spent, by group and currency: the dearest first, days in order.

        At most 1,000 groups. What one may see is summed, so others may get other sums.
        """
        query = self.query(SpendQuery)
        query.setdefault("createdAfter", query.get("createdBefore", database_now()) - SPAN)
        rows = narrowed(visible(self.user, CostEntry.objects.all()), query, FILTERS)
        found = totals(rows, query["groupBy"], users=nameable(self.user))
        return Response(SpendShape(found, many=True).data)


def nameable(user: User) -> QuerySet[Any]:
    """The users whose names the caller may read: members of workspaces that the caller administers.

    A superuser administers them all.
    """
    people = get_user_model()._default_manager.all()
    workspaces = reach_of(user).workspaces(Action.ADMINISTER)
    return people.filter(memberships__workspace__in=workspaces).distinct()
