"""What steps cost, as JSON."""
# ruff: noqa: N815 - the names are the JSON's

from typing import Any

from rest_framework import serializers

from executions.public.api import Body, CamelCase, CamelCaseSerializer, ListQuery
from valkyr_plugins.limits.api.budget_shapes import Amount
from valkyr_plugins.limits.api.limits import MOST
from valkyr_plugins.limits.costs.report import COLUMNS
from valkyr_plugins.limits.models import CostEntry


class CostEntryShape(CamelCase, serializers.ModelSerializer[CostEntry]):
    """What one attempt of a step spent on one model or service."""

    workspace_id = serializers.UUIDField()
    workflow_id = serializers.UUIDField()
    execution_id = serializers.UUIDField()
    run_id = serializers.UUIDField()
    user_id = serializers.IntegerField(
        allow_null=True, help_text="Who started it; null: a trigger."
    )
    model = serializers.CharField(help_text="What the module says it used; may be empty.")
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
    """What `listCosts` takes."""

    workflowId = serializers.UUIDField(required=False)
    executionId = serializers.UUIDField(required=False)
    userId = serializers.IntegerField(required=False, min_value=1, max_value=MOST)
    model = serializers.CharField(required=False, max_length=200)
    createdAfter = serializers.DateTimeField(required=False)
    createdBefore = serializers.DateTimeField(required=False)


class SpendQuery(Body):
    """What `getSpend` takes."""

    groupBy = serializers.ChoiceField([(name, name) for name in COLUMNS])
    workspaceId = serializers.UUIDField(required=False)
    workflowId = serializers.UUIDField(required=False)
    userId = serializers.IntegerField(required=False, min_value=1, max_value=MOST)
    createdAfter = serializers.DateTimeField(
        required=False, help_text="30 days before now, or before `createdBefore`, unless given."
    )
    createdBefore = serializers.DateTimeField(required=False)

    def validate(self, attrs: Any) -> Any:
        """The time goes forwards."""
        first, last = attrs.get("createdAfter"), attrs.get("createdBefore")
        if first is not None and last is not None and first >= last:
            raise serializers.ValidationError(
                {"createdBefore": "It must be later than createdAfter."}, code="out_of_order"
            )
        return attrs


class SpendShape(CamelCaseSerializer):
    """What one of a group spent in one currency."""

    key = serializers.CharField(
        help_text="The id of the user, workspace or workflow, the model, or the day (UTC); empty "
        "for triggers, which no user started."
    )
    name = serializers.CharField(
        allow_null=True,
        help_text="A workspace's slug, a workflow's name; a user's name for who administers a "
        "workspace of theirs.",
    )
    currency = serializers.CharField()
    entries = serializers.IntegerField()
    input_tokens = serializers.IntegerField()
    output_tokens = serializers.IntegerField()
    tokens = serializers.IntegerField()
    amount = Amount()
