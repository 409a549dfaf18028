"""What the lists of triage share: filters in a form, pages by keyset, saved views, keys."""

from collections.abc import Iterable
from typing import Any, ClassVar

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from dlq.admin.fields_filter import FieldsFilter
from dlq.admin.keyset import ORDER, KeysetChangeList, KeysetPaginator
from dlq.admin.views import SavedViews, filters_in

LISTS = (("dlq_failuregroup", "Groups"), ("dlq_deadletterentry", "Entries"))


class TriageList(SavedViews):
    """A list one works through: newest or greatest first, 25 at a time."""

    paginator = KeysetPaginator
    list_before_template = "valkyr/triage.html"
    sortable_by = ()
    # A word in the address → what it is called, and the columns it orders by, descending.
    orders: ClassVar[dict[str, tuple[str, tuple[str, ...]]]] = {"newest": ("newest", ("id",))}

    @property
    def media(self) -> forms.Media:
        """Unfold's, and what the keyboard needs."""
        own = forms.Media(css={"all": ["ui/triage.css"]}, js=["ui/triage.js"])
        both: forms.Media = super().media + own
        return both

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[KeysetChangeList]:
        """Lists by keyset."""
        return KeysetChangeList

    def order_of(self, request: HttpRequest) -> tuple[str, ...]:
        """The columns to order by; those of the first word where none, or none known, is given."""
        first, *_ = self.orders.values()
        return self.orders.get(request.GET.get(ORDER, ""), first)[1]

    def ordered(self, rows: QuerySet[Any], order: tuple[str, ...]) -> QuerySet[Any]:
        """The rows with the columns that `order` needs and the table lacks."""
        return rows

    def prepare(self, request: HttpRequest, rows: list[Any]) -> None:
        """Fetch what a page's rows show and do not hold, in a query for all of them."""

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """As the base's, with what the form above the list needs."""
        if request.method == "GET" and (clean := _without_empty(request)) is not None:
            return HttpResponseRedirect(clean)
        answer = super().changelist_view(request, extra_context)
        context = getattr(answer, "context_data", None) or {}
        if "cl" in context:
            context["triage"] = self.triage(request, context["cl"])
        return answer

    def triage(self, request: HttpRequest, changelist: Any) -> dict[str, Any]:
        """What the template above the list shows."""
        form = _form_of(changelist)
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

    def links(self, request: HttpRequest, changelist: Any) -> list[tuple[str, str, str]]:
        """What can be done with all that the list shows: (title, icon, address)."""
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
    """What else stands in the address and must stand there after the form was sent."""
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
    """The address without the fields that a form sent empty; None where there is none."""
    if all(value for _, values in request.GET.lists() for value in values):
        return None
    query = request.GET.copy()
    for name, values in list(query.lists()):
        if filled := [value for value in values if value]:
            query.setlist(name, filled)
        else:
            del query[name]
    return f"{request.path}?{query.urlencode()}"
