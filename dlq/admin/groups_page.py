"""The page of a failure group: failing step, number and times of failures, and history."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from dlq.admin.additions import GROUP_SECTIONS
from dlq.admin.groups_filters import GroupFigures
from dlq.admin.status_labels import resolution, status
from dlq.groups.facets import breakdown
from dlq.models import DeadLetterEntry, FailureGroup, GroupNote, GroupStatus, GroupVersion
from executions.admin import links, marks
from executions.admin.activity import done_to
from executions.admin.scope import scoped
from executions.admin.sections import PageSection, text_section

# Small bar charts of counts over time, oldest first, with labels. The server draws them.


HEIGHT = 22.0
LEAST = 1.5  # minimum height of a bar, so that one failure among thousands is visible


@dataclass(frozen=True, slots=True)
class SparklineBar:
    """One bar of a sparkline, in SVG units; y increases downwards."""

    x: float
    y: float
    width: float
    height: float


def bars(counts: Sequence[int], width: float = 4.0, height: float = HEIGHT) -> list[SparklineBar]:
    """Return a bar for each count above 0; its height is proportional, but at least `LEAST`."""
    top = max(counts, default=0)
    drawn = []
    for at, count in enumerate(counts):
        if count > 0:
            tall = max(LEAST, height * count / top)
            drawn.append(SparklineBar(at * width, height - tall, width - 1, tall))
    return drawn


def sparkline(counts: Sequence[int], said: str, *, wide: bool = False) -> SafeString:
    """Return the chart as SVG; `said` describes it for screen readers."""
    span = 4.0 * len(counts)
    # One path, because separate rectangles would be more than a thousand on a page of groups.
    drawn = "".join(
        f"M{bar.x:g} {bar.y:.1f}h{bar.width:g}v{bar.height:.1f}h-{bar.width:g}z"
        for bar in bars(counts)
    )
    return format_html(
        '<svg class="vk-spark{}" role="img" aria-label="{}" viewBox="0 0 {} {}" {}>'
        '<title>{}</title><path class="vk-spark-base" d="M0 {}h{}"></path>'
        '<path fill="currentColor" d="{}"></path></svg>',
        " vk-spark-wide" if wide else "",
        said,
        f"{span:g}",
        HEIGHT + 1,
        SafeString('preserveAspectRatio="none"')
        if wide
        else format_html('width="{}" height="{}"', f"{span:g}", HEIGHT + 1),
        said,
        HEIGHT + 0.5,
        f"{span:g}",
        drawn,
    )


ENTRIES, GROUPS = "dlq_deadletterentry", "dlq_failuregroup"
SHOWN = 10


def sentence(group: FailureGroup, figures: GroupFigures) -> SafeString:
    """Return a sentence about the failures or, for a merged group, about the merge."""
    if group.merged_into_id:
        into = links.to(GROUPS, group.merged_into_id, gettext("another group"))
        return format_html(
            gettext("Merged into {}, which now contains the failures of this group."), into
        )
    total = ngettext("{number:,} time", "{number:,} times", group.total).format(number=group.total)
    return format_html(
        gettext(
            "Step <strong>{}</strong> ({}) of {} has failed {} with <strong>{}</strong>, first {}, "
            "last {}; {} in the last 24 hours. {} open.{}"
        ),
        group.place,
        group.module,
        links.to("executions_workflow", group.workflow_id, group.workflow),
        total,
        group.exception or gettext("an error"),
        marks.ago(group.first_seen),
        marks.ago(group.last_seen),
        f"{sum(figures.day):,}",
        f"{max(0, group.open):,}",
        format_html(" {}", terms(group)),
    )


def terms(group: FailureGroup) -> SafeString | str:
    """Return, as text, when the snooze ends or a resolved group regresses; "" for other groups."""
    if group.status == GroupStatus.RESOLVED:
        if group.resolved_in:
            return gettext(
                "Resolved in version {resolved_in}; a new failure in this or a later version "
                "reopens the group as regressed."
            ).format(resolved_in=group.resolved_in)
        return gettext("Resolved; a new failure reopens the group as regressed.")
    if group.status != GroupStatus.SNOOZED:
        return ""
    ends: list[Any] = []
    if group.snoozed_until:
        ends.append(marks.ago(group.snoozed_until))
    if group.snoozed_total is not None:
        ends.append(
            gettext("after {snoozed_total:,} failures in total").format(
                snoozed_total=group.snoozed_total
            )
        )
    if group.snoozed_version is not None:
        ends.append(
            gettext("after a failure in a version later than {snoozed_version}").format(
                snoozed_version=group.snoozed_version
            )
        )
    return format_html(
        gettext("The snooze ends {}."),
        format_html_join(gettext(", or "), "{}", ((end,) for end in ends)),
    )


def facts_of(group: FailureGroup, figures: GroupFigures) -> list[tuple[str, Any]]:
    """Return the group's facts as labels and values; a value is a short text or HTML."""
    everything = links.listing(ENTRIES, group=group.pk, resolution="all")
    opened = links.link(
        links.listing(ENTRIES, group=group.pk),
        gettext("{value:,} open").format(value=max(0, group.open)),
    )
    return [
        (gettext("Open dead letters"), opened),
        (
            gettext("All dead letters"),
            links.link(everything, gettext("{total:,} in total").format(total=group.total)),
        ),
        (gettext("Owner"), str(group.owner or "")),
        (gettext("Workspace"), str(group.workspace)),
        (
            gettext("Alerts"),
            gettext("muted") if group.muted else gettext("as set by the alert rules"),
        ),
        (gettext("Oldest open"), marks.ago(figures.oldest_open)),
        (gettext("Next expiry"), marks.ago(figures.expires)),
        (gettext("Split by"), group.split_on),
        (gettext("In this status since"), marks.ago(group.status_at)),
        (gettext("ID"), marks.copyable(group.pk)),
    ]


