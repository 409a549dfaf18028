"""Credentials: list, keep, change, delete. No answer holds a value."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from executions import credentials
from executions.access import Action, User, obtain, visible, workspace_for
from executions.access.powers import limits_of
from executions.access.table import Power
from executions.api import etags
from executions.api.credential_shapes import (
    CredentialChange,
    CredentialQuery,
    CredentialShape,
    NewCredential,
)
from executions.api.documentation import header, operation
from executions.api.endpoint import Endpoint
from executions.api.paging import narrowed, page
from executions.models import Credential
from executions.states import Permission

FILTERS = {"name": "name", "type": "type"}
IF_MATCH = header("If-Match", "The ETag of what you changed; 412 when it is another by now.")


def rows() -> QuerySet[Credential]:
    """Credentials without what is sealed."""
    return Credential.objects.defer("sealed")


def to_read(user: User) -> Power:
    """What reading names and types needs: authors write them into workflows, others set them."""
    limits = limits_of(user)
    if limits is not None and Action.AUTHOR not in limits.scopes:
        return Permission.CONFIGURE
    return Action.AUTHOR


def shown(credential: Credential, status: int = 200) -> Response:
    """A credential with its ETag."""
    headers = {"ETag": etags.tag(credential.version)}
    if status == 201:
        headers["Location"] = f"/v1/Credential/{credential.pk}"
    return Response(CredentialShape(credential).data, status, headers=headers)


class CredentialList(Endpoint):
    """All credentials."""

    @operation(
        "listCredentials",
        "Credential",
        {200: CredentialShape(many=True)},
        parameters=[CredentialQuery],
    )
    def get(self, request: Request) -> Response:
        """Names, types and fields of the credentials you may name in workflows, newest first."""
        query = self.query(CredentialQuery)
        found = narrowed(visible(self.user, rows(), to_read(self.user)), query, FILTERS)
        listed = page(request, found, query)
        return Response(CredentialShape(listed.rows, many=True).data, headers=listed.headers)

    @operation(
        "createCredential",
        "Credential",
        {201: CredentialShape},
        request=NewCredential,
        errors=[403, 404, 409],
        idempotent=True,
    )
    def post(self, request: Request) -> Response:
        """Keep a new credential; its values are sealed and never shown again."""
        given = self.body(NewCredential)
        workspace = workspace_for(self.user, given.pop("workspaceId", None), Permission.CONFIGURE)
        return shown(credentials.create(workspace, actor=self.actor, **given), 201)


class OneCredential(Endpoint):
    """One credential."""

    @operation("getCredential", "Credential", {200: CredentialShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """One credential without its values; the ETag counts its changes."""
        credential, _ = obtain(self.user, rows(), id, to_read(self.user))
        return shown(credential)

    @operation(
        "patchCredential",
        "Credential",
        {200: CredentialShape},
        request=CredentialChange,
        errors=[403, 404, 412],
        parameters=[IF_MATCH],
    )
    def patch(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Set some fields or the description; steps get the new values from now on."""
        credential, _ = obtain(self.user, rows(), id, Permission.CONFIGURE)
        changes: dict[str, Any] = self.body(CredentialChange)
        if not changes:
            raise ValidationError("Name at least one field to change.", code="required")
        expected = etags.asked(request, credential.version)
        return shown(credentials.update(id, actor=self.actor, expected_version=expected, **changes))

    @operation(
        "deleteCredential",
        "Credential",
        {204: None},
        errors=[403, 404, 409, 412],
        parameters=[IF_MATCH],
    )
    def delete(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Delete one that no published workflow names; 409 lists those that do."""
        credential, _ = obtain(self.user, rows(), id, Permission.CONFIGURE)
        credentials.delete(
            id, actor=self.actor, expected_version=etags.asked(request, credential.version)
        )
        return Response(status=204)
