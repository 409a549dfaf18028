"""The common parts of triage lists: filters in a form, keyset pages, saved views and shortcuts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import BadRequest
from django.db.models import QuerySet
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
    QueryDict,
)
from django.shortcuts import get_object_or_404, redirect
from django.urls import path, reverse
from django.utils.translation import gettext

from dlq.admin.filter_form import FieldsFilter
from dlq.admin.keyset import ORDER, KeysetChangeList, KeysetPaginator
from dlq.models import SavedView
from executions.access.actor import Actor, record
from executions.admin.base import ScopedAdmin
from executions.database import transaction
from executions.language import lazy

# Saved views: each user can save a list with its filters under a name, shown above the table.


MAX_VIEWS = 50
# URL parameters that only describe the position within a list, and are not saved.
PASSING = ("next", "previous", "e", "p", "_changelist_filters")


@dataclass(frozen=True, slots=True)
class View:
    """A saved view as the list shows it; `current` is true if the list has the view's filters."""

    name: str
    address: str
    deletion: str
    current: bool


class SavedViews(ScopedAdmin):
    """The admin of a list; each user can save, select and delete their own views of the list."""

    @property
    def page_name(self) -> str:
        """Return the list's name in the table of saved views, such as `dlq_failuregroup`."""
        return f"{self.opts.app_label}_{self.opts.model_name}"

    def get_urls(self) -> Any:
        """Return Django's URLs, and the URLs to save and to delete a view."""
        wrap = self.admin_site.admin_view
        name = self.page_name
        return [
            path("views/", wrap(self.save_view), name=f"{name}_save_view"),
            path("views/<uuid:pk>/delete/", wrap(self.delete_view_of), name=f"{name}_delete_view"),
            *super().get_urls(),
        ]

    def views_of(self, request: HttpRequest) -> list[View]:
        """Return the user's views of this list, ordered by name. Uses one query."""
        rows = SavedView.objects.filter(owner_id=request.user.pk, page=self.page_name)
        here = filters_in(request.GET)
        address = reverse(f"admin:{self.page_name}_changelist")
        return [
            View(
                row.name,
                f"{address}?{row.query}",
                reverse(f"admin:{self.page_name}_delete_view", args=[row.pk]),
                row.query == here,
            )
            for row in rows[:MAX_VIEWS]
        ]

    def save_view(self, request: HttpRequest) -> HttpResponse:
        """Save the filters in `query` as a view named `name`; replace an existing one."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        name = " ".join(request.POST.get("name", "").split())
        query = filters_in(QueryDict(request.POST.get("query", "")[:8_000]))
        if "%00" in query:  # the list rejects it too
            raise BadRequest("A filter holds a NUL character.")
        address = f"{reverse(f'admin:{self.page_name}_changelist')}?{query}"
        if problem := self._problem(request, name, query):
            messages.error(request, problem)
            return redirect(address)
        self._keep(request, name, query)
        messages.success(request, gettext("Saved the view {name}.").format(name=name))
        return redirect(address)

    def _problem(self, request: HttpRequest, name: str, query: str) -> str:
        """Return the reason why these filters cannot be saved as a view; "" if they can."""
        if not 0 < len(name) <= 100 or not name.isprintable():
            return gettext("A view needs a name of 1 to 100 printable characters.")
        if len(query) > 4_000:
            return gettext("These filters are too long to save.")
        own = SavedView.objects.filter(owner_id=request.user.pk, page=self.page_name)
        if own.exclude(name=name).count() >= MAX_VIEWS:
            return gettext(
                "You have reached the limit of {number} saved views for this list. Delete one "
                "first."
            ).format(number=MAX_VIEWS)
        return ""

    @transaction.atomic
    def _keep(self, request: HttpRequest, name: str, query: str) -> None:
        kept, _ = SavedView.objects.update_or_create(
            owner_id=request.user.pk, page=self.page_name, name=name, defaults={"query": query}
        )
        self._record(request, "saved_view.save", kept)

    @transaction.atomic
    def delete_view_of(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Delete one of the user's own views."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        kept = get_object_or_404(SavedView, pk=pk, owner_id=request.user.pk, page=self.page_name)
        self._record(request, "saved_view.delete", kept)
        kept.delete()
        messages.success(request, gettext("Deleted the view {name}.").format(name=kept.name))
        return redirect(f"{reverse(f'admin:{self.page_name}_changelist')}?{kept.query}")

    def _record(self, request: HttpRequest, action: str, kept: SavedView) -> None:
        record(
            Actor.of_request(request), action, workspace_id=None, object_type="SavedView",
            object_id=kept.pk, details={"name": kept.name, "page": kept.page},
        )  # fmt: skip


def filters_in(query: QueryDict) -> str:
    """Return a URL's filters in a fixed order, so that equal views have equal query strings."""
    pairs = [
        (name, value)
        for name in sorted(query)
        if name not in PASSING
        for value in query.getlist(name)
        if value
    ]
    return urlencode(pairs)


