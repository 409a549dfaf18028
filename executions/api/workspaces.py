"""Workspaces: list your own; superusers create them, assign tiers and archive them."""

from typing import Any
from uuid import UUID

# ruff: noqa: N815 - the names are the JSON's
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from executions import addresses
from executions.access import Action, Powers, User, require
from executions.accounts import workspaces
from executions.accounts.caller_permissions import permissions_of, require_root, seen_workspaces
from executions.api.documentation import operation
from executions.api.endpoint import CHANGES, Endpoint
from executions.api.fields import Body, CamelCase, CamelCaseSerializer, Flag, Text, shown_user_id
from executions.api.paging import PageQuery, page
from executions.egress.rules import MOST
from executions.errors import NotFound
from executions.models import Tier, Workspace
from executions.states import Role


class WorkspaceShape(CamelCase, serializers.ModelSerializer[Workspace]):
    """A workspace, and the caller's role and permissions in it."""

    tier_id = serializers.UUIDField()
    tierName = serializers.CharField(source="tier.name")
    egress_hosts = serializers.ListField(
        child=serializers.CharField(),
        help_text="Hosts that its steps can connect to; an empty list means the "
        "installation's list.",
    )
    publish_from_git = serializers.BooleanField(
        help_text="Whether only `applyBundle` publishes and archives workflows there."
    )
    created_at = serializers.DateTimeField()
    archived_at = serializers.DateTimeField(
        allow_null=True, help_text="When it was archived; null if it is not."
    )
    role = serializers.SerializerMethodField(help_text="Your role in the workspace.")
    permissions = serializers.SerializerMethodField(
        help_text="Your additional permissions there, on objects that you can view."
    )

    class Meta:
        model = Workspace
        fields = [
            "id", "name", "slug", "tier_id", "tierName", "egress_hosts",
            "publish_from_git", "created_at", "archived_at", "role", "permissions",
        ]  # fmt: skip

    def get_role(self, workspace: Workspace) -> str | None:
        """Return the caller's role in the workspace; None if there is none."""
        return self._powers(workspace).role

    def get_permissions(self, workspace: Workspace) -> list[str]:
        """Return the caller's permissions here, granted by the role, the membership or Django."""
        return permissions_of(self._powers(workspace))

    def _powers(self, workspace: Workspace) -> Powers:
        powers: Powers = self.context["powers"][workspace.pk]
        return powers


class NewWorkspace(Body):
    """The body of `createWorkspace`."""

    name = Text(max_length=200)
    slug = serializers.SlugField(
        max_length=80, required=False, help_text="Default: derived from the name. It never changes."
    )
    tierId = serializers.UUIDField()


class WorkspaceChange(Body):
    """The body of `patchWorkspace`; `tierId` and `archived` are for superusers."""

    name = Text(max_length=200, required=False)
    egressHosts = serializers.ListField(
        child=Text(max_length=300),
        required=False,
        max_length=MOST,
        help_text=(
            "The hosts that its steps may connect to: `api.example.com`, `*.example.com`, "
            "`10.0.0.0/8`, each with or without a port; `*` is any host. An empty list means the "
            "installation's list."
        ),
    )
    publish_from_git = Flag(
        required=False,
        help_text=(
            "Whether only `applyBundle`, by callers with the permission `deploy`, publishes and "
            "archives workflows."
        ),
    )
    tierId = serializers.UUIDField(required=False)
    archived = Flag(required=False, help_text="False restores it.")


class WorkspaceQuery(PageQuery):
    """The query parameters of `listWorkspaces`."""

    archived = serializers.BooleanField(
        required=False, help_text=("true: only archived workspaces; false: only others.")
    )


class TierShape(CamelCase, serializers.ModelSerializer[Tier]):
    """A tier: limits on the executions of a workspace; null means unlimited."""

    max_concurrent = serializers.IntegerField(allow_null=True)
    max_pending = serializers.IntegerField(allow_null=True)
    max_per_hour = serializers.IntegerField(allow_null=True)
    max_per_day = serializers.IntegerField(allow_null=True)
    created_at = serializers.DateTimeField()

    class Meta:
        model = Tier
        fields = [
            "id", "name", "max_concurrent", "max_pending", "max_per_hour", "max_per_day",
            "created_at",
        ]  # fmt: skip


class LimitField(serializers.IntegerField):
    """A JSON integer of at least 0, or null for unlimited."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            min_value=0, max_value=2**31 - 1, allow_null=True, required=False, **options
        )

    def to_internal_value(self, data: Any) -> int:
        """Return the number. Raises ValidationError for "5" or true."""
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid")
        return data


class TierChange(Body):
    """The body of `patchTier`."""

    name = serializers.SlugField(max_length=50, required=False)
    max_concurrent = LimitField()
    max_pending = LimitField()
    max_per_hour = LimitField()
    max_per_day = LimitField()


class NewTier(TierChange):
    """The body of `createTier`."""

    name = serializers.SlugField(max_length=50)


class MyWorkspace(CamelCaseSerializer):
    """A workspace of the caller, with the caller's role and permissions there."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    slug = serializers.CharField()
    archivedAt = serializers.DateTimeField(allow_null=True)
    role = serializers.ChoiceField(Role.choices)
    permissions = serializers.ListField(child=serializers.CharField())


