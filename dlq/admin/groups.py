"""The admin of failure groups: a list for triage, and a page for each group."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from dlq.admin import groups_filters
from dlq.admin.additions import add_action, links_of, progress_of
from dlq.admin.exporting import EXPORT_URL_NAME
from dlq.admin.groups_filters import GroupFieldsFilter, GroupFigures, StatusFilter, status_counts
from dlq.admin.groups_operations import OPERATIONS
from dlq.admin.groups_page import facts_of, sections, sentence, sparkline
from dlq.admin.status_labels import status
from dlq.admin.triage_list import TriageList
from dlq.models import FailureGroup
from executions.access.powers import Power
from executions.admin import links, marks
from executions.admin.actions import OperatingAdmin
from executions.admin.base import FactAdmin
from executions.admin.scope import holds
from executions.admin.search import FINDERS, by_id
from executions.admin.sections import Page, facts
from executions.admin.skin import display
from executions.language import lazy

ENTRIES = "dlq_deadletterentry"
SOON = timedelta(days=3)  # the list shows deletions that are due within this time
MANY = 50  # maximum number of groups in one list of dead letters
# The operations that a row's menu offers.
IN_ROWS = ("acknowledge", "assign", "note", "snooze", "resolve", "ignore")
# The operations of a group's page with buttons outside its menu.
IN_SIGHT = ("acknowledge", "resolve")
# Keyboard keys of buttons, by the end of the button's address.
KEYS = {"acknowledge": "a", "note": "m", "snooze": "s"}


@admin.register(FailureGroup)
class FailureGroupAdmin(TriageList, OperatingAdmin, FactAdmin):
    """The admin of failure groups, which the engine creates and updates, and users triage."""

    operations = OPERATIONS
    list_display = ("failure", "where", "many", "mark", "seen", "trend")
    change_form_outer_before_template = "dlq/group.html"
    list_display_links = ("failure",)
    list_select_related = ("workflow", "owner")
    list_filter = (StatusFilter, GroupFieldsFilter)
    list_defer = ("sample", "workflow__definition")
    ordering = ("-last_seen", "-id")
    orders = {
        "seen": (lazy("last seen"), ("last_seen", "id")),
        "open": (lazy("open dead letters"), ("open", "id")),
        "count": (lazy("total dead letters"), ("total", "id")),
        "growth": (lazy("growth in 24 hours"), ("growth", "id")),
    }
    empty_text = lazy("No failures need attention.")
    empty_about = lazy(
        "A step that fails permanently becomes a dead letter. Dead letters with the same cause "
        "form a failure group, which you triage and requeue together."
    )
    search_ids = ("id",)
    search_texts = ("message", "exception", "place", "sample")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the groups that the user may see; the list omits merged groups."""
        rows = super().get_queryset(request)
        match = request.resolver_match
        is_list = match is not None and (match.url_name or "").endswith("_changelist")
        if not is_list:
            return rows
        rows = rows.filter(merged_into=None)
        return self.ordered(rows, self.order_of(request))

    def ordered(self, rows: QuerySet[Any], order: tuple[str, ...]) -> QuerySet[Any]:
        """Return the rows, annotated with `growth` if the list is ordered by it."""
        known = rows.query.annotations
        return (
            groups_filters.with_growth(rows)
            if "growth" in order and "growth" not in known
            else rows
        )

    def prepare(self, request: HttpRequest, rows: list[Any]) -> None:
        """Load the figures and the plugins' links of the groups on the page, in a few queries."""
        found = groups_filters.figures(rows)
        for row in rows:
            row.figures = found[row.pk]
            row.plugin_links = links_of(request, row)

    def tab_counts(self, request: HttpRequest, changelist: Any) -> dict[str, int]:
        """Return the number of groups in each tab; {} for over 10,000 groups or after a timeout."""
        return status_counts(self.behind_tabs(request, changelist))

    @display(description=lazy("failure"))
    def failure(self, row: FailureGroup) -> Any:
        """Return the exception in bold; below it, the normalised message or, if empty, a sample."""
        return format_html(
            '<span class="vk-error-type">{}</span><span class="vk-error-text">{}</span>',
            row.exception or gettext("Failure"),
            marks.clipped(row.message or row.sample, 140),
        )

    @display(description=lazy("workflow, step, versions"))
    def where(self, row: Any) -> Any:
        """Return the workflow, the step's path, and the first and last version with a failure."""
        return format_html(
            '{}<br>{}<br><span class="vk-subtle">{}</span>',
            marks.clipped(row.workflow.name, 40),
            marks.path(row.place),
            _versions(row.figures),
        )

    @display(description=lazy("open"))
    def many(self, row: Any) -> Any:
        """Return the numbers of open failures (a link) and of all failures, and plugins' links."""
        return format_html(
            gettext(
                '<span class="vk-count"><a class="vk-link" href="{}"><strong>{}</strong> open</a>'
                "<br>of {}{}</span>"
            ),
            links.listing(ENTRIES, group=row.pk),
            f"{max(0, row.open):,}",
            f"{row.total:,}",
            format_html_join(
                "",
                '<br><a class="vk-link" href="{}" data-row-key="{}">{}</a>',
                ((link.path, link.key, link.title) for link in row.plugin_links),
            ),
        )

    @display(description=lazy("last 24 h, 7 d"))
    def trend(self, row: Any) -> Any:
        """Return the sparklines of the last 24 hours and 7 days, each with its maximum."""
        own: GroupFigures = row.figures
        day = gettext("{count:,} in the last 24 hours, at most {top:,} in one hour")
        week = gettext("{count:,} in the last 7 days, at most {top:,} in six hours")
        return format_html(
            '<span class="vk-trend">{}{}</span>',
            _scaled(own.day, gettext("24 h"), day),
            _scaled(own.week, gettext("7 d"), week),
        )

    @display(description=lazy("last seen"))
    def seen(self, row: Any) -> Any:
        """Return how long ago the last failure was, with all dates on hover.

        If a dead letter of the group expires within 3 days, the time of its expiry is added.
        """
        own: GroupFigures = row.figures
        now = timezone.now()
        dates = [
            (gettext("last"), row.last_seen),
            (gettext("first"), row.first_seen),
            (gettext("oldest open"), own.oldest_open),
            (gettext("expires"), own.expires),
        ]
        every = "\n".join(f"{word}: {at:%Y-%m-%d %H:%M} UTC" for word, at in dates if at)
        last = format_html(
            '<time datetime="{}" title="{}" class="vk-nowrap">{}</time>',
            row.last_seen.isoformat(),
            every,
            gettext("{time} ago").format(time=marks.span(abs(now - row.last_seen))),
        )
        if own.expires is None or own.expires - now > SOON:
            return last
        return format_html(
            '{}<br><span class="vk-nowrap"><span class="vk-subtle">{}</span> {}</span>',
            last,
            gettext("expires"),
            marks.ago(own.expires, now),
        )

    @display(description=lazy("status, owner"))
    def mark(self, row: FailureGroup) -> Any:
        """Return the status's badge and the owner, and "muted" if alerts are muted."""
        words = [str(row.owner)] if row.owner else []
        words += [gettext("muted")] if row.muted else []
        return format_html('{}<br><span class="vk-subtle">{}</span>', status(row), ", ".join(words))

    @admin.action(description=lazy("Show dead letters"), permissions=["view"])
    def show_entries(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse:
        """Open the list of the dead letters of up to 50 groups, for example to requeue them all."""
        ids = [str(pk) for pk in queryset.values_list("pk", flat=True)[:MANY]]
        return HttpResponseRedirect(links.listing(ENTRIES, group=",".join(ids)))

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: Model | None = None,
    ) -> HttpResponse:
        """Render the page with its buttons, and with the plugins' links and progress panels."""
        buttons = [
            button | {"key": KEYS.get(_name(button), "")}
            for button in context.get("actions_detail", [])
        ]
        context["buttons"] = [button for button in buttons if _name(button) in IN_SIGHT]
        context["more"] = [button for button in buttons if _name(button) not in IN_SIGHT]
        context["actions_detail"] = []
        if isinstance(obj, FailureGroup):
            context["plugin_links"] = links_of(request, obj)
            context["progress"] = progress_of(request, obj)
            context["live"] = any(panel.live for panel in context["progress"])
            export = reverse(f"admin:{EXPORT_URL_NAME}")
            context["export"] = f"{export}?group={obj.pk}&resolution=all"
        return super().render_change_form(request, context, add, change, form_url, obj)

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the page of one failure group."""
        found = groups_filters.figures([obj])[obj.pk]
        return Page(
            [status(obj), sentence(obj, found)],
            facts(facts_of(obj, found)),
            sections(request, obj, found),
        )


def _name(button: Any) -> str:
    return str(button["path"]).rstrip("/").rsplit("/", 1)[-1]


def _scaled(counts: Sequence[int], period: str, words: str) -> SafeString:
    """Return a sparkline with its period, and the count that its highest bar represents."""
    top = max(counts)
    return format_html(
        '<span>{} <span class="vk-nowrap">{}{}</span></span>',
        sparkline(counts, words.format(count=sum(counts), top=top)),
        period.replace(" ", marks.NO_BREAK),
        gettext(", max {top:,}").format(top=top) if top else "",
    )


def _versions(figures: GroupFigures) -> str:
    least, greatest, _ = figures.versions
    if not greatest:
        return ""
    return (
        f"v{least}"
        if least == greatest
        else gettext("v{least} to v{greatest}").format(least=least, greatest=greatest)
    )


def add_group_action(
    name: str, action: Callable[..., HttpResponse | None], power: Power, title: str
) -> None:
    """Add an action on selected groups, for users with `power` on at least one object."""

    def permitted(admin: FailureGroupAdmin, request: HttpRequest) -> bool:
        return holds(request, power)

    setattr(FailureGroupAdmin, f"has_{name}_permission", permitted)
    add_action(
        FailureGroupAdmin, name, action, short_description=title, allowed_permissions=(name,)
    )


# After the actions that the class generates from the operations. The other operations are only on
# the group's page.
FailureGroupAdmin.actions = (*(FailureGroupAdmin.actions or ()), "show_entries")
FailureGroupAdmin.actions_row = tuple(f"operate_{name}" for name in IN_ROWS)
FINDERS.append(by_id(FailureGroup, lazy("failure group"), "report"))
