"""The content of the home page: banners, cards, and the panels above and below the charts."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from dlq.admin.dashboard.blocks import SECTIONS, Banner, Card, Column
from dlq.admin.dashboard.facts import Facts
from dlq.models import FailureGroup
from executions.admin import links, marks
from executions.admin.changelist import BOUND
from executions.admin.sections import Cell, PageSection
from executions.language import lazy
from runners.admin.runner import health_of
from runners.workers.queues import Busy, Queue, Step, command_for

WORKERS = 8
UNSEEN = lazy("nothing that you may view")
NOT_AVAILABLE = lazy("Not available: the database did not answer in time.")


def problems(kept: Facts, now: datetime) -> list[list[PageSection]]:
    """Return the panels above the charts, in two columns: failures, and workers and queues."""
    return [
        [_section(gettext("Fastest-growing failures"), kept["groups"], GROUPS, _group_rows(kept))],
        [
            _section(gettext("Workers"), kept["workers"], WORKERS_SAID, _worker_rows(kept, now)),
            _section(gettext("Queues"), kept["queues"], QUEUES, _queue_rows(kept)),
        ],
    ]


def panels(kept: Facts) -> list[list[PageSection]]:
    """Return the panels below the charts, in two columns, without panels known to be empty."""
    failures = [
        _section(gettext("Latest failures"), kept["failures"], FAILURES, _failure_rows(kept)),
        *_plugged(kept, "failures"),
    ]
    work = [
        _section(gettext("Due next"), kept["schedules"], SCHEDULES, _schedule_rows(kept)),
        *_plugged(kept, "work"),
    ]
    return [
        [one for one in column if one.rows or one.empty == NOT_AVAILABLE]
        for column in (failures, work)
    ]


# The headers of a panel, and the text of an empty panel.
GROUPS = (
    (lazy("Failure"), lazy("24 h"), lazy("24 h before"), lazy("Last seen")),
    lazy("No new dead letters in the last 24 hours."),
)
WORKERS_SAID = (
    (lazy("Name"), lazy("State"), lazy("Running now")),
    lazy(
        "No worker has reported. Start a Celery worker, or run “make up” in a checkout of Valkyr."
    ),
)
FAILURES = ((lazy("Workflow"), lazy("State"), lazy("Ended"), lazy("Error")), "")
QUEUES = (
    (lazy("Queue"), lazy("Waiting"), lazy("Oldest"), lazy("Workers")),
    lazy("No queue has work or a worker."),
)
SCHEDULES = ((lazy("Workflow"), lazy("Due")), "")


def _section(
    title: str, found: Any, said: tuple[tuple[str, ...], str], rows: list[list[Cell]]
) -> PageSection:
    headers, empty = said
    return PageSection(
        title, headers=headers, rows=rows, empty=NOT_AVAILABLE if found is None else empty
    )


def _plugged(kept: Facts, column: Column) -> list[PageSection]:
    """Return the tables that plugins add to a column, in the order of their registration."""
    found = kept["plugged"]
    return [
        _section(
            one.title,
            found[name],
            (one.headers, ""),
            [] if found[name] is None else one.rows(found[name]),
        )
        for name, one in SECTIONS.items()
        if one.column == column
    ]


def _group_rows(kept: Facts) -> list[list[Cell]]:
    return [
        [
            format_html(
                '{}<span class="vk-error-text">{}</span>',
                links.link(_group_address(row), row.exception or gettext("failure")),
                marks.clipped(f"{row.workflow.name}, {row.place}: {row.message}", 110),
            ),
            format_html('<span class="vk-nowrap">{}</span>', _growth(row.lately, row.earlier)),
            f"{row.earlier:,}",
            marks.ago(row.last_seen),
        ]
        for row in kept["groups"] or []
    ]


def _growth(lately: int, earlier: int) -> str:
    if not earlier:
        return gettext("{lately:,} (new)").format(lately=lately)
    return f"{lately:,} ({lately - earlier:+,})"


def _group_address(row: FailureGroup) -> str:
    try:
        return reverse("admin:dlq_failuregroup_change", args=[row.pk])
    except NoReverseMatch:
        return links.listing("dlq_deadletterentry", group=row.pk)


def _worker_rows(kept: Facts, now: datetime) -> list[list[Cell]]:
    held: Mapping[str, Busy] = kept["busy"] or {}
    all_seen = kept["everything"]
    # The rows may come from the cache, so a worker's health is determined for the time at which
    # they were read.
    at = kept["at"]
    rows = sorted(kept["workers"] or [], key=lambda row: (not row.is_live(at), row.name))
    return [
        [
            links.to("runners_runner", row.pk, row.name),
            health_of(row, at),
            _runs_now(held.get(row.name), now) or (gettext("nothing") if all_seen else UNSEEN),
        ]
        for row in rows[:WORKERS]
    ]


def _runs_now(one: Busy | None, now: datetime) -> Cell:
    if one is None:
        return ""
    lines = format_html_join("", "<li>{}</li>", ((_step(step, now),) for step in one.steps))
    more = one.number - len(one.steps)
    rest = format_html(gettext("<li>and {} more</li>"), f"{more:,}") if more else ""
    return format_html('<ul class="vk-now">{}{}</ul>', lines, rest)


def _step(step: Step, now: datetime) -> SafeString:
    execution = links.to("executions_workflowexecution", step.execution_id, step.workflow)
    run = links.to("runners_run", step.run_id, marks.path(step.path))
    since = marks.span(now - step.since) if step.since else marks.EMPTY
    return format_html(gettext("{}, {} for {}"), execution, run, since)


def _failure_rows(kept: Facts) -> list[list[Cell]]:
    return [
        [
            links.to("executions_workflowexecution", row.pk, row.workflow.name),
            marks.state(row.state),
            marks.ago(row.finished_at),
            marks.clipped(row.error_message) or marks.EMPTY,
        ]
        for row in kept["failures"] or []
    ]


def _queue_rows(kept: Facts) -> list[list[Cell]]:
    return [
        [
            one.name,
            f"{one.waiting:,}{'+' if one.capped else ''}",
            marks.ago(one.oldest),
            str(one.workers) if one.workers else marks.mark(gettext("none"), "person_off", "amber"),
        ]
        for one in kept["queues"] or []
    ]


def _schedule_rows(kept: Facts) -> list[list[Cell]]:
    return [
        [links.to("executions_trigger", row.pk, row.workflow.name), marks.ago(row.next_at)]
        for row in kept["schedules"] or []
    ]


# The cards at the top, each with one figure and a link to its list.


EXECUTIONS = "executions_workflowexecution"
WAITING = "hourglass_empty"


def cards(kept: Facts, now: datetime, ended: Iterable[Card] = (), **only: str) -> list[Card]:
    """Return the cards: running, pending, `ended`, open dead letters.

    `only` filters the lists of all cards except `ended`. The pending card is omitted if it shows 0.
    """
    all_cards = [
        Card(
            gettext("Running"), "clock_loader_40", kept["running"], gettext("now"),
            links.listing(EXECUTIONS, state="running", **only), _full(kept["running"]),
        ),
        Card(
            gettext("Pending"), WAITING, kept["waiting"],
            _oldest(kept["first_waiting"], now),
            links.listing(EXECUTIONS, state="pending", **only), _full(kept["waiting"]),
        ),
        *ended,
        Card(
            gettext("Open dead letters"), "inbox", kept["open"], _oldest(kept["oldest"], now),
            links.listing("dlq_deadletterentry", resolution="open", **only), _full(kept["open"]),
        ),
    ]  # fmt: skip
    return [card for card in all_cards if card.icon != WAITING or card.number != 0]


def _full(number: int | None) -> bool:
    return number is not None and number >= BOUND


def _oldest(found: datetime | None, now: datetime) -> str:
    return (
        gettext("oldest: {span}").format(span=marks.span(now - found)) if found else gettext("none")
    )


# Banners about problems that need attention at once, and what to do.


def banners(kept: Facts, now: datetime) -> list[Banner]:
    """Return a banner if no Celery worker is live, otherwise one per queue that lacks a worker."""
    silent = _silent(kept)
    if silent:
        return [silent]
    return [_unserved(one, now) for one in kept["queues"] or [] if one.unserved(now)]


def _silent(kept: Facts) -> Banner | None:
    at, workers = kept["at"], kept["workers"]
    if workers is None:
        return None
    own = [one for one in workers if one.pool != "remote" and one.leaving_at is None]
    if any(one.responds(at) for one in own):
        return None
    if not own:
        return Banner(
            gettext(
                "No worker has reported. Steps run only while a worker is live. Start a Celery "
                "worker:"
            ),
            command_for("default"),
        )
    text = gettext("Workers have not reported for {span}. Start a Celery worker:").format(
        span=marks.span(at - max(one.seen_at for one in own))
    )
    return Banner(text, command_for("default"))


def _unserved(queue: Queue, now: datetime) -> Banner:
    since = marks.span(now - queue.oldest) if queue.oldest else ""
    more = "+" if queue.capped else ""
    text = ngettext(
        "{number:,}{more} step has been waiting in the queue {queue!r} for {since}. No worker "
        "serves this queue. Start one:",
        "{number:,}{more} steps are waiting in the queue {queue!r}, the oldest for {since}. No "
        "worker serves this queue. Start one:",
        queue.waiting,
    ).format(number=queue.waiting, more=more, queue=queue.name, since=since)
    return Banner(text, command_for(queue.name))
