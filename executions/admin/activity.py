"""The audit trail in the admin: read it, filter it and export it."""

import json
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from ipaddress import ip_address
from typing import Any

from django.contrib import admin
from django.contrib.admin import SimpleListFilter
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase, HttpResponseNotAllowed
from django.urls import path, reverse
from django.utils.translation import gettext

from executions.access import Action
from executions.access.actor import Actor
from executions.admin import links, marks
from executions.admin.base import FactAdmin
from executions.admin.scope import is_superuser, reach
from executions.admin.sections import Page, PageSection, facts, json_section
from executions.admin.skin import RangeDateFilter, TextFilter, display
from executions.audit import export, trail
from executions.language import lazy
from executions.models import Activity

# Filters of the audit trail: user, action, kind of object, time, origin.


# Groups of actions, by the prefix of the action's name.
GROUPS = {
    "workflow.": lazy("workflows"),
    "trigger.": lazy("triggers"),
    "execution.": lazy("executions"),
    "run.": lazy("runs"),
    "dead_letter.": lazy("dead letters"),
    "event.": lazy("events"),
    "message.": lazy("refused messages"),
    "payload.": lazy("revealed payloads"),
    "credential.": lazy("credentials"),
    "account.": lazy("sign-ins"),
    "user.": lazy("users"),
    "group.": lazy("groups"),
    "membership.": lazy("members"),
    "service_account.": lazy("service accounts"),
    "api_token.": lazy("API tokens"),
    "workspace.": lazy("workspaces"),
    "tier.": lazy("tiers"),
    "quota.": lazy("quotas"),
    "activity.": lazy("activity log exports"),
}
OBJECTS = (
    "ApiToken", "Credential", "DeadLetterQueue", "Event", "Group", "Membership", "Quota",
    "RefusedMessage", "Run", "ServiceAccount", "Tier", "Trigger", "User", "Workflow",
    "WorkflowExecution", "Workspace",
)  # fmt: skip


class PersonFilter(TextFilter):
    """Filter by the exact name of a user or of a part of the engine."""

    title = lazy("actor")
    parameter_name = "who"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the rows of the actor with the entered name; all rows if no name is entered."""
        name = (self.value() or "").strip()
        return queryset.filter(actor_name=name) if name else queryset


class AddressFilter(TextFilter):
    """Filter by the caller's address; an invalid address matches nothing."""

    title = lazy("address")
    parameter_name = "address"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the rows from the entered address: all if it is empty, none if it is invalid."""
        text = (self.value() or "").strip()
        if not text:
            return queryset
        try:
            return queryset.filter(address=str(ip_address(text)))
        except ValueError:
            return queryset.none()


class ActionFilter(SimpleListFilter):
    """Filter by kind of action."""

    title = lazy("action")
    parameter_name = "did"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        """Return the groups of actions to choose from."""
        return list(GROUPS.items())

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the rows whose action has the chosen prefix; all rows if none is chosen."""
        start = self.value()
        return queryset.filter(action__startswith=start) if start in GROUPS else queryset


