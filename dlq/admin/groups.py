"""Failure groups, the front page of triage: a row a kind of failure, and a page for each."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from unfold.decorators import display

from dlq.admin import group_figures
from dlq.admin.group_figures import Figures
from dlq.admin.groups_filters import GroupFieldsFilter, StatusFilter
from dlq.admin.groups_marks import status
from dlq.admin.groups_operations import OPERATIONS
from dlq.admin.groups_page import facts_of, sections, sentence
from dlq.admin.groups_redriving import redrive_address
from dlq.admin.sparkline import sparkline
from dlq.admin.triage_list import TriageList
from dlq.models import FailureGroup
from executions.admin import links, marks
from executions.admin.engine import FactAdmin
from executions.admin.operating import OperatingAdmin
from executions.admin.sections import Page, facts

ENTRIES = "dlq_deadletterentry"


@admin.register(FailureGroup)
class FailureGroupAdmin(TriageList, OperatingAdmin, FactAdmin):
    """The counters and their one writer own these rows; people say what is to be made of them."""

    operations = OPERATIONS
    list_display = (
        "failure", "where", "many", "trend", "seen", "versions", "waiting", "whose", "mark",
    )  # fmt: skip
    list_display_links = ("failure",)
    list_select_related = ("workflow", "owner")
    list_filter = (StatusFilter, GroupFieldsFilter)
    list_defer = ("sample", "workflow__definition")
    ordering = ("-last_seen", "-id")
    orders = {
        "seen": ("last seen", ("last_seen", "id")),
        "open": ("open ones", ("open", "id")),
        "count": ("all ever seen", ("total", "id")),
        "growth": ("growth of 24 hours", ("growth", "id")),
    }
    empty_text = "No failures to look at: every step was done, or its failures are dealt with."
    search_ids = ("id",)
    search_texts = ("message", "exception", "place", "sample")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """The groups the person may see; lists leave out those that are no more."""
        rows = super().get_queryset(request)
        match = request.resolver_match
        is_list = match is not None and (match.url_name or "").endswith("_changelist")
        if not is_list:
            return rows
        rows = rows.filter(merged_into=None)
        return self.ordered(rows, self.order_of(request))

    def ordered(self, rows: QuerySet[Any], order: tuple[str, ...]) -> QuerySet[Any]:
        """With the growth, where the list is ordered by it."""
        known = rows.query.annotations
        return (
            group_figures.with_growth(rows) if "growth" in order and "growth" not in known else rows
        )

    def prepare(self, request: HttpRequest, rows: list[Any]) -> None:
        """Sparklines, versions and what waits longest, for the whole page."""
        found = group_figures.figures(rows)
        for row in rows:
            row.figures = found[row.pk]

    @display(description="failure")
    def failure(self, row: FailureGroup) -> Any:
        """The exception in bold, the normalised message below."""
        return format_html(
            '<span class="vk-error-type">{}</span><span class="vk-error-text">{}</span>',
            row.exception or "Failure",
            marks.clipped(row.message or row.sample, 140),
        )

    @display(description="workflow, step")
    def where(self, row: FailureGroup) -> Any:
        """Where it fails."""
        return format_html("{}<br>{}", marks.clipped(row.workflow.name, 40), marks.path(row.place))

    @display(description="open")
    def many(self, row: FailureGroup) -> Any:
        """How many are open, of how many ever seen; the link leads to them."""
        address = links.listing(ENTRIES, group=row.pk)
        return format_html(
            '<span class="vk-count"><a class="vk-link" href="{}"><strong>{}</strong> open</a>'
            "<br>of {}</span>",
            address,
            f"{max(0, row.open):,}",
            f"{row.total:,}",
        )

    @display(description="last 24 h, 7 d")
    def trend(self, row: Any) -> Any:
        """Two sparklines."""
        own: Figures = row.figures
        return format_html(
            '<span class="vk-trend"><span>{} 24{}h</span><span>{} 7{}d</span></span>',
            sparkline(own.day, f"{sum(own.day):,} in the last 24 hours"),
            marks.NO_BREAK,
            sparkline(own.week, f"{sum(own.week):,} in the last 7 days"),
            marks.NO_BREAK,
        )

    @display(description="last seen, first")
    def seen(self, row: FailureGroup) -> Any:
        """When last and when first."""
        return format_html("{}<br>{}", marks.ago(row.last_seen), marks.ago(row.first_seen))

    @display(description="versions")
    def versions(self, row: Any) -> str:
        """From the least to the greatest that was hit."""
        least, greatest, _ = row.figures.versions
        if not greatest:
            return marks.EMPTY
        return f"v{least}" if least == greatest else f"v{least} to v{greatest}"

    @display(description="oldest open, next expiry")
    def waiting(self, row: Any) -> Any:
        """How long the oldest open one waits, and when the next closed one is deleted."""
        own: Figures = row.figures
        return format_html("{}<br>{}", marks.ago(own.oldest_open), marks.ago(own.expires))

    @display(description="owner")
    def whose(self, row: FailureGroup) -> str:
        """Who takes care."""
        return str(row.owner or marks.EMPTY)

    @display(description="status")
    def mark(self, row: FailureGroup) -> Any:
        """The status's word, icon and colour; and whether its alerts are muted."""
        return format_html("{}{}", status(row), " muted" if row.muted else "")

    def links(self, request: HttpRequest, changelist: Any) -> list[tuple[str, str, str]]:
        """Nothing for all groups at once."""
        return []

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """All that is known of one kind of failure."""
        found = group_figures.figures([obj])[obj.pk]
        return Page(
            [status(obj), sentence(obj, found)],
            facts(facts_of(obj, found, redrive_address([obj.pk]))),
            sections(request, obj, found),
        )
