"""Quotas and their use, for users who configure a workspace."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import (
    BigIntegerField,
    Count,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
)
from django.db.models.functions import Coalesce
from django.db.models.lookups import IsNull
from django.http import HttpRequest
from django.utils.translation import gettext

from executions.public.access import name_path
from executions.public.admin import marks
from executions.public.admin_skin import display
from executions.public.database import ClockTimestamp, database_now
from executions.public.language import lazy
from executions.public.models import QuotaUse
from executions.public.quotas import QuotaWindow, start_of
from runners.public.admin import HELD_BY
from runners.public.models import WaitKind
from valkyr_plugins.limits import quotas
from valkyr_plugins.limits.admin.limits import LimitAdmin, NewLimitForm, bar, deletion
from valkyr_plugins.limits.models import Quota, QuotaHold, Resource
from valkyr_plugins.limits.quotas import LIMITS, QUOTAS, QuotaRefused, check, described

HELP = {
    "resource": lazy("Executions started, steps of one module type, or tokens of language models."),
    "target": lazy(
        "A module type, such as http.request; for tokens, a model. Leave empty for all models or "
        "for executions."
    ),
    "max_concurrent": lazy(
        "Maximum number of concurrent steps of the module type. Leave empty for no limit."
    ),
    "max_per_hour": lazy("Per full hour (UTC). Leave empty for no limit; 0 allows none."),
    "max_per_day": lazy("Per day (UTC). Leave empty for no limit; 0 allows none."),
}
HELD_BY[WaitKind.QUOTA] = quotas.described_hold


class QuotaForm(forms.ModelForm):  # type: ignore[type-arg] # not subscriptable at run time
    """The form for a quota's concurrent, hourly and daily limits."""

    class Meta:
        model = Quota
        fields: tuple[str, ...] = LIMITS
        help_texts = HELP

    def clean(self) -> dict[str, Any]:
        """Check the form. Raises ValidationError for a wrong target or wrong limits."""
        data = super().clean() or {}
        if not self.errors:
            what = {"resource": self.instance.resource, "target": self.instance.target}
            what |= {name: data[name] for name in (*what, *LIMITS) if name in data}
            try:
                check(Quota(**what))
            except QuotaRefused as refused:
                raise forms.ValidationError(refused.message) from None
        return data


class NewQuotaForm(NewLimitForm, QuotaForm):
    """The form for a new quota: its workspace or member, its resource and its limits."""

    class Meta(QuotaForm.Meta):
        fields = ("workspace", "resource", "target", *LIMITS)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["resource"].required = False

    def clean_resource(self) -> str:
        """Return the chosen resource; executions if none was chosen."""
        return str(self.cleaned_data.get("resource") or Resource.EXECUTIONS)


@admin.register(Quota)
class QuotaAdmin(LimitAdmin):
    """The admin pages of quotas: limits on what a workspace, or a member, may start or use."""

    kind, form_of_new, form_of_old = QUOTAS, NewQuotaForm, QuotaForm
    said_once, told = ("resource", "target"), "what"
    uses = ("at_once", "this_hour", "today")
    operations = (
        deletion(
            QUOTAS,
            lazy("Removes the quota immediately. The workspace's tier still applies."),
        ),
    )
    list_display = ("whose", "what", "workspace", "at_once", "this_hour", "today", "since")
    search_texts = (name_path(), "workspace__slug", "target")
    empty_text = lazy("No quotas. Only the workspaces' tiers limit executions.")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the quotas that the user may see, with their use in the current windows."""
        now = database_now()
        used = {
            f"used_{window.value}": _used(window, start_of(window, now)) for window in QuotaWindow
        }
        rows: QuerySet[Any] = super().get_queryset(request).annotate(**used, held=_held())
        return rows

    @display(description=lazy("resource"))
    def what(self, row: Quota) -> str:
        """Return the limited resource: executions, steps of a module type, or tokens."""
        return described(row)

    @display(description=lazy("concurrent"))
    def at_once(self, row: Any) -> Any:
        """Return a bar of the held slots and their limit."""
        return _bar(row.held, row.max_concurrent)

    @display(description=lazy("this hour"))
    def this_hour(self, row: Any) -> Any:
        """Return a bar of the use in this hour and the hourly limit."""
        return _bar(row.used_hour, row.max_per_hour)

    @display(description=lazy("today (UTC)"))
    def today(self, row: Any) -> Any:
        """Return a bar of the use today and the daily limit."""
        return _bar(row.used_day, row.max_per_day)


def _used(window: QuotaWindow, starts_at: Any) -> Coalesce:
    """Return the database expression for a quota's use in a window; 0 if there is no row."""
    everybodys = Q(user_id__isnull=True) & Q(IsNull(OuterRef("user_id"), True))
    rows = QuotaUse.objects.filter(
        Q(user_id=OuterRef("user_id")) | everybodys,
        workspace_id=OuterRef("workspace_id"),
        resource=OuterRef("resource"),
        target=OuterRef("target"),
        window=window,
        starts_at=starts_at,
    )
    return Coalesce(Subquery(rows.values("used")[:1]), Value(0), output_field=BigIntegerField())


def _held() -> Coalesce:
    """Return the database expression for the number of a quota's slots that are in use."""
    rows = QuotaHold.objects.filter(quota=OuterRef("pk"), until__gt=ClockTimestamp()).order_by()
    counts = rows.values("quota").annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(counts), Value(0), output_field=IntegerField())


def _bar(used: int, limit: int | None) -> Any:
    """Return a bar with text such as `37 of 100`; a dash if there is no limit."""
    if limit is None:
        return marks.EMPTY
    return bar(
        min(used, limit) if limit else 1,
        max(limit, 1),
        gettext("{used:,} of {limit:,}").format(used=used, limit=limit),
    )
