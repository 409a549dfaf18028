"""Limits a request to the rows of the caller's workspaces, whatever its queries forget.

The second line behind `visible`: PostgreSQL hides other workspaces' rows by policies
(`executions.database.row_policies`). Superusers see all rows; an API token sees those of its one
workspace. Requests without a caller, such as webhooks, are not limited: what they reach is named by
their secret.
"""

from collections.abc import Callable, Iterator
from typing import Any

from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from executions.access.powers import User, limits_of
from executions.access.scoping import sees_all
from executions.database.row_scope import RowScope, current, enabled, limit, limited

# A view's attribute: it knows its caller later than the middleware does, and limits itself.
LIMITS_ITSELF = "limits_its_rows"


def scope_of(user: User) -> RowScope | None:
    """What the user's requests are limited to; None for all rows."""
    if not enabled() or not user.is_authenticated or sees_all(user):
        return None
    limits = limits_of(user)
    return RowScope(user.pk, None if limits is None else limits.workspace_id)


def limit_to(user: User) -> None:
    """Let what follows in this request see the user's rows alone."""
    limit(scope_of(user))


def limit_stream(response: Any) -> Any:
    """The response, whose rows are limited also where they are read while it is sent.

    What is sent by coroutines is left alone: live states are read for all viewers together, of what
    each of them was allowed to watch.
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
    """Middleware: pages are limited to who is signed in; the API's views limit themselves."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        """Wrap `get_response`, if the setting is on."""
        if not enabled():
            raise MiddlewareNotUsed
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the answer; nothing is limited any more afterwards."""
        with limited(None):
            response: HttpResponseBase = limit_stream(self._get_response(request))
            return response

    def process_view(self, request: HttpRequest, view: Any, *_: Any) -> None:
        """Limit the page, now that it is known to be one."""
        if not getattr(view, LIMITS_ITSELF, False):
            limit_to(request.user)
