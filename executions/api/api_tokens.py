"""API tokens: users manage their own, and administrators manage all tokens of their workspaces."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet

# ruff: noqa: N815 - the names are the JSON's
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from executions import addresses
from executions.access import SCOPES, Action, AmbiguousWorkspace, Forbidden, User, obtain
from executions.accounts import tokens
from executions.accounts.caller_permissions import seen_workspaces
from executions.api.documentation import operation
from executions.api.endpoint import CHANGES, Endpoint
from executions.api.fields import Body, CamelCase, Text, asked_user_id, shown_user_id
from executions.api.paging import PageQuery, page
from executions.errors import NotFound, WrongState
from executions.models import ApiToken, ServiceAccount, Workspace

SCOPE_HELP = "Names of actions and permissions; see `createApiToken`."


class ApiTokenShape(CamelCase, serializers.ModelSerializer[ApiToken]):
    """An API token, without its text."""

    workspace_id = serializers.UUIDField()
    user_id = shown_user_id()
    username = serializers.CharField(source="user.get_username")
    prefix = serializers.CharField(help_text="The beginning of the token, to recognise it.")
    scopes = serializers.ListField(child=serializers.CharField())
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)
    last_used_at = serializers.DateTimeField(
        allow_null=True, help_text="Updated at most once a minute."
    )
    last_used_from = serializers.CharField(allow_null=True)

    class Meta:
        model = ApiToken
        fields = [
            "id", "workspace_id", "user_id", "username", "name", "prefix", "scopes", "created_by",
            "created_at", "expires_at", "revoked_at", "last_used_at", "last_used_from",
        ]  # fmt: skip


class NewApiTokenShape(ApiTokenShape):
    """A new API token, with its text, which no other response contains."""

    token = serializers.SerializerMethodField(
        help_text="Store it safely: it cannot be shown again."
    )

    class Meta(ApiTokenShape.Meta):
        fields = [*ApiTokenShape.Meta.fields, "token"]

    def get_token(self, token: ApiToken) -> str:
        """Return the token's text."""
        return str(self.context["text"])


