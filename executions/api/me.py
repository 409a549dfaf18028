"""Who am I: the caller, the workspaces, what the token allows."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from executions.accounts.standing import permissions_of, seen_workspaces
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.workspace_shapes import MeShape
from executions.models import ApiToken

MOST_WORKSPACES = 500


class Me(Endpoint):
    """The caller."""

    @operation("getMe", "Me", {200: MeShape})
    def get(self, request: Request) -> Response:
        """Who you are signed in as, your workspaces and roles, your token's scopes and expiry."""
        user: Any = self.user
        account = getattr(user, "service_account", None)
        token = request.auth if isinstance(request.auth, ApiToken) else None
        shown = {
            "userId": user.pk,
            "username": user.get_username(),
            "isSuperuser": user.is_superuser,
            "serviceAccountId": None if account is None else account.pk,
            "workspaces": self._workspaces(),
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
