"""Quotas as JSON, with what is used of them."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from executions.public.api import Body, Text, Whole, WindowShape
from executions.public.quotas import QuotaWindow
from valkyr_plugins.limits.api.limits import MOST, LimitQuery, LimitShape, NewLimit
from valkyr_plugins.limits.models import Quota
from valkyr_plugins.limits.quotas.rules import MAX_TARGET
from valkyr_plugins.limits.quotas.usage import QuotaUses
from valkyr_plugins.limits.states import Resource

MOST_COUNTED = 2**53 - 1  # what JSON's readers can tell apart


class QuotaShape(LimitShape):
    """A quota, and what is used of it (`uses` in the context)."""

    resource = serializers.ChoiceField(Resource.choices)
    target = serializers.CharField(
        help_text="The module type, or the model whose tokens are limited; empty: all."
    )
    max_concurrent = serializers.IntegerField(allow_null=True)
    max_per_hour = serializers.IntegerField(allow_null=True)
    max_per_day = serializers.IntegerField(allow_null=True)
    running = serializers.SerializerMethodField()
    hour = serializers.SerializerMethodField()
    day = serializers.SerializerMethodField()

    class Meta:
        model = Quota
        fields = [
            "id", "workspace_id", "user_id", "username", "resource", "target", "max_concurrent",
            "max_per_hour", "max_per_day", "running", "hour", "day", "created_at",
        ]  # fmt: skip

    @extend_schema_field(serializers.IntegerField(allow_null=True))
    def get_running(self, quota: Quota) -> int | None:
        """How many steps hold a place now; null where `maxConcurrent` is."""
        uses: QuotaUses = self.context["uses"]
        return uses.running(quota)

    @extend_schema_field(WindowShape)
    def get_hour(self, quota: Quota) -> Any:
        """This hour."""
        return self._window(quota, QuotaWindow.HOUR, quota.max_per_hour)

    @extend_schema_field(WindowShape)
    def get_day(self, quota: Quota) -> Any:
        """Today."""
        return self._window(quota, QuotaWindow.DAY, quota.max_per_day)

    def _window(self, quota: Quota, name: QuotaWindow, limit: int | None) -> Any:
        uses: QuotaUses = self.context["uses"]
        return WindowShape(uses.window(quota, name, limit)).data


class QuotaQuery(LimitQuery):
    """What `listQuotas` takes."""

    resource = serializers.ChoiceField(Resource.choices, required=False)
    target = serializers.CharField(required=False, max_length=MAX_TARGET)


class QuotaChange(Body):
    """What `patchQuota` takes."""

    max_concurrent = Whole(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=MOST,
        help_text="Steps of a module type that run at once; null: no limit.",
    )
    max_per_hour = Whole(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=MOST_COUNTED,
        help_text="Executions, steps or tokens in a full hour (UTC); null: no limit.",
    )
    max_per_day = Whole(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=MOST_COUNTED,
        help_text="Executions, steps or tokens in a day (UTC); null: no limit.",
    )


class NewQuota(NewLimit, QuotaChange):
    """What `createQuota` takes: one limit at least."""

    resource = serializers.ChoiceField(
        Resource.choices, required=False, help_text="What is counted: executions, unless given."
    )
    target = Text(
        required=False,
        allow_blank=True,
        max_length=MAX_TARGET,
        help_text="The module type; for tokens a model's name, or nothing for those of all.",
    )
