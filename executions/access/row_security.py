"""Limit a request to the rows of the caller's workspaces, even if a query has no filter.

This is a second defence behind `visible`: row-level security policies in PostgreSQL hide the rows
of other workspaces (`executions.database.row_policies`). Superusers see all rows; a request with an
API token sees the rows of the token's workspace. Requests without a caller, such as webhooks, are
not limited: their secret determines the rows that they reach.
"""

from collections.abc import Callable, Iterator
from typing import Any

from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from executions.access.powers import User, limits_of
from executions.access.scoping import sees_all
from executions.database.row_scope import RowScope, current, enabled, limit, limited

# The attribute of a view that identifies its caller after the middleware, and then limits its own
# rows.
LIMITS_ITSELF = "limits_its_rows"


def scope_of(user: User) -> RowScope | None:
    """Return the scope of the user's requests; None if the requests are not limited."""
    if not enabled() or not user.is_authenticated or sees_all(user):
        return None
    limits = limits_of(user)
    if limits is not None:
        return RowScope(user.pk, limits.workspace_id)
    already: RowScope | None = getattr(user, "row_scope", None)  # set by its authentication
    return already or RowScope(user.pk)


def limit_to(user: User) -> None:
    """Limit the rest of this request to the user's rows."""
    limit(scope_of(user))


def limit_stream(response: Any) -> Any:
    """Return the response; rows that are read while it is sent are also limited.

    Asynchronous responses are not limited; they filter rows themselves. For example, live states
    are read once for all viewers, and then filtered for each viewer.
    """
    scope = current()
    if scope is not None and response.streaming and not response.is_async:
        response.streaming_content = _each_limited(response.streaming_content, scope)
    return response


def _each_limited(parts: Iterator[bytes], scope: RowScope) -> Iterator[bytes]:
    while True:
        with limited(scope):
            part = next(parts, None)
        if part is None:
            return
        yield part


class RowLevelSecurity:
    """Middleware that limits pages to the signed-in user's rows; API views limit themselves."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        """Wrap `get_response`. Raises MiddlewareNotUsed if row-level security is off."""
        if not enabled():
            raise MiddlewareNotUsed
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response; a limit that the request sets on rows ends with the request."""
        with limited(None):
            response: HttpResponseBase = limit_stream(self._get_response(request))
            return response

    def process_view(self, request: HttpRequest, view: Any, *_: Any) -> None:
        """Limit the request to its user's rows, unless the view limits itself."""
        if not getattr(view, LIMITS_ITSELF, False):
            limit_to(request.user)