class NewApiToken(Body):
    """The body of `createApiToken`."""

    name = Text(max_length=80)
    workspaceId = serializers.UUIDField(
        required=False, help_text="Optional if you belong to only one workspace."
    )
    serviceAccountId = serializers.UUIDField(
        required=False,
        help_text=("The service account that owns the token; the token is for its workspace."),
    )
    scopes = serializers.ListField(
        child=Text(max_length=40),
        required=False,
        allow_empty=False,
        max_length=len(SCOPES),
        help_text=f"Of {', '.join(SCOPES)}. Default: all current permissions of the user.",
    )
    expiresAt = serializers.DateTimeField(
        required=False, help_text="Default: 90 days from now (VALKYR_TOKEN_DAYS)."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Return the values. Raises ValidationError for `workspaceId` with `serviceAccountId`."""
        if "serviceAccountId" in attrs and "workspaceId" in attrs:
            raise serializers.ValidationError(
                {"workspaceId": "Omit it: a service account has one workspace."},
                code="not_both",
            )
        return attrs


class ApiTokenChange(Body):
    """The body of `patchApiToken`."""

    name = Text(max_length=80, required=False)
    expiresAt = serializers.DateTimeField(
        required=False, help_text=("Must be earlier than the current value.")
    )


class ApiTokenQuery(PageQuery):
    """The query parameters of `listApiTokens`."""

    workspaceId = serializers.UUIDField(required=False)
    userId = asked_user_id(required=False)


FILTERS = {"workspaceId": "workspace_id", "userId": "user_id"}


def api_tokens(user: User) -> QuerySet[ApiToken]:
    """Return the tokens that the caller may see, with their users."""
    return tokens.visible_tokens(user).select_related("user")


def found(user: User, pk: UUID) -> ApiToken:
    """Return the token with the ID `pk`. Raises NotFound if the caller may not see it."""
    token = api_tokens(user).filter(pk=pk).first()
    if token is None:
        raise NotFound(f"Neither you nor a workspace that you administer has an API token {pk}.")
    return token


class ApiTokens(Endpoint):
    """The endpoint that lists and creates API tokens."""

    sensitive = CHANGES

    @operation(
        "listApiTokens", "ApiToken", {200: ApiTokenShape(many=True)}, parameters=[ApiTokenQuery]
    )
    def get(self, request: Request) -> Response:
        """List your own tokens, and all tokens of workspaces that you administer, newest first."""
        query = self.query(ApiTokenQuery)
        filters = {path: query[name] for name, path in FILTERS.items() if name in query}
        rows = page(request, api_tokens(self.user).filter(**filters), query)
        return Response(ApiTokenShape(rows.rows, many=True).data, headers=rows.headers)

    @operation(
        "createApiToken",
        "ApiToken",
        {201: NewApiTokenShape},
        request=NewApiToken,
        errors=[403, 404, 409],
        idempotent=True,
    )
    def post(self, request: Request) -> Response:
        """Create a token for yourself or a service account; only this response contains its text.

        A token allows an operation if its scopes include the permission for it, and if its user has
        that permission when the token is used.
        """
        given = self.body(NewApiToken)
        workspace, owner = self._whose(given)
        token, text = tokens.create_token(
            workspace,
            owner,
            name=given["name"],
            maker=self.user,
            actor=self.actor,
            scopes=given.get("scopes"),
            expires_at=given.get("expiresAt"),
        )
        shown = NewApiTokenShape(token, context={"text": text}).data
        return Response(shown, 201, headers={"Location": addresses.api("api-token", token.pk)})

    def _whose(self, given: dict[str, Any]) -> tuple[Workspace, Any]:
        """Return the new token's workspace and user.

        Raises WrongState for a disabled service account, and the errors of `obtain` and
        `own_workspace`.
        """
        if "serviceAccountId" in given:
            rows = ServiceAccount.objects.select_related("user", "workspace")
            account, _ = obtain(self.user, rows, given["serviceAccountId"], Action.ADMINISTER)
            if account.disabled_at is not None:
                raise WrongState(
                    f"The service account {account.name!r} is disabled. Enable it first.",
                    "DISABLED",
                )
            return account.workspace, account.user
        return own_workspace(self.user, given.get("workspaceId")), self.user


def own_workspace(user: User, workspace_id: UUID | None) -> Workspace:
    """Return the caller's active workspace with this ID or, for None, the only active one.

    Any role is enough. Raises NotFound; for None, Forbidden (no workspace) or AmbiguousWorkspace.
    """
    rows = seen_workspaces(user)[0].filter(archived_at=None)
    if workspace_id is not None:
        workspace = rows.filter(pk=workspace_id).first()
        if workspace is None:
            raise NotFound(
                f"You are not a member of a workspace {workspace_id}. Check the id, or ask an "
                "administrator of the workspace to add you."
            )
        return workspace
    several = list(rows[:2])
    if not several:
        raise Forbidden(
            "You are not a member of any workspace. Ask an administrator of a workspace to add you."
        )
    if len(several) > 1:
        raise AmbiguousWorkspace
    return several[0]


class OneApiToken(Endpoint):
    """The endpoint that returns, changes and revokes one API token."""

    sensitive = CHANGES

    @operation("getApiToken", "ApiToken", {200: ApiTokenShape}, errors=[404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Return one token, without its text."""
        return Response(ApiTokenShape(found(self.user, id)).data)

    @operation(
        "patchApiToken",
        "ApiToken",
        {200: ApiTokenShape},
        request=ApiTokenChange,
        errors=[403, 404, 409],
    )
    def patch(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Rename a token, or let it expire earlier; 422 if the body names no field."""
        token = found(self.user, id)
        given = self.body(ApiTokenChange)
        if not given:
            raise ValidationError("Name at least one field to change.", code="required")
        changed = tokens.change_token(
            token.pk,
            actor=self.actor,
            maker=self.user,
            name=given.get("name"),
            expires_at=given.get("expiresAt"),
        )
        return Response(ApiTokenShape(changed).data)

    @operation("revokeApiToken", "ApiToken", {204: None}, errors=[403, 404])
    def delete(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Revoke a token; later requests with it are rejected."""
        tokens.revoke_token(found(self.user, id).pk, actor=self.actor, maker=self.user)
        return Response(status=204)
