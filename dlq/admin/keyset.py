"""Admin lists with keyset pages: the URL has a cursor instead of a page number."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext

from dlq.browse import bounded_list
from executions.admin.changelist import PAGED, BoundedChangeList, BoundedPaginator
from executions.database.keyset import InvalidCursor, KeysetOrder

AFTER, BEFORE = "next", "previous"
CURSORS = (AFTER, BEFORE)
ORDER = "order"


class KeysetPaginator(BoundedPaginator):
    """A paginator whose template has links to the previous and next rows."""

    template_name = "dlq/keyset_pages.html"


class KeysetChangeList(BoundedChangeList):
    """A list with keyset pages, in descending order; its admin prepares each page's rows.

    `too_many` is true if the search for rows took too long. `next_page` and `previous_page` are
    query strings, or "". The filters are in a separate form above the list.
    """

    too_many = False
    next_page = previous_page = ""
    tab_counts: Mapping[str, int | str] = MappingProxyType({})

    @property
    def tabs(self) -> list[Any]:
        """Return the tabs, each with its number of rows (None if the number is unknown)."""
        tabs = super().tabs
        words = [word for word, _ in self.filter_specs[0].lookup_choices] if tabs else []
        return [
            tab | {"count": self.tab_counts.get(word)}
            for word, tab in zip(words, tabs, strict=True)
        ]

    def get_filters_params(self, params: Any = None) -> Any:
        """Return Django's parameters without the cursor and the order, which do not filter rows."""
        found = super().get_filters_params(params)
        return {name: value for name, value in found.items() if name not in (*CURSORS, ORDER)}

    def get_query_string(self, new_params: Any = None, remove: Any = None) -> str:
        """Return Django's query string without a cursor, unless `new_params` has one."""
        wanted = dict.fromkeys(CURSORS) | (new_params or {})
        return str(super().get_query_string(wanted, remove))

    def get_filters(self, request: HttpRequest) -> Any:
        """Return Django's filters, without Unfold's sheet of filters, which needs a script."""
        specs, _, remaining, duplicates, active = super().get_filters(request)
        return specs, False, remaining, duplicates, active

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> list[str]:
        """Return the columns by which the URL orders the list, always descending."""
        self.keyset = KeysetOrder(self.model_admin.order_of(request))
        return self.keyset.ordering

    def read_page(self, request: HttpRequest) -> None:
        """Read one page; count the rows up to a limit; let the admin prepare the page's rows."""
        backwards = BEFORE in self.params
        rows, moved = self._wanted(backwards)
        try:
            found = self._look(rows)
        except bounded_list.TooManyRows:
            self.too_many, found = True, bounded_list.Found([], 0)
        ids = found.ids[: self.list_per_page]
        more = len(found.ids) > len(ids)
        if backwards:
            ids.reverse()
        self.result_list = self._load(ids)
        self._link(more, backwards=backwards, moved=moved)
        self._count(found, moved=moved)
        self.paginator = KeysetPaginator(self.result_list, self.list_per_page)
        self.model_admin.prepare(request, self.result_list)

    def _wanted(self, backwards: bool) -> tuple[QuerySet[Any], bool]:
        """Return the rows beyond a valid cursor and True; otherwise all rows and False."""
        cursor = self.params.get(BEFORE) or self.params.get(AFTER)
        keyset = self.keyset.reversed if backwards else self.keyset
        try:
            return (keyset.rows(self.queryset, cursor), True) if cursor else (self.queryset, False)
        except InvalidCursor:
            return self.queryset, False

    def _look(self, rows: QuerySet[Any]) -> bounded_list.Found:
        many = self.list_per_page + 1
        if self.keyset.columns == ("id",):
            return bounded_list.first(rows, many, PAGED)
        with bounded_list.patience(bounded_list.GATHER_MS):
            return bounded_list.Found(list(rows.values_list("id", flat=True)[:many]))

    def _load(self, ids: list[Any]) -> list[Any]:
        """Return the rows with these IDs and their related data, without applying the filters."""
        ordered = self.model_admin.ordered(self.root_queryset, self.keyset.columns)
        rows = self.apply_select_related(ordered)
        by_id = {row.pk: row for row in rows.filter(pk__in=ids)}
        return [by_id[pk] for pk in ids if pk in by_id]

    def _link(self, more: bool, *, backwards: bool, moved: bool) -> None:
        if not self.result_list:
            self.previous_page = self.get_query_string() if moved else ""
            return
        first, last = self.result_list[0], self.result_list[-1]
        if backwards or more:
            self.next_page = self.get_query_string({AFTER: self.keyset.cursor(last)})
        if more if backwards else moved:
            self.previous_page = self.get_query_string({BEFORE: self.keyset.cursor(first)})

    def _count(self, found: bounded_list.Found, *, moved: bool) -> None:
        count = None if moved else found.count
        if count is None and not self.too_many:
            count = bounded_list.count(self.queryset, PAGED)
        # If even the count took too long, only this page and one more row are certain.
        self.counted = count is not None
        self.result_count = len(found.ids) if count is None else count
        self.full_result_count = self.result_count
        self.show_full_result_count = False
        self.show_admin_actions = True
        self.can_show_all = self.multi_page = False

    @property
    def count_text(self) -> str:
        """Return the row count as text. After a timeout, it is a lower bound or unknown."""
        if self.too_many:
            return gettext("an unknown number of")
        return (
            super().count_text
            if self.counted
            else gettext("more than {result_count:,}").format(result_count=self.result_count - 1)
        )
