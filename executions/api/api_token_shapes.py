"""API tokens as JSON: what comes in, what goes out."""
# ruff: noqa: N815 - the names are the JSON's

from typing import Any

from rest_framework import serializers

from executions.access import SCOPES
from executions.api.camel_case import CamelCase
from executions.api.fields import Body, Text
from executions.api.paging import PageQuery
from executions.models import ApiToken

SCOPE_HELP = "Names of actions and permissions; see `createApiToken`."


class ApiTokenShape(CamelCase, serializers.ModelSerializer[ApiToken]):
    """An API token; its text is never part of it."""

    workspace_id = serializers.UUIDField()
    user_id = serializers.IntegerField()
    username = serializers.CharField(source="user.username")
    prefix = serializers.CharField(help_text="How the token begins, to know it by.")
    scopes = serializers.ListField(child=serializers.CharField())
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)
    last_used_at = serializers.DateTimeField(
        allow_null=True, help_text="Written once a minute at most."
    )
    last_used_from = serializers.CharField(allow_null=True)

    class Meta:
        model = ApiToken
        fields = [
            "id", "workspace_id", "user_id", "username", "name", "prefix", "scopes", "created_by",
            "created_at", "expires_at", "revoked_at", "last_used_at", "last_used_from",
        ]  # fmt: skip


class NewApiTokenShape(ApiTokenShape):
    """An API token as it is made: the only time that its text is shown."""

    token = serializers.SerializerMethodField(help_text="Keep it: nobody can show it again.")

    class Meta(ApiTokenShape.Meta):
        fields = [*ApiTokenShape.Meta.fields, "token"]

    def get_token(self, token: ApiToken) -> str:
        """The text."""
        return str(self.context["text"])


class NewApiToken(Body):
    """What `createApiToken` takes."""

    name = Text(max_length=80)
    workspaceId = serializers.UUIDField(
        required=False, help_text="May be left out by who is in one workspace only."
    )
    serviceAccountId = serializers.UUIDField(
        required=False, help_text="Makes it a service account's, in its workspace."
    )
    scopes = serializers.ListField(
        child=Text(max_length=40),
        required=False,
        allow_empty=False,
        max_length=len(SCOPES),
        help_text=f"Of {', '.join(SCOPES)}. Without them: all that its user may do now.",
    )
    expiresAt = serializers.DateTimeField(
        required=False, help_text="Without it the token holds 90 days (VALKYR_TOKEN_DAYS)."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """A service account's token is of its own workspace."""
        if "serviceAccountId" in attrs and "workspaceId" in attrs:
            raise serializers.ValidationError(
                {"workspaceId": "Leave it out: a service account has one workspace."},
                code="not_both",
            )
        return attrs


class ApiTokenChange(Body):
    """What `patchApiToken` takes."""

    name = Text(max_length=80, required=False)
    expiresAt = serializers.DateTimeField(required=False, help_text="Earlier than now set.")


class ApiTokenQuery(PageQuery):
    """What `listApiTokens` takes."""

    workspaceId = serializers.UUIDField(required=False)
    userId = serializers.IntegerField(required=False, min_value=1, max_value=2**31 - 1)
