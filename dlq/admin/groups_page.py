"""The page of a failure group: what fails, since when, how often, where; and what was done."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from dlq.admin.additions import GROUP_SECTIONS
from dlq.admin.groups_filters import GroupFigures
from dlq.admin.status_labels import resolution, status
from dlq.groups.facets import breakdown
from dlq.models import DeadLetterEntry, FailureGroup, GroupNote, GroupStatus, GroupVersion
from executions.admin import links, marks
from executions.admin.activity import done_to
from executions.admin.scope import scoped
from executions.admin.sections import PageSection, text_section

# Small charts of bars, drawn by the server: counts a time, oldest first, with words for them.


HEIGHT = 22.0
LEAST = 1.5  # of a bar that is not nothing, so that one failure beside thousands is seen


@dataclass(frozen=True, slots=True)
class SparklineBar:
    """One bar, in the drawing's units; y grows downwards."""

    x: float
    y: float
    width: float
    height: float


def bars(counts: Sequence[int], width: float = 4.0, height: float = HEIGHT) -> list[SparklineBar]:
    """A bar a count that is not 0, as high as its share of the greatest."""
    top = max(counts, default=0)
    drawn = []
    for at, count in enumerate(counts):
        if count > 0:
            tall = max(LEAST, height * count / top)
            drawn.append(SparklineBar(at * width, height - tall, width - 1, tall))
    return drawn


