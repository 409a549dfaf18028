"""Endpoints that list the costs of steps, and that sum them."""

from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import QuerySet

# ruff: noqa: N815 - the names are the JSON's
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions.public.access import Action, User, reach_of, visible
from executions.public.api import (
    Body,
    CamelCase,
    CamelCaseSerializer,
    Endpoint,
    ListQuery,
    asked_user_id,
    narrowed,
    operation,
    page,
    shown_user_id,
)
from executions.public.database import alias, database_now
from valkyr_plugins.limits.api.budgets import Amount
from valkyr_plugins.limits.costs import COLUMNS, totals
from valkyr_plugins.limits.models import CostEntry

# The costs of steps as JSON.


class CostEntryShape(CamelCase, serializers.ModelSerializer[CostEntry]):
    """The spending of one attempt of a step on one model or service."""

    workspace_id = serializers.UUIDField()
    workflow_id = serializers.UUIDField()
    execution_id = serializers.UUIDField()
    run_id = serializers.UUIDField()
    user_id = shown_user_id(
        allow_null=True, help_text=("The user who started it; null for a trigger.")
    )
    model = serializers.CharField(help_text="The model that the module reported; may be empty.")
    input_tokens = serializers.IntegerField()
    output_tokens = serializers.IntegerField()
    amount = Amount()
    created_at = serializers.DateTimeField()

    class Meta:
        model = CostEntry
        fields = [
            "id", "workspace_id", "workflow_id", "execution_id", "run_id", "user_id", "module",
            "model", "input_tokens", "output_tokens", "tokens", "amount", "currency", "created_at",
        ]  # fmt: skip


class CostQuery(ListQuery):
    """The query parameters of `listCosts`."""

    workflowId = serializers.UUIDField(required=False)
    executionId = serializers.UUIDField(required=False)
    userId = asked_user_id(required=False)
    model = serializers.CharField(required=False, max_length=200)
    createdAfter = serializers.DateTimeField(required=False)
    createdBefore = serializers.DateTimeField(required=False)


class SpendQuery(Body):
    """The query parameters of `getSpend`."""

    groupBy = serializers.ChoiceField([(name, name) for name in COLUMNS])
    workspaceId = serializers.UUIDField(required=False)
    workflowId = serializers.UUIDField(required=False)
    userId = asked_user_id(required=False)
    createdAfter = serializers.DateTimeField(
        required=False, help_text="Default: 30 days before now, or before `createdBefore`."
    )
    createdBefore = serializers.DateTimeField(required=False)

    def validate(self, attrs: Any) -> Any:
        """Check that `createdBefore` is later than `createdAfter`. Raises ValidationError."""
        first, last = attrs.get("createdAfter"), attrs.get("createdBefore")
        if first is not None and last is not None and first >= last:
            raise serializers.ValidationError(
                {"createdBefore": "It must be later than createdAfter."}, code="out_of_order"
            )
        return attrs


class SpendShape(CamelCaseSerializer):
    """The spending of one group in one currency."""

    key = serializers.CharField(
        help_text="The id of the user, workspace or workflow, the model, or the day (UTC); empty "
        "for triggers, which no user started."
    )
    name = serializers.CharField(
        allow_null=True,
        help_text=(
            "The slug of a workspace, the name of a workflow, or, for administrators of the "
            "workspace, the name of a user."
        ),
    )
    currency = serializers.CharField()
    entries = serializers.IntegerField()
    input_tokens = serializers.IntegerField()
    output_tokens = serializers.IntegerField()
    tokens = serializers.IntegerField()
    amount = Amount()


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
    """The endpoint that lists the cost entries of steps."""

    @operation("listCosts", "CostEntry", {200: CostEntryShape(many=True)}, parameters=[CostQuery])
    def get(self, request: Request) -> Response:
        """List the costs of your workspaces' steps, newest first."""
        query = self.query(CostQuery)
        rows = narrowed(visible(self.user, CostEntry.objects.all()), query, FILTERS)
        found = page(request, rows, query)
        return Response(CostEntryShape(found.rows, many=True).data, headers=found.headers)


class SpendReport(Endpoint):
    """The endpoint that sums cost entries for each group and currency."""

    @operation("getSpend", "CostEntry", {200: SpendShape(many=True)}, parameters=[SpendQuery])
    def get(self, request: Request) -> Response:
        """Return the spending per group and currency, the highest amount first; days are in order.

        Returns at most 1,000 groups. Sums contain only costs that you may view, so other users may
        get other sums.
        """
        query = self.query(SpendQuery)
        query.setdefault("createdAfter", query.get("createdBefore", database_now()) - SPAN)
        rows = narrowed(visible(self.user, CostEntry.objects.all()), query, FILTERS)
        found = totals(rows, query["groupBy"], users=nameable(self.user))
        return Response(SpendShape(found, many=True).data)


def nameable(user: User) -> QuerySet[Any]:
    """Return users whose names the caller may read: members of workspaces the caller administers.

    A superuser administers all workspaces.
    """
    people = get_user_model()._default_manager.using(alias())
    workspaces = reach_of(user).workspaces(Action.ADMINISTER)
    return people.filter(valkyr_memberships__workspace__in=workspaces).distinct()
