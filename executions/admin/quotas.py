"""Quotas, with how much of them is used, for who configures a workspace."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import (
    BigIntegerField,
    Count,
    IntegerField,
    OuterRef,
    QuerySet,
    Subquery,
    Value,
)
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.utils.html import format_html
from unfold.decorators import display

from executions.access.actor import Actor
from executions.admin import links, marks
from executions.admin.operating import OperatingAdmin
from executions.admin.operations import Operation
from executions.admin.quota_forms import NewQuotaForm, QuotaForm
from executions.admin.writing import WritingAdmin
from executions.database.clock import ClockTimestamp, database_now
from executions.models import Quota, QuotaHold, QuotaUse
from executions.quotas.rules import LIMITS, described
from executions.quotas.setting import change_quota, create_quota, delete_quota
from executions.quotas.windows import start_of
from executions.states import Permission, QuotaWindow

NOBODY = -1


def _delete(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> None:
    delete_quota(pk, actor=actor, reason=data["reason"])


DELETE = Operation(
    name="delete_quota",
    title="Delete…",
    icon="delete",
    done="deleted",
    question="Nothing of it holds any more, at once. The workspace's tier goes on limiting.",
    apply=_delete,
    needs=Permission.CONFIGURE,
    danger=True,
    destination=lambda _: links.listing("executions_quota"),
)


@admin.register(Quota)
class QuotaAdmin(OperatingAdmin, WritingAdmin):
    """How much a workspace, or one of its members, may start, do or use."""

    operations = (DELETE,)
    list_display = ("whose", "what", "workspace", "at_once", "this_hour", "today", "since")
    list_select_related = ("user", "workspace")
    search_ids = ("id",)
    search_texts = ("user__username", "workspace__slug", "target")
    needs = edits = Permission.CONFIGURE
    empty_text = "No quotas: only the workspaces' tiers limit what is started."

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """The quotas the person may see, with what is used in the present windows."""
        now = database_now()
        used = {
            f"used_{window.value}": _used(window, start_of(window, now)) for window in QuotaWindow
        }
        rows: QuerySet[Any] = super().get_queryset(request).annotate(**used, held=_held())
        return rows

    @display(description="limits")
    def whose(self, row: Quota) -> str:
        """The user, or the workspace as a whole."""
        return str(row.user) if row.user_id else "the whole workspace"

    @display(description="of")
    def what(self, row: Quota) -> str:
        """Executions, steps of a module type, or tokens."""
        return described(row)

    @display(description="at once")
    def at_once(self, row: Any) -> Any:
        """How many steps hold a place, of how many."""
        return _bar(row.held, row.max_concurrent)

    @display(description="this hour")
    def this_hour(self, row: Any) -> Any:
        """What is used of the limit by the hour."""
        return _bar(row.used_hour, row.max_per_hour)

    @display(description="today (UTC)")
    def today(self, row: Any) -> Any:
        """What is used of the limit by the day."""
        return _bar(row.used_day, row.max_per_day)

    @display(description="since")
    def since(self, row: Quota) -> Any:
        """How long it exists."""
        return marks.ago(row.created_at)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Who is limited is said once, and stays."""
        if obj is None:
            return ("workspace", "username", "resource", "target", *LIMITS)
        return ("workspace", "whose", "what", *LIMITS, "at_once", "this_hour", "today")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """A quota is one workspace's, or one member's in it."""
        shown = ("workspace", "whose", "what", "at_once", "this_hour", "today")
        return () if obj is None else shown

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        """The form that says who is limited, or the one that does not."""
        kwargs["form"] = NewQuotaForm if obj is None else QuotaForm
        return super().get_form(request, obj, change, **kwargs)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """They are deleted by the operation, which writes down why."""
        return False

    def write(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> Quota:
        """Make it, or set other limits."""
        actor, data = Actor.of_request(request), form.cleaned_data
        limits = {name: data[name] for name in LIMITS}
        if change:
            return change_quota(obj.pk, limits, actor=actor)
        return create_quota(
            data["workspace"],
            limits,
            user_id=data["user_id"],
            resource=data["resource"],
            target=data["target"],
            actor=actor,
        )


def _used(window: QuotaWindow, starts_at: Any) -> Coalesce:
    """What a quota's counter says of one window."""
    mine = Coalesce(OuterRef("user_id"), Value(NOBODY), output_field=IntegerField())
    rows = QuotaUse.objects.annotate(whose=Coalesce("user_id", Value(NOBODY))).filter(
        workspace_id=OuterRef("workspace_id"),
        whose=mine,
        resource=OuterRef("resource"),
        target=OuterRef("target"),
        window=window,
        starts_at=starts_at,
    )
    return Coalesce(Subquery(rows.values("used")[:1]), Value(0), output_field=BigIntegerField())


def _held() -> Coalesce:
    """How many places of a quota are held."""
    rows = QuotaHold.objects.filter(quota=OuterRef("pk"), until__gt=ClockTimestamp()).order_by()
    counts = rows.values("quota").annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(counts), Value(0), output_field=IntegerField())


def _bar(used: int, limit: int | None) -> Any:
    """`37 of 100` with a bar; a dash where nothing is limited."""
    if limit is None:
        return marks.EMPTY
    return format_html(
        '<progress class="vk-bar" max="{}" value="{}" aria-hidden="true"></progress>'
        '<span class="vk-nowrap">{} of {}</span>',
        max(limit, 1),
        min(used, limit) if limit else 1,
        f"{used:,}",
        f"{limit:,}",
    )
