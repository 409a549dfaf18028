"""Tiers: the limits of workspaces. Members see their own, superusers write them."""

from uuid import UUID

from django.db.models import QuerySet
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import User
from executions.accounts import tiers
from executions.accounts.standing import is_root, require_root, seen_workspaces
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.paging import PageQuery, page
from executions.api.workspace_shapes import NewTier, TierChange, TierShape
from executions.errors import NotFound
from executions.models import Tier


def seen_tiers(user: User) -> QuerySet[Tier]:
    """The tiers of the caller's workspaces; all of them for a superuser."""
    if is_root(user):
        return Tier.objects.all()
    return Tier.objects.filter(pk__in=seen_workspaces(user)[0].values("tier_id"))


def found(user: User, pk: UUID) -> Tier:
    """One of `seen_tiers`; raises NotFound."""
    tier = seen_tiers(user).filter(pk=pk).first()
    if tier is None:
        raise NotFound(f"None of your workspaces is on a tier {pk}.")
    return tier


class Tiers(Endpoint):
    """All tiers."""

    @operation("listTiers", "Tier", {200: TierShape(many=True)}, parameters=[PageQuery])
    def get(self, request: Request) -> Response:
        """The tiers of your workspaces, newest first."""
        listed = page(request, seen_tiers(self.user), self.query(PageQuery))
        return Response(TierShape(listed.rows, many=True).data, headers=listed.headers)

    @operation(
        "createTier", "Tier", {201: TierShape}, request=NewTier, errors=[403, 409], idempotent=True
    )
    def post(self, request: Request) -> Response:
        """A new tier, for superusers."""
        require_root(self.user, "make tiers")
        tier = tiers.create_tier(self.body(NewTier), actor=self.actor)
        return Response(TierShape(tier).data, 201, headers={"Location": f"/v1/Tier/{tier.pk}"})


class OneTier(Endpoint):
    """One tier."""

    @operation("getTier", "Tier", {200: TierShape}, errors=[404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """One tier."""
        return Response(TierShape(found(self.user, id)).data)

    @operation("patchTier", "Tier", {200: TierShape}, request=TierChange, errors=[403, 404, 409])
    def patch(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Other limits, for superusers; they hold from the next admission on."""
        found(self.user, id)
        require_root(self.user, "change tiers")
        given = self.body(TierChange)
        if not given:
            raise ValidationError("Name at least one field to change.", code="required")
        return Response(TierShape(tiers.change_tier(id, given, actor=self.actor)).data)

    @operation("deleteTier", "Tier", {204: None}, errors=[403, 404, 409])
    def delete(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Delete a tier that no workspace is on, for superusers."""
        found(self.user, id)
        require_root(self.user, "delete tiers")
        tiers.delete_tier(id, actor=self.actor)
        return Response(status=204)
