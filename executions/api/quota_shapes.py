"""Quotas and what is used of limits, as JSON."""
# ruff: noqa: N815 - the names are the JSON's

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from executions.api.camel_case import CamelCase, CamelCaseSerializer
from executions.api.fields import Body, Id, Text, Whole
from executions.api.paging import PageQuery
from executions.models import Quota
from executions.quotas.rules import MAX_TARGET
from executions.quotas.usage import Present, Window, counter_of
from executions.states import QuotaWindow, Resource

MOST = 2**31 - 1
MOST_COUNTED = 2**53 - 1  # what JSON's readers can tell apart


class WindowShape(CamelCase, serializers.Serializer[Window]):
    """What is used of a limit in a window that goes on: a full hour, or a day, in UTC."""

    limit = serializers.IntegerField(allow_null=True, help_text="Null: none.")
    used = serializers.IntegerField(
        allow_null=True, help_text="Null where nothing is limited, and so nothing is counted."
    )
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()


class QuotaShape(CamelCase, serializers.ModelSerializer[Quota]):
    """A quota, and what is used of it (`present` in the context)."""

    workspace_id = serializers.UUIDField()
    user_id = serializers.IntegerField(
        allow_null=True, help_text="Whom it limits; null: the whole workspace."
    )
    username = serializers.CharField(source="user.username", default=None, allow_null=True)
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
    created_at = serializers.DateTimeField()

    class Meta:
        model = Quota
        fields = [
            "id", "workspace_id", "user_id", "username", "resource", "target", "max_concurrent",
            "max_per_hour", "max_per_day", "running", "hour", "day", "created_at",
        ]  # fmt: skip

    @extend_schema_field(serializers.IntegerField(allow_null=True))
    def get_running(self, quota: Quota) -> int | None:
        """How many steps hold a place now; null where `maxConcurrent` is."""
        counters: Present = self.context["present"]
        return None if quota.max_concurrent is None else counters.held.get(quota.pk, 0)

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
        return WindowShape(counters.window(counter_of(quota), name, limit)).data


class QuotaQuery(PageQuery):
    """What `listQuotas` takes."""

    workspaceId = serializers.UUIDField(required=False)
    userId = serializers.IntegerField(required=False, min_value=1, max_value=MOST)
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
    resource = serializers.ChoiceField(
        Resource.choices, required=False, help_text="What is counted: executions, unless given."
    )
    target = Text(
        required=False,
        allow_blank=True,
        max_length=MAX_TARGET,
        help_text="The module type; for tokens a model's name, or nothing for those of all.",
    )


class TierLimits(CamelCaseSerializer):
    """A tier's limits; null: none."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    max_concurrent = serializers.IntegerField(allow_null=True)
    max_pending = serializers.IntegerField(allow_null=True)
    max_per_hour = serializers.IntegerField(allow_null=True)
    max_per_day = serializers.IntegerField(allow_null=True)


class WorkspaceUsageShape(CamelCaseSerializer):
    """What a workspace uses of its limits now."""

    workspace_id = serializers.UUIDField()
    tier = TierLimits()
    running = serializers.IntegerField(
        help_text="Executions that hold a place: those asleep and children do not."
    )
    pending = serializers.IntegerField(help_text="Executions that wait; counted up to 200,000.")
    hour = WindowShape()
    day = WindowShape()