def sections(request: HttpRequest, group: FailureGroup, figures: GroupFigures) -> list[PageSection]:
    """Return the panels below the facts."""
    return [
        _trend(figures),
        text_section(gettext("Sample message"), group.sample, error=True),
        _notes(group),
        _newest(request, group),
        *_breakdown(group),
        _versions(group),
        _similar(request, group),
        *(section(request, group) for section in GROUP_SECTIONS),
        done_to(group.pk),
    ]


def _trend(figures: GroupFigures) -> PageSection:
    said = gettext(
        "Failures in the last 7 days: {all:,} in total, {hour:,} in the worst hour, {day:,} in "
        "the last 24 hours."
    ).format(all=sum(figures.hours), hour=max(figures.hours), day=sum(figures.day))
    chart = sparkline(figures.hours, said, wide=True)
    return PageSection(
        gettext("Last 7 days"), body=format_html("{}<p class='vk-hint'>{}</p>", chart, said)
    )


def _notes(group: FailureGroup) -> PageSection:
    rows = GroupNote.objects.filter(group=group).order_by("-id")[:50]
    return PageSection(
        gettext("Notes"),
        headers=(gettext("When"), gettext("Author"), gettext("Note")),
        rows=[[marks.ago(row.at), row.author_name, _lines(row.text)] for row in reversed(rows)],
        empty=gettext("No notes. Add one with “Add note…”."),
    )


def _lines(text: str) -> SafeString:
    return format_html_join(SafeString("<br>"), "{}", ((line,) for line in text.splitlines()))


def _breakdown(group: FailureGroup) -> list[PageSection]:
    """Return a panel with the most frequent values of each facet; [] without dead letters."""
    found = breakdown(group.pk)
    if not found.looked_at:
        return []
    rows = []
    for facet in found.facets:
        parts = [
            (share.value or gettext("none"), f"{share.count:,}") for share in facet.shares[:SHOWN]
        ]
        rest = facet.others + sum(share.count for share in facet.shares[SHOWN:])
        if rest:
            parts.append((gettext("others"), f"{rest:,}"))
        rows.append([facet.label, format_html_join(SafeString("<br>"), "{}: {}", parts)])
    over = (
        gettext("Counts include only the newest {looked_at:,} dead letters.").format(
            looked_at=found.looked_at
        )
        if found.more
        else ""
    )
    return [
        PageSection(
            gettext("Facets"),
            headers=(gettext("Facet"), gettext("Count")),
            rows=rows,
            more=over,
        )
    ]


def _versions(group: FailureGroup) -> PageSection:
    rows = GroupVersion.objects.filter(group=group).order_by("-number")[:SHOWN]
    return PageSection(
        gettext("Versions"),
        headers=(
            gettext("Version"),
            gettext("Failures"),
            gettext("First seen"),
            gettext("Last seen"),
        ),
        rows=[
            [f"v{r.number}", f"{r.count:,}", marks.ago(r.first_seen), marks.ago(r.last_seen)]
            for r in rows
        ],
        empty=gettext("Not counted yet."),
        folded=True,
    )


def _newest(request: HttpRequest, group: FailureGroup) -> PageSection:
    rows = scoped(request, DeadLetterEntry.objects.filter(group=group)).order_by("-id")
    shown = rows.only("step_path", "failure_reason", "resolution", "quarantined_at", "attempts")
    return PageSection(
        gettext("Newest dead letters"),
        headers=(
            gettext("Step"),
            gettext("State"),
            gettext("Error"),
            gettext("Attempts"),
            gettext("Since"),
        ),
        rows=[
            [
                links.to(ENTRIES, row.pk, marks.path(row.step_path)),
                resolution(row.resolution),
                marks.clipped(row.failure_reason),
                str(row.attempts),
                marks.ago(row.quarantined_at),
            ]
            for row in shown[:SHOWN]
        ],
        empty=gettext("No dead letters left."),
    )


def _similar(request: HttpRequest, group: FailureGroup) -> PageSection:
    """Return the panel of other groups with the same exception and module, or the same message."""
    same = Q()
    if group.exception:
        same |= Q(exception=group.exception, module=group.module)
    if group.message:
        same |= Q(message=group.message)
    rows: QuerySet[Any] = FailureGroup.objects.none()
    if same:
        others = FailureGroup.objects.filter(same, merged_into=None).exclude(pk=group.pk)
        rows = scoped(request, others).select_related("workflow").defer("workflow__definition")
    return PageSection(
        gettext("Similar groups"),
        headers=(
            gettext("Failure"),
            gettext("Workflow, step"),
            gettext("Matches"),
            gettext("Open"),
            gettext("Last seen"),
            gettext("Status"),
        ),
        rows=[
            [
                links.to(GROUPS, row.pk, row.exception or gettext("failure")),
                format_html("{}<br>{}", row.workflow.name, marks.path(row.place)),
                _alike(group, row),
                f"{max(0, row.open):,}",
                marks.ago(row.last_seen),
                status(row),
            ]
            for row in rows.order_by("-last_seen")[:SHOWN]
        ],
        empty=gettext("No similar groups."),
    )


def _alike(group: FailureGroup, other: FailureGroup) -> str:
    words = []
    if group.message and group.message == other.message:
        words.append(gettext("message"))
    if group.exception and (group.exception, group.module) == (other.exception, other.module):
        words.append(gettext("exception and module"))
    return ", ".join(words)