class MyToken(CamelCaseSerializer):
    """The API token that the caller signed in with."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    workspaceId = serializers.UUIDField()
    scopes = serializers.ListField(child=serializers.CharField())
    expiresAt = serializers.DateTimeField(allow_null=True)


class MeShape(CamelCaseSerializer):
    """The caller's account, workspaces, roles and token."""

    userId = shown_user_id()
    username = serializers.CharField()
    isSuperuser = serializers.BooleanField()
    serviceAccountId = serializers.UUIDField(allow_null=True)
    workspaces = MyWorkspace(many=True, help_text="At most 500, in the order of their slugs.")
    token = MyToken(allow_null=True, help_text="Null unless you signed in with an API token.")


def found(user: User, pk: UUID) -> tuple[Workspace, dict[UUID, Powers]]:
    """Return a workspace of the caller, and the caller's powers, keyed by workspace ID.

    Raises NotFound.
    """
    rows, reach = seen_workspaces(user)
    workspace = rows.select_related("tier").filter(pk=pk).first()
    if workspace is None:
        raise NotFound(
            f"You are not a member of a workspace {pk}. Check the id, or ask an administrator of "
            "the workspace to add you."
        )
    return workspace, reach.members


def shown(workspace: Workspace, powers: dict[UUID, Powers]) -> Any:
    """Return a workspace as JSON; `powers` are the caller's powers, keyed by workspace ID."""
    return WorkspaceShape(workspace, context={"powers": powers}).data


def _tier(pk: UUID) -> Tier:
    tier = Tier.objects.filter(pk=pk).first()
    if tier is None:
        raise ValidationError({"tierId": f"There is no tier {pk}."}, code="unknown_tier")
    return tier


class Workspaces(Endpoint):
    """The endpoint that lists and creates workspaces."""

    sensitive = CHANGES

    @operation(
        "listWorkspaces",
        "Workspace",
        {200: WorkspaceShape(many=True)},
        parameters=[WorkspaceQuery],
    )
    def get(self, request: Request) -> Response:
        """List your workspaces, including archived ones, newest first."""
        query = self.query(WorkspaceQuery)
        rows, reach = seen_workspaces(self.user)
        if "archived" in query:
            rows = rows.filter(archived_at__isnull=not query["archived"])
        listed = page(request, rows.select_related("tier"), query)
        context = {"powers": reach.members}
        data = WorkspaceShape(listed.rows, many=True, context=context).data
        return Response(data, headers=listed.headers)

    @operation(
        "createWorkspace",
        "Workspace",
        {201: WorkspaceShape},
        request=NewWorkspace,
        errors=[403, 409],
        idempotent=True,
    )
    def post(self, request: Request) -> Response:
        """Create a workspace without members; superusers only."""
        require_root(self.user, "make workspaces")
        given = self.body(NewWorkspace)
        tier = _tier(given["tierId"])
        slug = given.get("slug", "")
        made = workspaces.create_workspace(given["name"], tier, actor=self.actor, slug=slug)
        headers = {"Location": addresses.api("workspace", made.pk)}
        return Response(shown(*found(self.user, made.pk)), 201, headers=headers)


class OneWorkspace(Endpoint):
    """The endpoint that returns, changes and archives one workspace."""

    sensitive = CHANGES

    @operation("getWorkspace", "Workspace", {200: WorkspaceShape}, errors=[404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Return one of your workspaces; any role is enough."""
        return Response(shown(*found(self.user, id)))

    @operation(
        "patchWorkspace",
        "Workspace",
        {200: WorkspaceShape},
        request=WorkspaceChange,
        errors=[403, 404],
    )
    def patch(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Change name, egress hosts or Git publishing; superusers also change tier or archiving."""
        _, powers = found(self.user, id)
        require(self.user, id, Action.ADMINISTER)
        given = self.body(WorkspaceChange)
        if not given:
            raise ValidationError("Name at least one field to change.", code="required")
        if "egressHosts" in given:
            given["egress_hosts"] = given.pop("egressHosts")
        if given.keys() - {"name", "egress_hosts", "publish_from_git"}:
            require_root(self.user, "change a workspace's tier, archive or restore a workspace")
        if "tierId" in given:
            given["tier"] = _tier(given.pop("tierId"))
        return Response(shown(workspaces.change_workspace(id, given, actor=self.actor), powers))

    @operation("archiveWorkspace", "Workspace", {204: None}, errors=[403, 404])
    def delete(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Archive a workspace: no execution starts in it. Its rows are kept. Superusers only."""
        found(self.user, id)
        require_root(self.user, "archive a workspace")
        workspaces.archive_workspace(id, actor=self.actor)
        return Response(status=204)
