"""Lists in pages: a cursor over (time, id) in the `Link` header, and never a count."""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Model, Q, QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

from executions import replica
from executions.access import workspace_path
from executions.api.fields import Body

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
        required=False, max_length=200, help_text="From the Link header of the page before."
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
class Page:
    """The rows of one page and the headers that lead to the next."""

    rows: list[Any]
    headers: dict[str, str]


def page(
    request: Request,
    rows: QuerySet[Any],
    query: dict[str, Any],
    *,
    order: Sequence[str] = ("created_at", "id"),
    ascending: bool = False,
    fresh: bool = False,
) -> Page:
    """One page of `rows`, ordered by `order` (a time and the id, or the id alone).

    The query's own `order`, where it has one, says whether the oldest comes first. Rows may be
    some seconds old (`executions.replica`), unless they must be `fresh`.
    Raises ValidationError for a cursor that is not ours.
    """
    limit = query["limit"]
    ascending = ascending or query.get("order") == OLDEST_FIRST
    if query.get("cursor"):
        rows = rows.filter(_after(_read(query["cursor"], order), order, ascending))
    ordering = [name if ascending else f"-{name}" for name in order]
    wanted = rows.order_by(*ordering)[: limit + 1]
    found = list(wanted) if fresh else replica.read(request, lambda: list(wanted.all()))
    headers = {}
    if len(found) > limit:
        found.pop()
        cursor = _write([getattr(found[-1], name) for name in order])
        url = replace_query_param(request.build_absolute_uri(), "cursor", cursor)
        headers["Link"] = f'<{url}>; rel="next"'
    return Page(found, headers)


def narrowed(
    rows: QuerySet[M], query: Mapping[str, Any], filters: Mapping[str, str]
) -> QuerySet[M]:
    """The rows that pass the query: `filters` are look-ups by parameter; and its workspace."""
    wanted = {path: query[name] for name, path in filters.items() if name in query}
    if "workspaceId" in query:
        wanted[workspace_path(rows.model)] = query["workspaceId"]
    return rows.filter(**wanted)


def _after(values: list[Any], order: Sequence[str], ascending: bool) -> Q:
    side = "gt" if ascending else "lt"
    if len(order) == 1:
        return Q(**{f"{order[0]}__{side}": values[0]})
    # The first condition is implied by the second; it lets the index start at the cursor.
    return Q(**{f"{order[0]}__{side}e": values[0]}) & (
        Q(**{f"{order[0]}__{side}": values[0]}) | Q(**{f"{order[1]}__{side}": values[1]})
    )


def _write(values: list[Any]) -> str:
    texts = [v.isoformat() if isinstance(v, datetime) else str(v) for v in values]
    return base64.urlsafe_b64encode(json.dumps(texts).encode()).decode().rstrip("=")


def _read(cursor: str, order: Sequence[str]) -> list[Any]:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        texts = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        *times, last = texts
        values: list[Any] = [datetime.fromisoformat(text) for text in times]
        values.append(UUID(last))
        known = len(values) == len(order) and all(time.tzinfo for time in values[:-1])
    except (ValueError, TypeError, AttributeError, binascii.Error, RecursionError):
        values, known = [], False
    if not known:
        raise serializers.ValidationError(
            {"cursor": "This is no cursor of ours; take it from the Link header."},
            code="bad_cursor",
        )
    return values
