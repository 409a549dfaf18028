"""Memberships as JSON: what comes in, what goes out."""
# ruff: noqa: N815 - the names are the JSON's

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from executions.api.camel_case import CamelCase
from executions.api.fields import Body, Text
from executions.api.paging import PageQuery
from executions.models import Membership
from executions.states import Permission, Role


class PermissionList(serializers.ListField):
    """Finer permissions, each once."""

    child = serializers.ChoiceField(Permission.choices)

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=len(Permission), **options)


class MembershipShape(CamelCase, serializers.ModelSerializer[Membership]):
    """A user's role in a workspace, and the permissions beyond it."""

    workspace_id = serializers.UUIDField()
    user_id = serializers.IntegerField()
    username = serializers.CharField(source="user.username")
    serviceAccountId = serializers.SerializerMethodField(help_text="Null for a person.")
    permissions = serializers.ListField(child=serializers.CharField())
    created_at = serializers.DateTimeField()

    class Meta:
        model = Membership
        fields = [
            "id", "workspace_id", "user_id", "username", "serviceAccountId", "role", "permissions",
            "created_at",
        ]  # fmt: skip

    @extend_schema_field(serializers.UUIDField(allow_null=True))
    def get_serviceAccountId(self, membership: Membership) -> str | None:  # noqa: N802
        """The service account whose membership it is."""
        account = getattr(membership.user, "service_account", None)
        return None if account is None else str(account.pk)


class NewMembership(Body):
    """What `createMembership` takes: one of `username` and `userId`."""

    workspaceId = serializers.UUIDField(
        required=False, help_text="May be left out by who administers one workspace only."
    )
    username = Text(max_length=150, required=False)
    userId = serializers.IntegerField(required=False, min_value=1, max_value=2**31 - 1)
    role = serializers.ChoiceField(Role.choices)
    permissions = PermissionList(required=False, default=list)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Exactly one of the two names."""
        if ("username" in attrs) == ("userId" in attrs):
            raise serializers.ValidationError(
                {"username": "Name the user by one of username and userId."}, code="required"
            )
        return attrs


class MembershipChange(Body):
    """What `patchMembership` takes."""

    role = serializers.ChoiceField(Role.choices, required=False)
    permissions = PermissionList(required=False)


class MembershipQuery(PageQuery):
    """What `listMemberships` takes."""

    workspaceId = serializers.UUIDField(required=False)
    userId = serializers.IntegerField(required=False, min_value=1, max_value=2**31 - 1)
    role = serializers.ChoiceField(Role.choices, required=False)
