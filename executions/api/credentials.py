"""Credentials: list, read, create, change and delete them. No response contains a secret value."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet

# ruff: noqa: N815 - the names are the JSON's
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from executions import addresses, credentials
from executions.access import Action, User, obtain, visible, workspace_for
from executions.access.powers import Power, limits_of
from executions.api import etags
from executions.api.documentation import header, operation
from executions.api.endpoint import CHANGES, Endpoint
from executions.api.fields import Body, CamelCase, Flag, Id, JsonObject, Text
from executions.api.paging import ListQuery, narrowed, page
from executions.credentials.kinds import LONGEST, MAX_NAME
from executions.models import Credential
from executions.states import Permission

# Values of credentials are accepted but never returned.


_VALUE = {"type": "string", "minLength": 1, "maxLength": LONGEST}
HOSTS = (
    "The hosts to which it may be sent: api.example.com, *.example.com, 10.0.0.0/8, each with "
    "or without a port; * is any host."
)
MODULES = "The modules that may use it: http.request, http.*, or * for any."
WORKFLOWS = "The ids of the workflows that may use it; * is any."
REMOTE = (
    "Whether remote runners may receive it. Its hosts cannot be enforced there. Remote "
    "runners may also receive a credential that is allowed for any host."
)


class Names(serializers.ListField):
    """A list of texts; `executions.credentials` checks each text."""

    child = Text(max_length=300)


@extend_schema_field({"type": "object", "additionalProperties": _VALUE})
class SecretFields(JsonObject):
    """A new credential's values, keyed by field name and checked against the credential's type."""


@extend_schema_field(
    {"type": "object", "additionalProperties": {**_VALUE, "type": ["string", "null"]}}
)
class ChangedFields(JsonObject):
    """A credential's new values, keyed by field name; null removes a field."""


class CredentialShape(CamelCase, serializers.ModelSerializer[Credential]):
    """A credential with the names of its fields, without values."""

    workspace_id = serializers.UUIDField()
    fields = serializers.ListField(  # type: ignore[assignment]
        child=serializers.CharField(), help_text="The names of its fields; values are never shown."
    )
    hosts = serializers.ListField(child=serializers.CharField(), help_text=HOSTS)
    modules = serializers.ListField(child=serializers.CharField(), help_text=MODULES)
    workflows = serializers.ListField(child=serializers.CharField(), help_text=WORKFLOWS)
    remote = serializers.BooleanField(help_text=REMOTE)
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField(
        allow_null=True,
        help_text="When a step last used it, to within a minute.",
    )

    class Meta:
        model = Credential
        fields = [
            "id", "workspace_id", "name", "type", "description", "fields", "hosts", "modules",
            "workflows", "remote", "created_by", "created_at", "updated_at", "last_used_at",
        ]  # fmt: skip


class CredentialChange(Body):
    """The body of `patchCredential`, which cannot change the credential's name or type."""

    description = Text(allow_blank=True, max_length=10_000, required=False)
    fields = ChangedFields(  # type: ignore[assignment]
        required=False,
        help_text="The fields to set; omitted fields do not change. null removes a field "
        "(type custom).",
    )
    hosts = Names(required=False, help_text=HOSTS)
    modules = Names(required=False, help_text=MODULES)
    workflows = Names(required=False, help_text=WORKFLOWS)
    remote = Flag(required=False, help_text=REMOTE)


class NewCredential(Body):
    """The body of `createCredential`."""

    name = Text(max_length=MAX_NAME, help_text="As workflows name it: `secrets.<name>`.")
    type = Text(
        max_length=40,
        required=False,
        default="secret",
        help_text="secret (field value), basic (username, password), bearer (token), smtp, "
        "database or broker (url), s3 (access_key, secret_key), stripe (api_key), slack "
        "(webhook_url), signing (secret), vault, oauth2 or aws_sts (short-lived values, see the "
        "how-to) or custom (any fields).",
    )
    description = Text(allow_blank=True, max_length=10_000, required=False, default="")
    fields = SecretFields()  # type: ignore[assignment]
    hosts = Names(
        required=False,
        help_text=(
            f"{HOSTS} Default: those of its type (the host of its URL, or the service's hosts). "
            "Types without a default require this field."
        ),
    )
    modules = Names(
        required=False, help_text=(f"{MODULES} Default: the modules that accept its type.")
    )
    workflows = Names(required=False, help_text=f"{WORKFLOWS} Default: any.")
    remote = Flag(required=False, default=False, help_text=REMOTE)
    workspaceId = Id(required=False, help_text="Optional if you have only one workspace.")

    def to_representation(self, instance: Any) -> Any:
        """Raise TypeError, because the values in a request are never returned."""
        raise TypeError("A credential's values are not shown.")


class CredentialQuery(ListQuery):
    """The query parameters of `listCredentials`."""

    name = serializers.CharField(required=False, max_length=MAX_NAME)
    type = serializers.CharField(required=False, max_length=40)


FILTERS = {"name": "name", "type": "type"}
IF_MATCH = header(
    "If-Match", ("The ETag of the version that you changed; 412 if it is no longer current.")
)


def rows() -> QuerySet[Credential]:
    """Return the credentials without their sealed values."""
    return Credential.objects.defer("sealed")


def to_read(user: User) -> Power:
    """Return the action or permission that is required to read the names and types of credentials.

    It is AUTHOR, or CONFIGURE for an API token without the scope `author`.
    """
    limits = limits_of(user)
    if limits is not None and Action.AUTHOR not in limits.scopes:
        return Permission.CONFIGURE
    return Action.AUTHOR


def shown(credential: Credential, status: int = 200) -> Response:
    """Return the response for a credential, with its ETag and, for a 201, its address."""
    headers = {"ETag": etags.tag(credential.version)}
    if status == 201:
        headers["Location"] = addresses.api("credential", credential.pk)
    return Response(CredentialShape(credential).data, status, headers=headers)


class CredentialList(Endpoint):
    """The endpoint that lists and creates credentials."""

    sensitive = CHANGES

    @operation(
        "listCredentials",
        "Credential",
        {200: CredentialShape(many=True)},
        parameters=[CredentialQuery],
    )
    def get(self, request: Request) -> Response:
        """List your workspaces' credentials with their types and field names, newest first."""
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
        """Create a credential; its values are sealed and never shown again."""
        given = self.body(NewCredential)
        workspace = workspace_for(self.user, given.pop("workspaceId", None), Permission.CONFIGURE)
        return shown(credentials.create(workspace, actor=self.actor, **given), 201)


class OneCredential(Endpoint):
    """The endpoint that returns, changes and deletes one credential."""

    sensitive = CHANGES

    @operation("getCredential", "Credential", {200: CredentialShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Return one credential without its values; the ETag is the credential's version."""
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
        """Change fields, limits of use or the description; later steps receive the new values."""
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
        """Delete a credential; the response is a 409 if published workflows use it."""
        credential, _ = obtain(self.user, rows(), id, Permission.CONFIGURE)
        credentials.delete(
            id, actor=self.actor, expected_version=etags.asked(request, credential.version)
        )
        return Response(status=204)
