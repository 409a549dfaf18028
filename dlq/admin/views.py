"""Saved views: a list with its filters under a name, one's own, above the table."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import path, reverse

from dlq.models import SavedView
from executions.access.actor import Actor, record
from executions.admin.engine import ScopedAdmin

MAX_VIEWS = 50
# What says where one is within the list rather than which list it is.
PASSING = ("next", "previous", "e", "p", "_changelist_filters")


@dataclass(frozen=True, slots=True)
class View:
    """A saved view as the list shows it; `current` where the list is that view."""

    name: str
    address: str
    deletion: str
    current: bool


class SavedViews(ScopedAdmin):
    """Gives a list saved views: to save, to choose, to delete. A person's own alone."""

    @property
    def page_name(self) -> str:
        """The list's name in the table of views."""
        return f"{self.opts.app_label}_{self.opts.model_name}"

    def get_urls(self) -> Any:
        """As Django's, and the two posts."""
        wrap = self.admin_site.admin_view
        name = self.page_name
        return [
            path("views/", wrap(self.save_view), name=f"{name}_save_view"),
            path("views/<uuid:pk>/delete/", wrap(self.delete_view_of), name=f"{name}_delete_view"),
            *super().get_urls(),
        ]

    def views_of(self, request: HttpRequest) -> list[View]:
        """The person's views of this list, by name. One query."""
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
        """Keep the filters given as `query` under `name`; the same name again replaces it."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        name = " ".join(request.POST.get("name", "").split())
        query = filters_in(QueryDict(request.POST.get("query", "")[:8_000]))
        address = f"{reverse(f'admin:{self.page_name}_changelist')}?{query}"
        if problem := self._problem(request, name, query):
            messages.error(request, problem)
            return redirect(address)
        self._keep(request, name, query)
        messages.success(request, f"Saved the view {name}.")
        return redirect(address)

    def _problem(self, request: HttpRequest, name: str, query: str) -> str:
        """Why these cannot be saved, or nothing."""
        if not 0 < len(name) <= 100 or not name.isprintable():
            return "A view needs a name of 1 to 100 characters."
        if len(query) > 4_000 or "%00" in query:
            return "These filters are too long to be saved."
        own = SavedView.objects.filter(owner_id=request.user.pk, page=self.page_name)
        if own.exclude(name=name).count() >= MAX_VIEWS:
            return f"You have {MAX_VIEWS} views of this list; delete one first."
        return ""

    @transaction.atomic
    def _keep(self, request: HttpRequest, name: str, query: str) -> None:
        kept, _ = SavedView.objects.update_or_create(
            owner_id=request.user.pk, page=self.page_name, name=name, defaults={"query": query}
        )
        self._record(request, "saved_view.save", kept)

    @transaction.atomic
    def delete_view_of(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Forget one of the person's own views."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        kept = get_object_or_404(SavedView, pk=pk, owner_id=request.user.pk, page=self.page_name)
        self._record(request, "saved_view.delete", kept)
        kept.delete()
        messages.success(request, f"Deleted the view {kept.name}.")
        return redirect(f"{reverse(f'admin:{self.page_name}_changelist')}?{kept.query}")

    def _record(self, request: HttpRequest, action: str, kept: SavedView) -> None:
        record(
            Actor.of_request(request), action, workspace_id=None, object_type="SavedView",
            object_id=kept.pk, details={"name": kept.name, "page": kept.page},
        )  # fmt: skip


def filters_in(query: QueryDict) -> str:
    """The filters of an address in an order of their own, so that two spellings are one view."""
    pairs = [
        (name, value)
        for name in sorted(query)
        if name not in PASSING
        for value in query.getlist(name)
        if value
    ]
    return urlencode(pairs)
