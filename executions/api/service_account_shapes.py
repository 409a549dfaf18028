"""Service accounts as JSON: what comes in, what goes out."""
# ruff: noqa: N815 - the names are the JSON's

from typing import Any

from rest_framework import serializers

from executions.api.camel_case import CamelCase
from executions.api.fields import Body, Flag, Text
from executions.api.membership_shapes import PermissionList
from executions.api.paging import PageQuery
from executions.models import ServiceAccount
from executions.states import Role


class ServiceAccountShape(CamelCase, serializers.ModelSerializer[ServiceAccount]):
    """A program of one workspace; it signs in by API tokens alone."""

    workspace_id = serializers.UUIDField()
    user_id = serializers.IntegerField()
    username = serializers.CharField(source="user.username", help_text="Who the audit trail names.")
    role = serializers.SerializerMethodField()
    permissions = serializers.SerializerMethodField()
    enabled = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()
    disabled_at = serializers.DateTimeField(allow_null=True)

    class Meta:
        model = ServiceAccount
        fields = [
            "id", "workspace_id", "user_id", "username", "name", "description", "role",
            "permissions", "enabled", "created_at", "disabled_at",
        ]  # fmt: skip

    def get_role(self, account: ServiceAccount) -> str:
        """Its role in the workspace."""
        return str(_membership(account).role)

    def get_permissions(self, account: ServiceAccount) -> list[str]:
        """What it may beyond the role."""
        return list(_membership(account).permissions)

    def get_enabled(self, account: ServiceAccount) -> bool:
        """Whether its tokens open anything."""
        return account.disabled_at is None


def _membership(account: ServiceAccount) -> Any:
    return next(iter(account.user.memberships.all()))


class NewServiceAccount(Body):
    """What `createServiceAccount` takes."""

    name = serializers.SlugField(max_length=80)
    workspaceId = serializers.UUIDField(
        required=False, help_text="May be left out by who administers one workspace only."
    )
    description = Text(allow_blank=True, max_length=2_000, required=False, default="")
    role = serializers.ChoiceField(Role.choices, required=False, default=Role.SYSTEM)
    permissions = PermissionList(required=False, default=list)


class ServiceAccountChange(Body):
    """What `patchServiceAccount` takes."""

    name = serializers.SlugField(max_length=80, required=False)
    description = Text(allow_blank=True, max_length=2_000, required=False)
    role = serializers.ChoiceField(Role.choices, required=False)
    permissions = PermissionList(required=False)
    enabled = Flag(required=False)


class ServiceAccountQuery(PageQuery):
    """What `listServiceAccounts` takes."""

    workspaceId = serializers.UUIDField(required=False)