class ObjectFilter(SimpleListFilter):
    """Filter by kind of object."""

    title = lazy("object type")
    parameter_name = "object"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        """Return the kinds of objects to choose from."""
        return [(name, name) for name in OBJECTS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the rows about objects of the chosen kind; all rows if none is chosen."""
        return queryset.filter(object_type=self.value()) if self.value() else queryset


class DaysFilter(RangeDateFilter):
    """Filter from a first day to a last day, both inclusive, in UTC; invalid days are ignored."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = lazy("day")

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the rows from the first to the last selected day; a missing day sets no limit."""
        first, last = (
            _day(self.used_parameters.get(f"created_at_{end}")) for end in ("from", "to")
        )
        if first is not None:
            queryset = queryset.filter(created_at__gte=first)
        if last is not None:
            queryset = queryset.filter(created_at__lt=last + timedelta(days=1))
        return queryset


def _day(text: Any) -> datetime | None:
    try:
        day = date.fromisoformat(str(text))
        return datetime(day.year, day.month, day.day, tzinfo=UTC) if day.year < 9999 else None
    except ValueError:
        return None


@admin.register(Activity)
class ActivityAdmin(FactAdmin):
    """The audit trail: the actor, the action, the object, the time, the origin and the reason."""

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
    empty_text = lazy("No activity yet.")
    search_ids = ("id", "object_id")
    search_texts = ("actor_name", "action")

    @display(description=lazy("when"))
    def when(self, row: Activity) -> Any:
        """Return the time since the action."""
        return marks.ago(row.created_at)

    @display(description=lazy("actor"))
    def who(self, row: Activity) -> str:
        """Return the name of the user or of the part of the engine; a dash if there is no name."""
        return row.actor_name or marks.EMPTY

    @display(description=lazy("object ID"))
    def object_link(self, row: Activity) -> Any:
        """Return the object's ID, linked to its page if there is one; a dash if there is no ID."""
        return _linked(row, marks.short(row.object_id)) if row.object_id else marks.EMPTY

    @display(description=lazy("reason"))
    def reason_short(self, row: Activity) -> str:
        """Return the beginning of the reason; a dash if there is no reason."""
        return marks.clipped(row.reason) or marks.EMPTY

    def get_urls(self) -> Any:
        """Return Django's URLs and the URL of the export."""
        view = self.admin_site.admin_view(self.export_view)
        return [
            path("export/", view, name=f"{self.opts.app_label}_activity_export"),
            *super().get_urls(),
        ]

    def export_view(self, request: HttpRequest) -> HttpResponseBase:
        """Export the list's filtered rows as JSON lines.

        Only POST is allowed, because the audit trail records the export.
        """
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not self.has_view_permission(request):
            raise PermissionDenied
        rows = self.filtered(request).get_queryset(request).defer(None)
        everything = is_superuser(request)
        workspaces = None if everything else reach(request).workspaces(Action.ADMINISTER)
        actor = Actor.of_request(request)
        exported = export.begin(rows, workspaces, request.GET.dict(), actor)
        return export.answer(request, exported)

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the page of a row of the audit trail, with the changed values."""
        about = _linked(obj, obj.object_id) if obj.object_id else ""
        return Page(
            [f"{obj.actor_name}: {obj.action}"],
            facts(
                [
                    (gettext("When"), marks.ago(obj.created_at)),
                    (gettext("Workspace"), str(obj.workspace or gettext("the whole installation"))),
                    (gettext("Actor"), obj.actor_name),
                    (gettext("Via"), obj.via),
                    (gettext("From"), obj.address),
                    (gettext("Action"), obj.action),
                    (gettext("Object"), obj.object_type),
                    (gettext("Object ID"), about),
                    (gettext("Reason"), obj.reason),
                    (gettext("ID"), marks.copyable(obj.pk)),
                ]
            ),
            [
                _difference(obj),
                json_section(gettext("Details"), obj.details, folded=not obj.details),
            ],
        )


def _difference(row: Activity) -> PageSection:
    """Return a section with one row per changed field: its name, old value and new value."""
    before, after = row.before or {}, row.after or {}
    names = sorted({*before, *after})
    return PageSection(
        gettext("Changes"),
        headers=(gettext("Field"), gettext("Before"), gettext("After")),
        rows=[[name, _text(before, name), _text(after, name)] for name in names],
        empty=gettext("No field changes are recorded for this action."),
    )


def _text(values: dict[str, Any], name: str) -> str:
    if name not in values or values[name] in (None, ""):
        return marks.EMPTY
    value = values[name]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _linked(row: Activity, text: Any) -> Any:
    model = trail.model_of(row.object_type)
    if model is None or not admin.site.is_registered(model):
        return text
    name = f"{model._meta.app_label}_{model._meta.model_name}"
    return links.link(reverse(f"admin:{name}_change", args=[row.object_id]), text)


# The actions of users and programs on one object, on its page.


SHOWN = 20
HEADERS = (lazy("When"), lazy("Actor"), lazy("Via"), lazy("Action"), lazy("Reason"))


def done_to(pk: Any) -> PageSection:
    """Return a section with the newest 20 rows of the audit trail about the object with this ID."""
    rows = Activity.objects.filter(object_id=str(pk)).order_by("-created_at", "-id")
    found = rows.only("created_at", "actor_name", "via", "action", "reason")[:SHOWN]
    return PageSection(
        gettext("Activity"),
        headers=HEADERS,
        rows=[
            [
                marks.ago(row.created_at),
                row.actor_name,
                row.via or marks.EMPTY,
                row.action,
                marks.clipped(row.reason) or marks.EMPTY,
            ]
            for row in found
        ],
        empty=gettext("No activity."),
        folded=True,
    )
