"""Pages of failure groups: a cursor over what the list is ordered by, and the id."""

import base64
import binascii
import json
from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

from dlq.api.group_shapes import ORDERS
from dlq.models import FailureGroup
from executions import replica
from executions.api.paging import Page

LARGEST = 2**63 - 1


def group_page(request: Request, rows: QuerySet[FailureGroup], query: dict[str, Any]) -> Page:
    """One page, the most or the newest first; raises ValidationError for a cursor not of ours."""
    limit, name = query["limit"], ORDERS[query["order"]]
    if query.get("cursor"):
        value, pk = _read(query["cursor"], name)
        rows = rows.filter(**{f"{name}__lte": value}).filter(
            Q(**{f"{name}__lt": value}) | Q(pk__lt=pk)
        )
    wanted = rows.order_by(f"-{name}", "-pk")[: limit + 1]
    found = replica.read(request, lambda: list(wanted.all()))
    headers = {}
    if len(found) > limit:
        found.pop()
        url = replace_query_param(
            request.build_absolute_uri(),
            "cursor",
            _write(name, getattr(found[-1], name), found[-1].pk),
        )
        headers["Link"] = f'<{url}>; rel="next"'
    return Page(found, headers)


def _write(name: str, value: Any, pk: UUID) -> str:
    text = value.isoformat() if isinstance(value, datetime) else str(value)
    return base64.urlsafe_b64encode(json.dumps([name, text, str(pk)]).encode()).decode().rstrip("=")


def _read(cursor: str, name: str) -> tuple[Any, UUID]:
    parse: Callable[[str], Any] = _time if name == "last_seen" else _number
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        of, text, pk = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        value, last = parse(text), UUID(pk)
    except (ValueError, TypeError, AttributeError, binascii.Error, RecursionError):
        of, value, last = "", None, UUID(int=0)
    if of != name:
        raise serializers.ValidationError(
            {"cursor": "This is no cursor of this list; take it from the Link header."},
            code="bad_cursor",
        )
    return value, last


def _time(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError(text)
    return at


def _number(text: str) -> int:
    number = int(text)
    if abs(number) > LARGEST:
        raise ValueError(text)
    return number
