"""Quotas and what is used of limits, as JSON."""
# ruff: noqa: N815 - the names are the JSON's

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from executions.api.fields import Body, Id, Whole
from executions.api.paging import PageQuery
from executions.models import Quota
from executions.quotas.usage import Present, Window
from executions.states import QuotaWindow, Resource

MOST = 2**31 - 1


class WindowShape(serializers.Serializer[Window]):
    """What is used of a limit in a window that goes on: a full hour, or a day, in UTC."""

    limit = serializers.IntegerField(allow_null=True, help_text="Null: none.")
    used = serializers.IntegerField(
        allow_null=True, help_text="Null where nothing is limited, and so nothing is counted."
    )
    startsAt = serializers.DateTimeField(source="starts_at")
    endsAt = serializers.DateTimeField(source="ends_at")


class QuotaShape(serializers.ModelSerializer[Quota]):
    """A quota, and what is used of it (`present` in the context)."""

    workspaceId = serializers.UUIDField(source="workspace_id")
    userId = serializers.IntegerField(
        source="user_id", allow_null=True, help_text="Whom it limits; null: the whole workspace."
    )
    username = serializers.CharField(source="user.username", default=None, allow_null=True)
    resource = serializers.ChoiceField(Resource.choices)
    maxPerHour = serializers.IntegerField(source="max_per_hour", allow_null=True)
    maxPerDay = serializers.IntegerField(source="max_per_day", allow_null=True)
    hour = serializers.SerializerMethodField()
    day = serializers.SerializerMethodField()
    createdAt = serializers.DateTimeField(source="created_at")

    class Meta:
        model = Quota
        fields = [
            "id", "workspaceId", "userId", "username", "resource", "maxPerHour", "maxPerDay",
            "hour", "day", "createdAt",
        ]  # fmt: skip

    @extend_schema_field(WindowShape)
    def get_hour(self, quota: Quota) -> Any:
        """This hour."""
        return self._window(quota, QuotaWindow.HOUR, quota.max_per_hour)

    @extend_schema_field(WindowShape)
    def get_day(self, quota: Quota) -> Any:
        """Today."""
        return self._window(quota, QuotaWindow.DAY, quota.max_per_day)

    def _window(self, quota: Quota, name: QuotaWindow, limit: int | None) -> Any:
        counters: Present = self.context["present"]
        counter = (quota.workspace_id, quota.user_id)
        return WindowShape(counters.window(counter, name, limit)).data


class QuotaQuery(PageQuery):
    """What `listQuotas` takes."""

    workspaceId = serializers.UUIDField(required=False)
    userId = serializers.IntegerField(required=False, min_value=1, max_value=MOST)


class QuotaChange(Body):
    """What `patchQuota` takes."""

    maxPerHour = Whole(
        source="max_per_hour",
        required=False,
        allow_null=True,
        min_value=0,
        max_value=MOST,
        help_text="Executions in a full hour (UTC); null: no limit.",
    )
    maxPerDay = Whole(
        source="max_per_day",
        required=False,
        allow_null=True,
        min_value=0,
        max_value=MOST,
        help_text="Executions in a day (UTC); null: no limit.",
    )


class NewQuota(QuotaChange):
    """What `createQuota` takes: one limit at least."""

    workspaceId = Id(required=False)
    userId = Whole(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=MOST,
        help_text="A member to be limited; without it the whole workspace is.",
    )


class TierLimits(serializers.Serializer[Any]):
    """A tier's limits; null: none."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    maxConcurrent = serializers.IntegerField(source="max_concurrent", allow_null=True)
    maxPending = serializers.IntegerField(source="max_pending", allow_null=True)
    maxPerHour = serializers.IntegerField(source="max_per_hour", allow_null=True)
    maxPerDay = serializers.IntegerField(source="max_per_day", allow_null=True)


class WorkspaceUsageShape(serializers.Serializer[Any]):
    """What a workspace uses of its limits now."""

    workspaceId = serializers.UUIDField(source="workspace_id")
    tier = TierLimits()
    running = serializers.IntegerField(
        help_text="Executions that hold a place: those asleep and children do not."
    )
    pending = serializers.IntegerField(help_text="Executions that wait; counted up to 200,000.")
    hour = WindowShape()
    day = WindowShape()
