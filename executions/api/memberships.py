"""Memberships: the members of a workspace and their roles, for its administrators."""

from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db.models import QuerySet

# ruff: noqa: N815 - the names are the JSON's
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from executions import addresses
from executions.access import Action, obtain, visible, workspace_for
from executions.access.people import LONGEST_NAME, person_named
from executions.accounts import members
from executions.api.documentation import operation
from executions.api.endpoint import CHANGES, Endpoint
from executions.api.fields import Body, CamelCase, Text, asked_user_id, shown_user_id
from executions.api.paging import PageQuery, page
from executions.models import Membership
from executions.states import Permission, Role


class PermissionList(serializers.ListField):
    """Additional permissions of a member; at most as many items as there are permissions."""

    child = serializers.ChoiceField(Permission.choices)

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=len(Permission), **options)


class MembershipShape(CamelCase, serializers.ModelSerializer[Membership]):
    """A user's role in a workspace, and the user's additional permissions there."""

    workspace_id = serializers.UUIDField()
    user_id = shown_user_id()
    username = serializers.CharField(source="user.get_username")
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
        """Return the ID of the service account that has this membership; None for a person."""
        account = getattr(membership.user, "valkyr_service_account", None)
        return None if account is None else str(account.pk)


class NewMembership(Body):
    """The body of `createMembership`, which names the user by `username` or by `userId`."""

    workspaceId = serializers.UUIDField(
        required=False, help_text="Optional if you administer only one workspace."
    )
    username = Text(max_length=LONGEST_NAME, required=False)
    userId = asked_user_id(required=False)
    role = serializers.ChoiceField(Role.choices)
    permissions = PermissionList(required=False, default=list)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check that exactly one of `username` and `userId` is given. Raises ValidationError."""
        if ("username" in attrs) == ("userId" in attrs):
            raise serializers.ValidationError(
                {"username": "Name the user by either username or userId."}, code="required"
            )
        return attrs


class MembershipChange(Body):
    """The body of `patchMembership`."""

    role = serializers.ChoiceField(Role.choices, required=False)
    permissions = PermissionList(required=False)


class MembershipQuery(PageQuery):
    """The query parameters of `listMemberships`."""

    workspaceId = serializers.UUIDField(required=False)
    userId = asked_user_id(required=False)
    role = serializers.ChoiceField(Role.choices, required=False)


FILTERS = {"workspaceId": "workspace_id", "userId": "user_id", "role": "role"}


def memberships() -> QuerySet[Membership]:
    """Return all memberships, with their users and service accounts."""
    return Membership.objects.select_related("user__valkyr_service_account")


class Memberships(Endpoint):
    """The endpoint that lists and creates memberships."""

    sensitive = CHANGES

    @operation(
        "listMemberships",
        "Membership",
        {200: MembershipShape(many=True)},
        parameters=[MembershipQuery],
    )
    def get(self, request: Request) -> Response:
        """List the members of the workspaces you administer, newest first."""
        query = self.query(MembershipQuery)
        filters = {path: query[name] for name, path in FILTERS.items() if name in query}
        rows = visible(self.user, memberships(), Action.ADMINISTER).filter(**filters)
        found = page(request, rows, query)
        return Response(MembershipShape(found.rows, many=True).data, headers=found.headers)

    @operation(
        "createMembership",
        "Membership",
        {201: MembershipShape},
        request=NewMembership,
        errors=[403, 404, 409],
        idempotent=True,
    )
    def post(self, request: Request) -> Response:
        """Make an existing user a member of a workspace; the role takes effect at once."""
        given = self.body(NewMembership)
        workspace = workspace_for(self.user, given.get("workspaceId"), Action.ADMINISTER)
        membership = members.add_member(
            workspace,
            _user(given),
            role=given["role"],
            permissions=given["permissions"],
            actor=self.actor,
        )
        headers = {"Location": addresses.api("membership", membership.pk)}
        return Response(MembershipShape(membership).data, 201, headers=headers)


def _user(given: dict[str, Any]) -> Any:
    """Return the named user. Raises ValidationError for an unknown user."""
    if "userId" in given:
        people = get_user_model()._default_manager
        name, found = "userId", people.filter(pk=given["userId"]).first()
    else:
        name, found = "username", person_named(given["username"])
    if found is None:
        raise ValidationError({name: "There is no such user."}, code="unknown_user")
    return found


class OneMembership(Endpoint):
    """The endpoint that returns, changes and deletes one membership."""

    sensitive = CHANGES

    @operation("getMembership", "Membership", {200: MembershipShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Return one membership: the user, the role and the additional permissions."""
        membership, _ = obtain(self.user, memberships(), id, Action.ADMINISTER)
        return Response(MembershipShape(membership).data)

    @operation(
        "patchMembership",
        "Membership",
        {200: MembershipShape},
        request=MembershipChange,
        errors=[403, 404, 409],
    )
    def patch(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Change a member's role or permissions; 409 if the workspace would lose its last ADMIN."""
        obtain(self.user, memberships(), id, Action.ADMINISTER)
        given = self.body(MembershipChange)
        if not given:
            raise ValidationError("Name at least one field to change.", code="required")
        membership = members.change_member(id, actor=self.actor, **given)
        return Response(MembershipShape(membership).data)

    @operation("deleteMembership", "Membership", {204: None}, errors=[403, 404, 409])
    def delete(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Remove a member from the workspace; 409 if the workspace would lose its last ADMIN."""
        obtain(self.user, memberships(), id, Action.ADMINISTER)
        members.remove_member(id, actor=self.actor)
        return Response(status=204)
