"""Lists in pages: the `Link` header has the next page; rows are never counted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

from executions import replica
from executions.access import workspace_path
from executions.api.fields import Body
from executions.database.keyset import InvalidCursor, KeysetOrder

M = TypeVar("M", bound=Model)
DEFAULT_LIMIT = 50
MAX_LIMIT = 500
NEWEST_FIRST, OLDEST_FIRST = "desc", "asc"
ORDERS = [(NEWEST_FIRST, "newest first"), (OLDEST_FIRST, "oldest first")]


class PageQuery(Body):
    """The parameters every list takes."""

    limit = serializers.IntegerField(
        required=False, default=DEFAULT_LIMIT, min_value=1, max_value=MAX_LIMIT
    )
    cursor = serializers.CharField(
        required=False, max_length=200, help_text="From the Link header of the previous page."
    )


class ListQuery(PageQuery):
    """The parameters of a list across workspaces."""

    workspaceId = serializers.UUIDField(  # noqa: N815 - the JSON's name
        required=False, help_text="Only what belongs to this workspace."
    )
    order = serializers.ChoiceField(
        ORDERS, required=False, default=NEWEST_FIRST, help_text="desc: newest first."
    )


@dataclass(frozen=True, slots=True)
class KeysetPage:
    """The rows of one page and the headers with the next one."""

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

    "asc" in the query's own `order` puts the oldest first. Rows may be some seconds old
    (`executions.replica`) unless `fresh` is set. Raises ValidationError for an invalid cursor.
    """
    limit = query["limit"]
    keyset = KeysetOrder(order, ascending or query.get("order") == OLDEST_FIRST)
    try:
        wanted = keyset.rows(rows, query.get("cursor"))[: limit + 1]
    except InvalidCursor as error:
        raise serializers.ValidationError({"cursor": str(error)}, code="bad_cursor") from error
    found = list(wanted) if fresh else replica.read(request, lambda: list(wanted.all()))
    headers = {}
    if len(found) > limit:
        found.pop()
        url = replace_query_param(request.build_absolute_uri(), "cursor", keyset.cursor(found[-1]))
        headers["Link"] = f'<{url}>; rel="next"'
    return KeysetPage(found, headers)


def narrowed(
    rows: QuerySet[M], query: Mapping[str, Any], filters: Mapping[str, str]
) -> QuerySet[M]:
    """Return the rows that match the query's workspace and `filters` (lookups by parameter)."""
    wanted = {path: query[name] for name, path in filters.items() if name in query}
    if "workspaceId" in query:
        wanted[workspace_path(rows.model)] = query["workspaceId"]
    return rows.filter(**wanted)