def sparkline(counts: Sequence[int], said: str, *, wide: bool = False) -> SafeString:
    """The chart as SVG; `said` is what it shows, for who does not see it."""
    span = 4.0 * len(counts)
    drawn = format_html_join(
        "",
        '<rect x="{}" y="{}" width="{}" height="{}" fill="currentColor"></rect>',
        (
            (f"{bar.x:g}", f"{bar.y:.1f}", f"{bar.width:g}", f"{bar.height:.1f}")
            for bar in bars(counts)
        ),
    )
    return format_html(
        '<svg class="vk-spark{}" role="img" aria-label="{}" viewBox="0 0 {} {}" {}>'
        '<title>{}</title><path class="vk-spark-base" d="M0 {}h{}"></path>{}</svg>',
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
    """What fails, where, how often, since when."""
    if group.merged_into_id:
        into = links.to(GROUPS, group.merged_into_id, "another group")
        return format_html("Merged into {}: its failures are found there.", into)
    total = f"{group.total:,} time{'' if group.total == 1 else 's'}"
    return format_html(
        "Step <strong>{}</strong> ({}) of {} has failed {} with <strong>{}</strong>, first {}, "
        "last {}; {} in the last 24 hours. {} open.{}",
        group.place,
        group.module,
        links.to("executions_workflow", group.workflow_id, group.workflow),
        total,
        group.exception or "a failure",
        marks.ago(group.first_seen),
        marks.ago(group.last_seen),
        f"{sum(figures.day):,}",
        f"{max(0, group.open):,}",
        format_html(" {}", terms(group)),
    )


def terms(group: FailureGroup) -> SafeString | str:
    """What ends its nap, or makes it regress."""
    if group.status == GroupStatus.RESOLVED:
        if group.resolved_in:
            return (
                f"Resolved in version {group.resolved_in}; a new occurrence there or later "
                "reopens it as regressed."
            )
        return "Resolved; a new occurrence reopens it as regressed."
    if group.status != GroupStatus.SNOOZED:
        return ""
    ends: list[Any] = []
    if group.snoozed_until:
        ends.append(marks.ago(group.snoozed_until))
    if group.snoozed_total is not None:
        ends.append(f"when {group.snoozed_total:,} were seen")
    if group.snoozed_version is not None:
        ends.append(f"when seen in a version later than {group.snoozed_version}")
    return format_html("It wakes {}.", format_html_join(", or ", "{}", ((end,) for end in ends)))


def facts_of(group: FailureGroup, figures: GroupFigures) -> list[tuple[str, Any]]:
    """What is known in a word or a link."""
    everything = links.listing(ENTRIES, group=group.pk, resolution="all")
    opened = links.link(
        links.listing(ENTRIES, group=group.pk), f"{max(0, group.open):,} to work on"
    )
    return [
        ("Open dead letters", opened),
        ("All dead letters", links.link(everything, f"{group.total:,} ever seen")),
        ("Owner", str(group.owner or "")),
        ("Workspace", str(group.workspace)),
        ("Alerts", "muted" if group.muted else "as the rules say"),
        ("Oldest open", marks.ago(figures.oldest_open)),
        ("Next to expire", marks.ago(figures.expires)),
        ("Told apart by", group.split_on),
        ("In this status", marks.ago(group.status_at)),
        ("Id", marks.copyable(group.pk)),
    ]


def sections(request: HttpRequest, group: FailureGroup, figures: GroupFigures) -> list[PageSection]:
    """The panels below the facts."""
    return [
        _trend(figures),
        text_section("A real message", group.sample, error=True),
        _notes(group),
        *_breakdown(group),
        _versions(group),
        _newest(request, group),
        _similar(request, group),
        *(section(request, group) for section in GROUP_SECTIONS),
        done_to(group.pk),
    ]


def _trend(figures: GroupFigures) -> PageSection:
    said = (
        f"Failures an hour over 7 days: {sum(figures.hours):,} in all, "
        f"{max(figures.hours):,} in the worst hour, {sum(figures.day):,} in the last 24 hours."
    )
    chart = sparkline(figures.hours, said, wide=True)
    return PageSection("Last 7 days", body=format_html("{}<p class='vk-hint'>{}</p>", chart, said))


def _notes(group: FailureGroup) -> PageSection:
    rows = GroupNote.objects.filter(group=group).order_by("-id")[:50]
    return PageSection(
        "Notes",
        headers=("When", "Who", "Note"),
        rows=[[marks.ago(row.at), row.author_name, _lines(row.text)] for row in reversed(rows)],
        empty="Nobody has written anything. Note… adds a line.",
    )


def _lines(text: str) -> SafeString:
    return format_html_join(SafeString("<br>"), "{}", ((line,) for line in text.splitlines()))


def _breakdown(group: FailureGroup) -> list[PageSection]:
    """A table a facet that tells its entries apart; the others in one line."""
    found = breakdown(group.pk)
    if not found.looked_at:
        return []
    rows = []
    for facet in found.facets:
        parts = [(share.value or "none", f"{share.count:,}") for share in facet.shares[:SHOWN]]
        rest = facet.others + sum(share.count for share in facet.shares[SHOWN:])
        if rest:
            parts.append(("others", f"{rest:,}"))
        rows.append([facet.label, format_html_join(SafeString("<br>"), "{}: {}", parts)])
    over = f"Of the newest {found.looked_at:,}; there are older ones." if found.more else ""
    return [PageSection("By what they differ", headers=("Of", "How many"), rows=rows, more=over)]


def _versions(group: FailureGroup) -> PageSection:
    rows = GroupVersion.objects.filter(group=group).order_by("-number")[:SHOWN]
    return PageSection(
        "Versions",
        headers=("Version", "Failures", "First seen", "Last seen"),
        rows=[
            [f"v{r.number}", f"{r.count:,}", marks.ago(r.first_seen), marks.ago(r.last_seen)]
            for r in rows
        ],
        empty="Not counted yet.",
        folded=True,
    )


def _newest(request: HttpRequest, group: FailureGroup) -> PageSection:
    rows = scoped(request, DeadLetterEntry.objects.filter(group=group)).order_by("-id")
    shown = rows.only("step_path", "failure_reason", "resolution", "quarantined_at", "attempts")
    return PageSection(
        "Newest dead letters",
        headers=("Step", "State", "Error", "Attempts", "Since"),
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
        empty="None is left.",
    )


def _similar(request: HttpRequest, group: FailureGroup) -> PageSection:
    """Groups elsewhere with the same exception in the same module, or the same message."""
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
        "Similar groups",
        headers=("Failure", "Workflow, step", "Alike in", "Open", "Last seen", "Status"),
        rows=[
            [
                links.to(GROUPS, row.pk, row.exception or "failure"),
                format_html("{}<br>{}", row.workflow.name, marks.path(row.place)),
                _alike(group, row),
                f"{max(0, row.open):,}",
                marks.ago(row.last_seen),
                status(row),
            ]
            for row in rows.order_by("-last_seen")[:SHOWN]
        ],
        empty="None that fails like this elsewhere.",
    )


def _alike(group: FailureGroup, other: FailureGroup) -> str:
    words = []
    if group.message and group.message == other.message:
        words.append("message")
    if group.exception and (group.exception, group.module) == (other.exception, other.module):
        words.append("exception and module")
    return ", ".join(words)
