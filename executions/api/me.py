"""The caller's account, workspaces, token and sessions."""

from operator import itemgetter
from typing import Any
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions.accounts import browser_sessions, sessions, token_sessions
from executions.accounts.caller_permissions import permissions_of, seen_workspaces
from executions.accounts.errors import TokenRefused
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.fields import CamelCase, CamelCaseSerializer
from executions.api.merged_lists import everywhere
from executions.api.paging import PageQuery, page
from executions.api.workspaces import MeShape
from executions.models import AccountSession, ApiToken
from executions.states import SessionKind

MOST_WORKSPACES = 500


class Me(Endpoint):
    """The endpoint that returns the caller's account, workspaces and token."""

    @operation("getMe", "Me", {200: MeShape})
    def get(self, request: Request) -> Response:
        """Return your user, workspaces, roles, and your token's scopes and expiry."""
        user: Any = self.user
        account = getattr(user, "valkyr_service_account", None)
        token = request.auth if isinstance(request.auth, ApiToken) else None
        shown = {
            "userId": user.pk,
            "username": user.get_username(),
            "isSuperuser": bool(getattr(user, "is_superuser", False)),
            "serviceAccountId": None if account is None else account.pk,
            "workspaces": sorted(everywhere(self._workspaces), key=itemgetter("slug")),
            "token": None if token is None else _token(token),
        }
        return Response(MeShape(shown).data)

    def _workspaces(self) -> list[dict[str, Any]]:
        rows, reach = seen_workspaces(self.user)
        return [
            {
                "id": row.pk,
                "name": row.name,
                "slug": row.slug,
                "archivedAt": row.archived_at,
                "role": reach.members[row.pk].role,
                "permissions": permissions_of(reach.members[row.pk]),
            }
            for row in rows.order_by("slug")[:MOST_WORKSPACES]
        ]


def _token(token: ApiToken) -> dict[str, Any]:
    return {
        "id": token.pk,
        "name": token.name,
        "workspaceId": token.workspace_id,
        "scopes": token.scopes,
        "expiresAt": token.expires_at,
    }


# The user's own sessions.


class SessionShape(CamelCase, serializers.ModelSerializer[AccountSession]):
    """A sign-in session: its kind, its client, its addresses and times."""

    kind = serializers.ChoiceField(
        SessionKind.choices, help_text="TOKEN: by `obtainToken`. BROWSER: by a cookie."
    )
    current = serializers.SerializerMethodField(help_text="Whether this session made the request.")
    user_agent = serializers.CharField(help_text="The User-Agent of the browser or program.")
    address = serializers.CharField(allow_null=True, help_text="The network address at sign-in.")
    created_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField(help_text="Written once a minute at most.")
    last_used_from = serializers.CharField(allow_null=True)
    expires_at = serializers.DateTimeField()

    class Meta:
        model = AccountSession
        fields = [
            "id", "kind", "current", "user_agent", "address", "created_at", "last_used_at",
            "last_used_from", "expires_at",
        ]  # fmt: skip

    def get_current(self, session: AccountSession) -> bool:
        """Return whether this session sent the request."""
        return bool(session.pk == self.context["current"])


class EndedSessions(CamelCaseSerializer):
    """The result of `endOtherSessions`: the number of ended sessions."""

    ended = serializers.IntegerField()


class Sessions(Endpoint):
    """The endpoint that lists the caller's sessions, and ends all except the current session."""

    @operation(
        "listSessions",
        "Session",
        {200: SessionShape(many=True)},
        errors=[403],
        parameters=[PageQuery],
    )
    def get(self, request: Request) -> Response:
        """List your live sessions, newest first."""
        query = self.query(PageQuery)
        shown = page(request, sessions.own_sessions(self.user), query, fresh=True)
        context = {"current": own(request)}
        found = SessionShape(shown.rows, many=True, context=context).data
        return Response(found, headers=shown.headers)

    @operation("endOtherSessions", "Session", {200: EndedSessions}, errors=[403])
    def delete(self, request: Request) -> Response:
        """End all of your sessions except the session of this request."""
        sessions.own_sessions(self.user)
        ended = sessions.end_others(self.user, own(request), actor=self.actor)
        return Response(EndedSessions({"ended": ended}).data)


class OneSession(Endpoint):
    """The endpoint that ends one session of the caller."""

    @operation("endSession", "Session", {204: None}, errors=[403, 404])
    def delete(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """End a session: its tokens and its cookie are rejected from the next request on."""
        sessions.own_sessions(self.user)
        sessions.end(id, user=self.user, actor=self.actor)
        return Response(status=204)


def own(request: Request) -> UUID | None:
    """Return the ID of the request's session; None if the request has no session."""
    token: Any = request.auth
    if token is None:
        return browser_sessions.current(request)
    try:
        return token_sessions.session_of(token)
    except (TokenRefused, TypeError):
        return None
