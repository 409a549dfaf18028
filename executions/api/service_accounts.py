"""Service accounts: programs' accounts in a workspace, managed by its administrators."""

# ruff: noqa: N815 - the names are the JSON's
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from executions import addresses
from executions.access import Action, obtain, visible, workspace_for
from executions.accounts import service_accounts as accounts
from executions.api.documentation import operation
from executions.api.endpoint import CHANGES, Endpoint
from executions.api.fields import Body, CamelCase, Flag, Text, shown_user_id
from executions.api.memberships import PermissionList
from executions.api.paging import PageQuery, page
from executions.models import ServiceAccount
from executions.states import Role


class ServiceAccountShape(CamelCase, serializers.ModelSerializer[ServiceAccount]):
    """A program's account in one workspace; it signs in only with API tokens."""

    workspace_id = serializers.UUIDField()
    user_id = shown_user_id()
    username = serializers.CharField(
        source="user.get_username", help_text="The name in the audit trail."
    )
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
        """Return the account's role in the workspace."""
        return str(_membership(account).role)

    def get_permissions(self, account: ServiceAccount) -> list[str]:
        """Return the account's additional permissions."""
        return list(_membership(account).permissions)

    def get_enabled(self, account: ServiceAccount) -> bool:
        """Return whether the account's tokens are accepted."""
        return account.disabled_at is None


def _membership(account: ServiceAccount) -> Any:
    return next(iter(account.user.valkyr_memberships.all()))


class NewServiceAccount(Body):
    """The body of `createServiceAccount`."""

    name = serializers.SlugField(max_length=80)
    workspaceId = serializers.UUIDField(
        required=False, help_text="Optional if you administer only one workspace."
    )
    description = Text(allow_blank=True, max_length=2_000, required=False, default="")
    role = serializers.ChoiceField(Role.choices, required=False, default=Role.SYSTEM)
    permissions = PermissionList(required=False, default=list)


class ServiceAccountChange(Body):
    """The body of `patchServiceAccount`."""

    name = serializers.SlugField(max_length=80, required=False)
    description = Text(allow_blank=True, max_length=2_000, required=False)
    role = serializers.ChoiceField(Role.choices, required=False)
    permissions = PermissionList(required=False)
    enabled = Flag(required=False)


class ServiceAccountQuery(PageQuery):
    """The query parameters of `listServiceAccounts`."""

    workspaceId = serializers.UUIDField(required=False)


def service_accounts() -> QuerySet[ServiceAccount]:
    """Return all service accounts, with their users and memberships."""
    rows = ServiceAccount.objects.select_related("user")
    return rows.prefetch_related("user__valkyr_memberships")


class ServiceAccounts(Endpoint):
    """The endpoint that lists and creates service accounts."""

    sensitive = CHANGES

    @operation(
        "listServiceAccounts",
        "ServiceAccount",
        {200: ServiceAccountShape(many=True)},
        parameters=[ServiceAccountQuery],
    )
    def get(self, request: Request) -> Response:
        """List the service accounts of the workspaces you administer, newest first."""
        query = self.query(ServiceAccountQuery)
        rows = visible(self.user, service_accounts(), Action.ADMINISTER)
        if "workspaceId" in query:
            rows = rows.filter(workspace_id=query["workspaceId"])
        found = page(request, rows, query)
        return Response(ServiceAccountShape(found.rows, many=True).data, headers=found.headers)

    @operation(
        "createServiceAccount",
        "ServiceAccount",
        {201: ServiceAccountShape},
        request=NewServiceAccount,
        errors=[403, 404, 409],
        idempotent=True,
    )
    def post(self, request: Request) -> Response:
        """Create a service account for a program; create its token with `createApiToken`."""
        given = self.body(NewServiceAccount)
        workspace = workspace_for(self.user, given.pop("workspaceId", None), Action.ADMINISTER)
        account = accounts.create_service_account(workspace, actor=self.actor, **given)
        headers = {"Location": addresses.api("service-account", account.pk)}
        return Response(ServiceAccountShape(account).data, 201, headers=headers)


class OneServiceAccount(Endpoint):
    """The endpoint that returns, changes and disables one service account."""

    sensitive = CHANGES

    @operation("getServiceAccount", "ServiceAccount", {200: ServiceAccountShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Return one service account, with its role and permissions."""
        account, _ = obtain(self.user, service_accounts(), id, Action.ADMINISTER)
        return Response(ServiceAccountShape(account).data)

    @operation(
        "patchServiceAccount",
        "ServiceAccount",
        {200: ServiceAccountShape},
        request=ServiceAccountChange,
        errors=[403, 404, 409],
    )
    def patch(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Change the name, description, role, permissions or `enabled`, effective immediately."""
        obtain(self.user, service_accounts(), id, Action.ADMINISTER)
        given = self.body(ServiceAccountChange)
        if not given:
            raise ValidationError("Name at least one field to change.", code="required")
        account = accounts.change_service_account(id, given, actor=self.actor)
        return Response(ServiceAccountShape(account).data)

    @operation("disableServiceAccount", "ServiceAccount", {204: None}, errors=[403, 404])
    def delete(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Disable a service account; its tokens are rejected.

        PATCH with `enabled: true` enables it again.
        """
        obtain(self.user, service_accounts(), id, Action.ADMINISTER)
        accounts.disable_service_account(id, actor=self.actor)
        return Response(status=204)