# The lists of one row of tabs: the name of the admin's page, and the title. Plugins add their own.
LISTS: list[tuple[str, Any]] = [
    ("dlq_failuregroup", lazy("Failures")),
    ("dlq_deadletterentry", lazy("Dead letters")),
]


class TriageList(SavedViews):
    """A list for triage in descending order, by default newest first; 25 rows per page."""

    paginator = KeysetPaginator
    list_before_template = "dlq/triage.html"
    sortable_by = ()
    # The word in the URL → the label, and the columns by which the list is sorted, descending.
    orders: ClassVar[dict[str, tuple[str, tuple[str, ...]]]] = {"newest": (lazy("newest"), ("id",))}

    @property
    def media(self) -> forms.Media:
        """Return the admin's media with the styles and the script of triage lists."""
        script: Any = forms.Script("dlq/triage.js", defer=True)
        own = forms.Media(css={"all": ["dlq/triage.css", "dlq/entry.css"]}, js=[script])
        both: forms.Media = super().media + own
        return both

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[KeysetChangeList]:
        """Return the class of lists with keyset pages."""
        return KeysetChangeList

    def order_of(self, request: HttpRequest) -> tuple[str, ...]:
        """Return the columns of the order that the URL names, or of the first order."""
        first, *_ = self.orders.values()
        return self.orders.get(request.GET.get(ORDER, ""), first)[1]

    def ordered(self, rows: QuerySet[Any], order: tuple[str, ...]) -> QuerySet[Any]:
        """Return the rows, annotated with those columns of `order` that the table does not have."""
        return rows

    def prepare(self, request: HttpRequest, rows: list[Any]) -> None:
        """Load related data for all rows of a page at once; by default, load nothing."""

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the list, and the form of its filters above it."""
        if request.method == "GET" and (clean := _without_empty(request)) is not None:
            return HttpResponseRedirect(clean)
        answer = super().changelist_view(request, extra_context)
        context = getattr(answer, "context_data", None) or {}
        if "cl" in context:
            context["triage"] = self.triage(request, context["cl"])
        return answer

    def triage(self, request: HttpRequest, changelist: Any) -> dict[str, Any]:
        """Return the context for the template of the area above the list."""
        form = _form_of(changelist)
        changelist.tab_counts = self.tab_counts(request, changelist)
        return {
            "form": form,
            "visible": [field for field in form if not field.is_hidden],
            "chips": list(form.chips(changelist)),
            "kept": _kept(request, form.fields),
            "everything": _kept(request, ()),
            "orders": _orders(self.orders, request),
            "lists": self._lists(request),
            "views": self.views_of(request),
            "query": filters_in(request.GET),
            "save": reverse(f"admin:{self.page_name}_save_view"),
            "links": self.links(request, changelist),
        }

    def tab_counts(self, request: HttpRequest, changelist: Any) -> Mapping[str, int | str]:
        """Return the number of rows in each tab, keyed by the tab's name; omit unknown numbers."""
        return {}

    def behind_tabs(self, request: HttpRequest, changelist: Any) -> QuerySet[Any]:
        """Return the rows of all tabs, narrowed by the search and the other filters."""
        found = self.get_search_results(request, changelist.root_queryset, changelist.query)
        rows: QuerySet[Any] = found[0]
        for spec in changelist.filter_specs[1:]:
            rows = spec.queryset(request, rows)
        return rows

    def links(self, request: HttpRequest, changelist: Any) -> list[tuple[str, str, str]]:
        """Return links that concern the whole list, as (title, icon, URL); by default, none."""
        return []

    def _lists(self, request: HttpRequest) -> list[dict[str, Any]]:
        return [
            {
                "title": title,
                "address": reverse(f"admin:{name}_changelist"),
                "current": name == self.page_name,
            }
            for name, title in LISTS
        ]


def _form_of(changelist: Any) -> Any:
    return next(spec.form for spec in changelist.filter_specs if isinstance(spec, FieldsFilter))


def _kept(request: HttpRequest, fields: Iterable[str]) -> list[tuple[str, str]]:
    """Return the URL's (name, value) pairs except cursors, the order and visible form fields."""
    left_out = {*fields, "next", "previous", ORDER} - {"inputs", "group", "execution"}
    return [
        (name, value)
        for name in request.GET
        if name not in left_out
        for value in request.GET.getlist(name)
    ]


def _orders(
    orders: dict[str, tuple[str, tuple[str, ...]]], request: HttpRequest
) -> list[dict[str, Any]]:
    if len(orders) < 2:
        return []
    asked = request.GET.get(ORDER, "")
    chosen = asked if asked in orders else next(iter(orders))
    return [
        {"word": word, "title": title, "chosen": word == chosen}
        for word, (title, _) in orders.items()
    ]


def _without_empty(request: HttpRequest) -> str | None:
    """Return the URL without empty form fields; None if no field in it is empty."""
    if all(value for _, values in request.GET.lists() for value in values):
        return None
    query = request.GET.copy()
    for name, values in list(query.lists()):
        if filled := [value for value in values if value]:
            query.setlist(name, filled)
        else:
            del query[name]
    return f"{request.path}?{query.urlencode()}"
