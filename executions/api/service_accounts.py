"""Service accounts: programs of a workspace, for those who administer it."""

from uuid import UUID

from django.db.models import QuerySet
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, obtain, visible, workspace_for
from executions.accounts import service_accounts as accounts
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.paging import page
from executions.api.service_account_shapes import (
    NewServiceAccount,
    ServiceAccountChange,
    ServiceAccountQuery,
    ServiceAccountShape,
)
from executions.models import ServiceAccount


def service_accounts() -> QuerySet[ServiceAccount]:
    """Service accounts with their users and memberships."""
    rows = ServiceAccount.objects.select_related("user")
    return rows.prefetch_related("user__memberships")


class ServiceAccounts(Endpoint):
    """All service accounts."""

    @operation(
        "listServiceAccounts",
        "ServiceAccount",
        {200: ServiceAccountShape(many=True)},
        parameters=[ServiceAccountQuery],
    )
    def get(self, request: Request) -> Response:
        """The service accounts of the workspaces you administer, newest first."""
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
        """A program of the workspace; give it a token with `createApiToken`."""
        given = self.body(NewServiceAccount)
        workspace = workspace_for(self.user, given.pop("workspaceId", None), Action.ADMINISTER)
        account = accounts.create_service_account(workspace, actor=self.actor, **given)
        headers = {"Location": f"/v1/ServiceAccount/{account.pk}"}
        return Response(ServiceAccountShape(account).data, 201, headers=headers)


class OneServiceAccount(Endpoint):
    """One service account."""

    @operation("getServiceAccount", "ServiceAccount", {200: ServiceAccountShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """One service account."""
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
        """Name, description, role, permissions, enabled; its tokens obey at once."""
        obtain(self.user, service_accounts(), id, Action.ADMINISTER)
        given = self.body(ServiceAccountChange)
        if not given:
            raise ValidationError("Name at least one field to change.", code="required")
        account = accounts.change_service_account(id, given, actor=self.actor)
        return Response(ServiceAccountShape(account).data)

    @operation("disableServiceAccount", "ServiceAccount", {204: None}, errors=[403, 404])
    def delete(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Switch it off: its tokens open nothing any more; PATCH with enabled: true undoes it."""
        obtain(self.user, service_accounts(), id, Action.ADMINISTER)
        accounts.disable_service_account(id, actor=self.actor)
        return Response(status=204)
