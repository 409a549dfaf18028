"""Endpoints that list, create, read, change and delete quotas; a quota includes its current use."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions.public.api import Body, Text, Whole, WindowShape, operation
from executions.public.quotas import QuotaWindow
from valkyr_plugins.limits.api.limits import MOST, LimitEndpoint, LimitQuery, LimitShape, NewLimit
from valkyr_plugins.limits.models import Quota, Resource
from valkyr_plugins.limits.quotas import LIMITS, MAX_TARGET, QUOTAS, QuotaUses, uses_of

# Quotas as JSON, with their use.


MOST_COUNTED = 2**53 - 1  # largest integer that all JSON parsers represent exactly


class QuotaShape(LimitShape):
    """A quota, and its use in the current hour and day."""

    resource = serializers.ChoiceField(Resource.choices)
    target = serializers.CharField(
        help_text="The module type, or the model whose tokens are limited; empty for all models."
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
        """Return how many steps hold a slot; null if `maxConcurrent` is null."""
        uses: QuotaUses = self.context["uses"]
        return uses.running(quota)

    @extend_schema_field(WindowShape)
    def get_hour(self, quota: Quota) -> Any:
        """Return the quota's use in this hour."""
        return self._window(quota, QuotaWindow.HOUR, quota.max_per_hour)

    @extend_schema_field(WindowShape)
    def get_day(self, quota: Quota) -> Any:
        """Return the quota's use today."""
        return self._window(quota, QuotaWindow.DAY, quota.max_per_day)

    def _window(self, quota: Quota, name: QuotaWindow, limit: int | None) -> Any:
        uses: QuotaUses = self.context["uses"]
        return WindowShape(uses.window(quota, name, limit)).data


class QuotaQuery(LimitQuery):
    """The query parameters of `listQuotas`."""

    resource = serializers.ChoiceField(Resource.choices, required=False)
    target = serializers.CharField(required=False, max_length=MAX_TARGET)


class QuotaChange(Body):
    """The body of `patchQuota`."""

    max_concurrent = Whole(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=MOST,
        help_text="Maximum concurrent steps of a module type; null for no limit.",
    )
    max_per_hour = Whole(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=MOST_COUNTED,
        help_text="Maximum executions, steps or tokens per full hour (UTC); null for no limit.",
    )
    max_per_day = Whole(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=MOST_COUNTED,
        help_text="Maximum executions, steps or tokens per day (UTC); null for no limit.",
    )


class NewQuota(NewLimit, QuotaChange):
    """The body of `createQuota`: at least one limit."""

    resource = serializers.ChoiceField(
        Resource.choices, required=False, help_text="What is counted; default: executions."
    )
    target = Text(
        required=False,
        allow_blank=True,
        max_length=MAX_TARGET,
        help_text="The module type; for tokens, a model's name, or nothing for all models.",
    )


class QuotaEndpoint(LimitEndpoint):
    """The base class of the endpoints for quotas."""

    kind, shape, uses_of = QUOTAS, QuotaShape, uses_of


class Quotas(QuotaEndpoint):
    """The endpoint that lists and creates quotas."""

    @operation("listQuotas", "Quota", {200: QuotaShape(many=True)}, parameters=[QuotaQuery])
    def get(self, request: Request) -> Response:
        """List the quotas of your workspaces, newest first, with their use."""
        return self.listed(request, QuotaQuery, "resource", "target")

    @operation(
        "createQuota",
        "Quota",
        {201: QuotaShape},
        request=NewQuota,
        errors=[403, 404],
        idempotent=True,
    )
    def post(self, request: Request) -> Response:
        """Create a quota for a workspace or a member.

        A quota limits executions, steps of one module type, or tokens of language models.
        """
        given = self.body(NewQuota)
        facts = {name: given[name] for name in ("resource", "target", *LIMITS) if name in given}
        return self.created(given, {"resource": Resource.EXECUTIONS} | facts)


class OneQuota(QuotaEndpoint):
    """The endpoint that reads, changes and deletes one quota."""

    @operation("getQuota", "Quota", {200: QuotaShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Return one quota with its use."""
        return self.one(id)

    @operation("patchQuota", "Quota", {200: QuotaShape}, request=QuotaChange, errors=[403, 404])
    def patch(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Change the limits of a quota, effective immediately; earlier use still counts."""
        return self.changed(id, QuotaChange)

    @operation("deleteQuota", "Quota", {204: None}, errors=[403, 404])
    def delete(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Delete a quota."""
        return self.deleted(id)
