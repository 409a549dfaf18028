"""The audit trail, to read and to take away."""

import json
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase, HttpResponseNotAllowed
from django.urls import path, reverse
from unfold.decorators import display

from executions.access import Action
from executions.access.actor import Actor
from executions.admin import links, marks
from executions.admin.activity_filters import (
    ActionFilter,
    AddressFilter,
    DaysFilter,
    ObjectFilter,
    PersonFilter,
)
from executions.admin.engine import FactAdmin
from executions.admin.scope import is_superuser, reach
from executions.admin.sections import Page, PageSection, facts, json_section
from executions.audit import download, export, subjects
from executions.models import Activity


@admin.register(Activity)
class ActivityAdmin(FactAdmin):
    """Who did what to which object, when, from where and why."""

    needs = Action.ADMINISTER
    list_display = (
        "when", "who", "via", "address", "action", "object_type", "object_link",
        "reason_short",
    )  # fmt: skip
    list_display_links = ("when",)
    list_filter = (
        PersonFilter,
        AddressFilter,
        ("created_at", DaysFilter),
        ActionFilter,
        ObjectFilter,
    )
    list_filter_submit = True
    list_before_template = "valkyr/activity.html"
    list_defer = ("before", "after", "details")
    ordering = ("-id",)
    empty_text = "Nobody has done anything yet."
    search_ids = ("id", "object_id")
    search_texts = ("actor_name", "action")

    @display(description="when")
    def when(self, row: Activity) -> Any:
        """How long ago."""
        return marks.ago(row.created_at)

    @display(description="who")
    def who(self, row: Activity) -> str:
        """The account's name, or the part of the engine's."""
        return row.actor_name or marks.EMPTY

    @display(description="id")
    def object_link(self, row: Activity) -> Any:
        """The object's page, where it has one, under its id."""
        return _linked(row, marks.short(row.object_id)) if row.object_id else marks.EMPTY

    @display(description="reason")
    def reason_short(self, row: Activity) -> str:
        """The beginning of the reason."""
        return marks.clipped(row.reason) or marks.EMPTY

    def get_urls(self) -> Any:
        """As Django's, and the export."""
        view = self.admin_site.admin_view(self.export_view)
        return [path("export/", view, name="executions_activity_export"), *super().get_urls()]

    def export_view(self, request: HttpRequest) -> HttpResponseBase:
        """The rows of the list, as its filters are, as JSON lines; recorded, so not by GET."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not self.has_view_permission(request):
            raise PermissionDenied
        rows = self.get_changelist_instance(request).get_queryset(request).defer(None)
        everything = is_superuser(request)
        workspaces = None if everything else reach(request).workspaces(Action.ADMINISTER)
        actor = Actor.of_request(request)
        exported = export.begin(rows, workspaces, request.GET.dict(), actor)
        return download.answer(request, exported)

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """One line of the trail."""
        about = _linked(obj, obj.object_id) if obj.object_id else ""
        return Page(
            [f"{obj.actor_name}: {obj.action}"],
            facts(
                [
                    ("When", marks.ago(obj.created_at)),
                    ("Workspace", str(obj.workspace or "the whole installation")),
                    ("Who", obj.actor_name),
                    ("Via", obj.via),
                    ("From", obj.address),
                    ("Action", obj.action),
                    ("Object", obj.object_type),
                    ("Object id", about),
                    ("Reason", obj.reason),
                    ("Id", marks.copyable(obj.pk)),
                ]
            ),
            [_difference(obj), json_section("Details", obj.details, folded=not obj.details)],
        )


def _difference(row: Activity) -> PageSection:
    """A line a field, with what it was and what it is since."""
    before, after = row.before or {}, row.after or {}
    names = sorted({*before, *after})
    return PageSection(
        "What changed",
        headers=("Field", "Before", "After"),
        rows=[[name, _text(before, name), _text(after, name)] for name in names],
        empty="Nothing is kept of it but that it was done.",
    )


def _text(values: dict[str, Any], name: str) -> str:
    if name not in values or values[name] in (None, ""):
        return marks.EMPTY
    value = values[name]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _linked(row: Activity, text: Any) -> Any:
    model = subjects.model_of(row.object_type)
    if model is None or not admin.site.is_registered(model):
        return text
    name = f"{model._meta.app_label}_{model._meta.model_name}"
    return links.link(reverse(f"admin:{name}_change", args=[row.object_id]), text)
