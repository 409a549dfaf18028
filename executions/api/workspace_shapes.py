"""Workspaces, tiers and the caller as JSON: what comes in, what goes out."""
# ruff: noqa: N815 - the names are the JSON's

from typing import Any

from rest_framework import serializers

from executions.access import Powers
from executions.accounts.standing import permissions_of
from executions.api.camel_case import CamelCase, CamelCaseSerializer
from executions.api.fields import Body, Flag, Text
from executions.api.paging import PageQuery
from executions.models import Tier, Workspace
from executions.states import Role


class WorkspaceShape(CamelCase, serializers.ModelSerializer[Workspace]):
    """A workspace, and what the caller is in it (`powers` by workspace in the context)."""

    tier_id = serializers.UUIDField()
    tierName = serializers.CharField(source="tier.name")
    created_at = serializers.DateTimeField()
    archived_at = serializers.DateTimeField(
        allow_null=True, help_text="Since when nothing triggers there."
    )
    role = serializers.SerializerMethodField(help_text="Yours.")
    permissions = serializers.SerializerMethodField(
        help_text="Your finer permissions there, on what you may see."
    )

    class Meta:
        model = Workspace
        fields = [
            "id", "name", "slug", "tier_id", "tierName", "created_at", "archived_at", "role",
            "permissions",
        ]  # fmt: skip

    def get_role(self, workspace: Workspace) -> str | None:
        """The caller's role there."""
        return self._powers(workspace).role

    def get_permissions(self, workspace: Workspace) -> list[str]:
        """The caller's finer permissions there."""
        return permissions_of(self._powers(workspace))

    def _powers(self, workspace: Workspace) -> Powers:
        powers: Powers = self.context["powers"][workspace.pk]
        return powers


class NewWorkspace(Body):
    """What `createWorkspace` takes."""

    name = Text(max_length=200)
    slug = serializers.SlugField(
        max_length=80, required=False, help_text="Made from the name if left out; it stays."
    )
    tierId = serializers.UUIDField()


class WorkspaceChange(Body):
    """What `patchWorkspace` takes; `tierId` and `archived` are for superusers."""

    name = Text(max_length=200, required=False)
    tierId = serializers.UUIDField(required=False)
    archived = Flag(required=False, help_text="False restores it.")


class WorkspaceQuery(PageQuery):
    """What `listWorkspaces` takes."""

    archived = serializers.BooleanField(required=False, help_text="Only those, or only others.")


class TierShape(CamelCase, serializers.ModelSerializer[Tier]):
    """Limits on the executions of a workspace; null: none."""

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
    """A JSON integer from 0, or null for none."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            min_value=0, max_value=2**31 - 1, allow_null=True, required=False, **options
        )

    def to_internal_value(self, data: Any) -> int:
        """The number; raises ValidationError for "5" or true."""
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid")
        return data


class TierChange(Body):
    """What `patchTier` takes."""

    name = serializers.SlugField(max_length=50, required=False)
    max_concurrent = LimitField()
    max_pending = LimitField()
    max_per_hour = LimitField()
    max_per_day = LimitField()


class NewTier(TierChange):
    """What `createTier` takes."""

    name = serializers.SlugField(max_length=50)


class MyWorkspace(CamelCaseSerializer):
    """A workspace the caller is in."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    slug = serializers.CharField()
    archivedAt = serializers.DateTimeField(allow_null=True)
    role = serializers.ChoiceField(Role.choices)
    permissions = serializers.ListField(child=serializers.CharField())


class MyToken(CamelCaseSerializer):
    """The API token the caller signed in with."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    workspaceId = serializers.UUIDField()
    scopes = serializers.ListField(child=serializers.CharField())
    expiresAt = serializers.DateTimeField(allow_null=True)


class MeShape(CamelCaseSerializer):
    """Who calls."""

    userId = serializers.IntegerField()
    username = serializers.CharField()
    isSuperuser = serializers.BooleanField()
    serviceAccountId = serializers.UUIDField(allow_null=True)
    workspaces = MyWorkspace(many=True, help_text="By slug, 500 at most.")
    token = MyToken(allow_null=True, help_text="Null for who signed in otherwise.")
