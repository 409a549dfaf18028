"""Tiers: the limits of workspaces, and a workspace's current usage.

Members see the tiers of their workspaces; superusers change tiers.
"""

from uuid import UUID

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from executions import addresses
from executions.access import Action, User, obtain
from executions.accounts import workspaces
from executions.accounts.caller_permissions import is_root, require_root, seen_workspaces
from executions.admission.capacity import usage_of
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.fields import CamelCase, CamelCaseSerializer
from executions.api.paging import PageQuery, page
from executions.api.workspaces import NewTier, TierChange, TierShape
from executions.errors import NotFound
from executions.models import Tier, Workspace
from executions.quotas.counting import Window


def seen_tiers(user: User) -> QuerySet[Tier]:
    """Return the tiers of the caller's workspaces; all tiers for a superuser who used no token."""
    if is_root(user):
        return Tier.objects.all()
    return Tier.objects.filter(pk__in=seen_workspaces(user)[0].values("tier_id"))


def found(user: User, pk: UUID) -> Tier:
    """Return the tier with the ID `pk`. Raises NotFound if the caller may not see it."""
    tier = seen_tiers(user).filter(pk=pk).first()
    if tier is None:
        raise NotFound(f"None of your workspaces uses the tier {pk}.")
    return tier


class Tiers(Endpoint):
    """The endpoint that lists and creates tiers."""

    @operation("listTiers", "Tier", {200: TierShape(many=True)}, parameters=[PageQuery])
    def get(self, request: Request) -> Response:
        """List the tiers of your workspaces, newest first.

        Superusers who do not use an API token see all tiers.
        """
        listed = page(request, seen_tiers(self.user), self.query(PageQuery))
        return Response(TierShape(listed.rows, many=True).data, headers=listed.headers)

    @operation(
        "createTier", "Tier", {201: TierShape}, request=NewTier, errors=[403, 409], idempotent=True
    )
    def post(self, request: Request) -> Response:
        """Create a tier; superusers only."""
        require_root(self.user, "make tiers")
        tier = workspaces.create_tier(self.body(NewTier), actor=self.actor)
        headers = {"Location": addresses.api("tier", tier.pk)}
        return Response(TierShape(tier).data, 201, headers=headers)


class OneTier(Endpoint):
    """The endpoint that returns, changes and deletes one tier."""

    @operation("getTier", "Tier", {200: TierShape}, errors=[404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Return one tier with its limits."""
        return Response(TierShape(found(self.user, id)).data)

    @operation("patchTier", "Tier", {200: TierShape}, request=TierChange, errors=[403, 404, 409])
    def patch(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Change a tier's name or limits, which apply from the next admission; superusers only."""
        found(self.user, id)
        require_root(self.user, "change tiers")
        given = self.body(TierChange)
        if not given:
            raise ValidationError("Name at least one field to change.", code="required")
        return Response(TierShape(workspaces.change_tier(id, given, actor=self.actor)).data)

    @operation("deleteTier", "Tier", {204: None}, errors=[403, 404, 409])
    def delete(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Delete a tier that no workspace uses; superusers only."""
        found(self.user, id)
        require_root(self.user, "delete tiers")
        workspaces.delete_tier(id, actor=self.actor)
        return Response(status=204)


class WindowShape(CamelCase, serializers.Serializer[Window]):
    """The usage counted against a limit in its current window: an hour or a day, in UTC."""

    limit = serializers.IntegerField(allow_null=True, help_text="Null: none.")
    used = serializers.IntegerField(
        allow_null=True, help_text="Null if there is no limit, because nothing is counted then."
    )
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()


class TierLimits(CamelCaseSerializer):
    """A tier's limits; null means unlimited."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    max_concurrent = serializers.IntegerField(allow_null=True)
    max_pending = serializers.IntegerField(allow_null=True)
    max_per_hour = serializers.IntegerField(allow_null=True)
    max_per_day = serializers.IntegerField(allow_null=True)


class WorkspaceUsageShape(CamelCaseSerializer):
    """A workspace's current usage of its limits."""

    workspace_id = serializers.UUIDField()
    tier = TierLimits()
    running = serializers.IntegerField(
        help_text="Executions that hold a slot; waiting executions and children hold none."
    )
    pending = serializers.IntegerField(help_text="Queued executions; counted up to 200,000.")
    hour = WindowShape()
    day = WindowShape()


class WorkspaceUsage(Endpoint):
    """The endpoint that returns the usage of a workspace."""

    @operation("getWorkspaceUsage", "Workspace", {200: WorkspaceUsageShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Return the tier, counts of running and waiting executions, and hourly and daily usage."""
        obtain(self.user, Workspace.objects.all(), id, Action.VIEW)
        return Response(WorkspaceUsageShape(usage_of(id)).data)
