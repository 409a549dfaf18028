"""Lists read by keyset: an address says after or before which row, never a page's number.

So the thousandth page costs what the first does, and rows that arrive meanwhile move nothing.
"""

import base64
import binascii
import json
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import HttpRequest

from dlq.browse import bounded_list
from executions.admin.changelist import BoundedChangeList
from executions.admin.paginator import PAGED, BoundedPaginator

AFTER, BEFORE = "next", "previous"
CURSORS = (AFTER, BEFORE)
ORDER = "order"


class KeysetPaginator(BoundedPaginator):
    """Only names the piece of template that links to the rows before and after."""

    template_name = "valkyr/keyset_pages.html"


class KeysetChangeList(BoundedChangeList):
    """A list in pages by keyset, newest or greatest first; its admin prepares a page's rows.

    `too_many` says that the filters leave more to look through than could be done in time, and
    `next_page`/`previous_page` are addresses. Its filters are a form of their own above the list.
    """

    too_many = False
    next_page = previous_page = ""

    def get_filters_params(self, params: Any = None) -> Any:
        """As Django's; a cursor and an order filter nothing."""
        found = super().get_filters_params(params)
        return {name: value for name, value in found.items() if name not in (*CURSORS, ORDER)}

    def get_query_string(self, new_params: Any = None, remove: Any = None) -> str:
        """As Django's; what narrows or orders anew begins at the first row."""
        wanted = dict.fromkeys(CURSORS) | (new_params or {})
        return str(super().get_query_string(wanted, remove))

    def get_filters(self, request: HttpRequest) -> Any:
        """As Django's, but that Unfold's sheet of filters, which needs a script, is not shown."""
        specs, _, remaining, duplicates, active = super().get_filters(request)
        return specs, False, remaining, duplicates, active

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> list[str]:
        """By the admin's word for it; always descending, the id last."""
        self.order: tuple[str, ...] = self.model_admin.order_of(request)
        return [f"-{name}" for name in self.order]

    def read_page(self, request: HttpRequest) -> None:
        """Read one page, and how much there is up to a bound."""
        backwards = BEFORE in self.params
        cursor = read(self.params.get(BEFORE) or self.params.get(AFTER), self.order)
        rows = self.queryset if cursor is None else self._beyond(cursor, backwards)
        try:
            found = self._look(rows)
        except bounded_list.TooMany:
            self.too_many, found = True, bounded_list.Found([], 0)
        ids = found.ids[: self.list_per_page]
        more = len(found.ids) > len(ids)
        if backwards:
            ids.reverse()
        self.result_list = self._load(ids)
        self._link(more, backwards=backwards, moved=cursor is not None)
        self._count(found, moved=cursor is not None)
        self.paginator = KeysetPaginator(self.result_list, self.list_per_page)
        self.model_admin.prepare(request, self.result_list)

    def _beyond(self, cursor: list[Any], backwards: bool) -> QuerySet[Any]:
        side = _side(cursor, self.order, "gt" if backwards else "lt")
        rows: QuerySet[Any] = self.queryset.filter(side)
        return rows.order_by(*self.order) if backwards else rows

    def _look(self, rows: QuerySet[Any]) -> bounded_list.Found:
        many = self.list_per_page + 1
        if self.order == ("id",):
            return bounded_list.first(rows, many, PAGED)
        with bounded_list.patience(bounded_list.GATHER_MS):
            return bounded_list.Found(list(rows.values_list("id", flat=True)[:many]))

    def _load(self, ids: list[Any]) -> list[Any]:
        """The rows with what the list shows of them, without asking its filters again."""
        rows = self.apply_select_related(self.model_admin.ordered(self.root_queryset, self.order))
        by_id = {row.pk: row for row in rows.filter(pk__in=ids)}
        return [by_id[pk] for pk in ids if pk in by_id]

    def _link(self, more: bool, *, backwards: bool, moved: bool) -> None:
        if not self.result_list:
            self.previous_page = self.get_query_string() if moved else ""
            return
        if backwards or more:
            self.next_page = self.get_query_string({AFTER: self._cursor(self.result_list[-1])})
        if more if backwards else moved:
            self.previous_page = self.get_query_string({BEFORE: self._cursor(self.result_list[0])})

    def _cursor(self, row: Any) -> str:
        return write([getattr(row, name) for name in self.order])

    def _count(self, found: bounded_list.Found, *, moved: bool) -> None:
        count = None if moved else found.count
        if count is None and not self.too_many:
            count = bounded_list.count(self.queryset, PAGED)
        # Where even that took too long there is at least this page and a row more.
        self.counted = count is not None
        self.result_count = len(found.ids) if count is None else count
        self.full_result_count = self.result_count
        self.show_full_result_count = False
        self.show_admin_actions = True
        self.can_show_all = self.multi_page = False

    @property
    def count_text(self) -> str:
        """The number of rows: exact below the bound, where it could be counted."""
        return super().count_text if self.counted else f"more than {self.result_count - 1:,}"


def _side(values: list[Any], order: tuple[str, ...], side: str) -> Q:
    if len(order) == 1:
        return Q(**{f"{order[0]}__{side}": values[0]})
    # The first condition is implied by the second; it lets an index start at the cursor.
    return Q(**{f"{order[0]}__{side}e": values[0]}) & (
        Q(**{f"{order[0]}__{side}": values[0]}) | Q(**{f"{order[1]}__{side}": values[1]})
    )


def write(values: list[Any]) -> str:
    """A cursor: where a row stands in the order, for an address."""
    known = [v.isoformat() if isinstance(v, datetime) else v for v in values]
    text = json.dumps([v if isinstance(v, int) else str(v) for v in known])
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read(cursor: str | None, order: tuple[str, ...]) -> list[Any] | None:
    """The values of a cursor of that order; None for none, and for what is no cursor of ours."""
    if not cursor:
        return None
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        values = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        *others, last = values
        found = [_value(value) for value in others]
        return [*found, UUID(last)] if len(values) == len(order) else None
    except (ValueError, TypeError, AttributeError, OverflowError, binascii.Error, RecursionError):
        return None


def _value(value: Any) -> int | datetime:
    """A number, or a time with its zone. Raises ValueError."""
    if isinstance(value, int) and abs(value) < 2**63:
        return value
    at = datetime.fromisoformat(value)
    if at.tzinfo is None:
        raise ValueError("a time without its zone")
    return at
