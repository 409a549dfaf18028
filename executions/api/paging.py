"""Lists in pages: the `Link` header has the next page's address; rows are never counted."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

from executions import replica
from executions.access import workspace_path
from executions.api import merged_lists
from executions.api.fields import Body
from executions.database.keyset import InvalidCursor, KeysetOrder

M = TypeVar("M", bound=Model)
DEFAULT_LIMIT = 50
MAX_LIMIT = 500
NEWEST_FIRST, OLDEST_FIRST = "desc", "asc"
ORDERS = [(NEWEST_FIRST, "newest first"), (OLDEST_FIRST, "oldest first")]


class PageQuery(Body):
    """The parameters that every paged list accepts."""

    limit = serializers.IntegerField(
        required=False, default=DEFAULT_LIMIT, min_value=1, max_value=MAX_LIMIT
    )
    cursor = serializers.CharField(
        required=False, max_length=200, help_text="From the `Link` header of the previous page."
    )


class ListQuery(PageQuery):
    """The parameters of a list whose rows belong to workspaces: page, workspace and order."""

    workspaceId = serializers.UUIDField(  # noqa: N815 - the JSON's name
        required=False, help_text="Only objects of this workspace."
    )
    order = serializers.ChoiceField(
        ORDERS, required=False, default=NEWEST_FIRST, help_text="desc: newest first."
    )


@dataclass(frozen=True, slots=True)
class KeysetPage:
    """The rows of one page, and the headers, with the next page's address if there is one."""

    rows: list[Any]
    headers: dict[str, str]


def page(
    request: Request,
    rows: QuerySet[Any],
    query: dict[str, Any],
    *,
    order: tuple[str, ...] = ("created_at", "id"),
    ascending: bool = False,
    fresh: bool = False,
) -> KeysetPage:
    """Return one page of `rows`, ordered by `order` (a column and the ID, or the ID alone).

    The newest rows are first unless `ascending` is set or the query's `order` is "asc". The rows
    may be a few seconds old (`executions.replica`) unless `fresh` is set. Raises ValidationError
    for an invalid cursor.
    """
    limit = query["limit"]
    keyset = KeysetOrder(order, ascending or query.get("order") == OLDEST_FIRST)
    with _rejecting_cursors():
        wanted = keyset.rows(rows, query.get("cursor"))[: limit + 1]
    found = list(wanted) if fresh else replica.read(request, lambda: list(wanted.all()))
    headers, reached = {}, None
    if len(found) > limit:
        found.pop()
        reached = tuple(getattr(found[-1], name) for name in order)
        headers = link_of(request, keyset.cursor_of(*reached))
    merged_lists.note(keyset, found, reached, limit)
    return KeysetPage(found, headers)


def position(rows: QuerySet[Any], query: Mapping[str, Any]) -> tuple[KeysetOrder, Any]:
    """Return the order of a list sorted by ID, and the cursor's ID (None without a cursor).

    Raises ValidationError for an invalid cursor.
    """
    keyset = KeysetOrder(("id",), query.get("order") == OLDEST_FIRST)
    with _rejecting_cursors():
        cursor = query.get("cursor")
        return keyset, keyset.values(rows, cursor)[0] if cursor else None


def next_link(request: Request, keyset: KeysetOrder, reached: Any) -> dict[str, str]:
    """Return the `Link` header to the page after the ID `reached`; {} if `reached` is None."""
    return {} if reached is None else link_of(request, keyset.cursor_of(reached))


def end_of(reached: Any) -> tuple[Any, ...] | None:
    """Return the ID `reached` as the key of a row; None if `reached` is None."""
    return None if reached is None else (reached,)


def link_of(request: Request, cursor: str) -> dict[str, str]:
    """Return the `Link` header with the address of the page after a cursor."""
    url = replace_query_param(request.build_absolute_uri(), "cursor", cursor)
    return {"Link": f'<{url}>; rel="next"'}


@contextmanager
def _rejecting_cursors() -> Iterator[None]:
    try:
        yield
    except InvalidCursor as error:
        raise serializers.ValidationError({"cursor": str(error)}, code="bad_cursor") from error


def narrowed(
    rows: QuerySet[M], query: Mapping[str, Any], filters: Mapping[str, str]
) -> QuerySet[M]:
    """Return the rows that match the query's workspace and `filters` (query fields and lookups)."""
    wanted = {path: query[name] for name, path in filters.items() if name in query}
    if "workspaceId" in query:
        wanted[workspace_path(rows.model)] = query["workspaceId"]
    return rows.filter(**wanted)
