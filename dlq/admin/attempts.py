"""A sentence about the failure, and a table of the attempts of the failed step."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from dlq.models import DeadLetterEntry, Resolution
from executions.admin import links, marks
from executions.admin.sections import PageSection, hidden_section
from executions.admin.values import preformatted
from executions.definition.graph.places import find
from executions.definition.versions import compiled
from executions.language import lazy
from runners.admin.run import error_of, state_of
from runners.models import Run

# A bar of the times that an attempt spent in its retry delay, waiting for a worker, and running.


WIDE = 200  # units of the drawing for the longest attempt
LEAST = 2  # the minimum size, so that every duration is visible


@dataclass(frozen=True, slots=True)
class AttemptTime:
    """The seconds that an attempt spent in its retry delay, in the queue, and running."""

    backing_off: float
    waiting: float
    running: float

    @property
    def all(self) -> float:
        """Return the seconds from when the run was queued to its end, or to now."""
        return self.backing_off + self.waiting + self.running

    def parts(self) -> list[tuple[str, str, float]]:
        """Return the label, the CSS class and the seconds of each phase that took time."""
        every = [
            (gettext("backing off"), "backoff", self.backing_off),
            (gettext("waiting"), "waiting", self.waiting),
            (gettext("running"), "running", self.running),
        ]
        return [part for part in every if part[2] > 0]


def spent(run: Run, now: datetime) -> AttemptTime:
    """Return how many seconds the attempt has spent in each phase so far."""
    due = max(run.queued_at, run.retry_after) if run.retry_after else run.queued_at
    end = run.finished_at or now
    begun = run.started_at or end
    due = min(due, begun)
    return AttemptTime(
        _seconds(run.queued_at, due),
        _seconds(due, begun),
        _seconds(begun, end) if run.started_at else 0.0,
    )


def bars(runs: Sequence[Run], now: datetime) -> list[SafeString]:
    """Return a bar for each attempt, scaled to the longest attempt."""
    times = [spent(run, now) for run in runs]
    longest = max((time.all for time in times), default=0.0) or 1.0
    return [_bar(time, longest) for time in times]


def _bar(time: AttemptTime, longest: float) -> SafeString:
    drawn, at = [], 0.0
    for name, kind, seconds in time.parts():
        width = max(LEAST, WIDE * seconds / longest)
        drawn.append((kind, f"{at:.1f}", f"{width:.1f}", f"{name} {marks.took(1000 * seconds)}"))
        at += width
    told = ", ".join(text for *_, text in drawn) or gettext("no time")
    boxes = format_html_join(
        "",
        '<rect class="vk-spent-{}" x="{}" width="{}" height="12"><title>{}</title></rect>',
        drawn,
    )
    return format_html(
        '<svg class="vk-spent" viewBox="0 0 {} 12" preserveAspectRatio="xMinYMid meet" role="img" '
        'aria-label="{}">{}</svg><span class="vk-spent-text vk-subtle">{}</span>',
        WIDE + 3 * LEAST,
        told,
        boxes,
        told,
    )


def _seconds(start: datetime, end: datetime) -> float:
    return max(0.0, (end - start).total_seconds())


SHOWN = 50
LARGE = ("inputs", "outputs", "overrides", "logs", "error_details", "heartbeat_details")
HEADERS = (
    lazy("Attempt"),
    lazy("State"),
    lazy("Time"),
    lazy("Worker"),
    lazy("Queued"),
    lazy("Error"),
)


def sentence(entry: DeadLetterEntry) -> SafeString:
    """Return a sentence about which step failed, when and why, and when the entry expires."""
    return format_html(
        gettext(
            "Step <strong>{}</strong> ({}) of {}, version {}, failed permanently {}, {}: {}. {}"
        ),
        entry.step_path,
        entry.module,
        links.to("executions_workflow", entry.workflow_id, entry.workflow),
        entry.version_number,
        marks.ago(entry.quarantined_at),
        _attempts(entry),
        str(entry.get_failure_type_display()),
        _kept(entry),
    )


def _attempts(entry: DeadLetterEntry) -> str:
    allowed = _allowed(entry)
    tries = ngettext("{number} attempt", "{number} attempts", entry.attempts).format(
        number=entry.attempts
    )
    if allowed is None:
        return gettext("after {tries}").format(tries=tries)
    return gettext("on attempt {attempts} of {allowed}").format(
        attempts=entry.attempts, allowed=max(allowed, entry.attempts)
    )


def _allowed(entry: DeadLetterEntry) -> int | None:
    """Return the step's maximum number of attempts; None if the version does not have the step."""
    try:
        _, step = find(compiled(entry.execution.version_id).graph, entry.step_path)
    except (KeyError, ValueError):
        return None
    return step.retry.max_attempts


def _kept(entry: DeadLetterEntry) -> SafeString | str:
    if entry.pinned:
        return gettext("Pinned: never deleted.")
    if entry.resolution == Resolution.PENDING:
        return gettext("Kept until it is resolved.")
    if entry.expires_at is None:
        return gettext("Never deleted.")
    left = marks.span(max(entry.expires_at - timezone.now(), timedelta()))
    return format_html(
        gettext("Will be deleted on {} (in {})."), f"{entry.expires_at:%Y-%m-%d %H:%M} UTC", left
    )


def attempts_section(entry: DeadLetterEntry) -> PageSection:
    """Return a table of the step's first 50 attempts, including those after a requeue."""
    runs = list(
        Run.objects.filter(execution_id=entry.execution_id, step_path=entry.step_path)
        .defer(*LARGE)
        .order_by("queued_at", "id")[:SHOWN]
    )
    drawn = bars(runs, timezone.now())
    rows = [
        [
            links.to(
                "runners_run", run.pk, gettext("attempt {attempt}").format(attempt=run.attempt)
            ),
            state_of(run),
            bar,
            marks.worker(run.leased_by),
            marks.ago(run.queued_at),
            error_of(run),
        ]
        for run, bar in zip(runs, drawn, strict=True)
    ]
    return PageSection(gettext("Attempts"), headers=HEADERS, rows=rows)


def traceback_section(run: Run) -> PageSection | None:
    """Return the error's traceback in a folded panel; None if the run has no traceback."""
    trace = str((run.error_details or {}).get("traceback") or "")
    if not trace:
        return None
    return PageSection(
        gettext("Traceback"), body=copy_of(trace, gettext("the traceback")), folded=True
    )


def copy_of(text: str, name: str) -> SafeString:
    """Return the text with a button that copies it; the button's label contains `name`."""
    return format_html(
        '<button type="button" class="vk-button vk-copy-text" data-copy="{}" aria-label="{}">'
        '<span class="material-symbols-outlined" aria-hidden="true">content_copy</span>'
        "{}</button>{}",
        text,
        gettext("Copy {name}").format(name=name),
        gettext("Copy"),
        preformatted(text),
    )


def logs_section(run: Run, *, shown: bool) -> PageSection:
    """Return a panel with the attempt's first 50 log messages; without `shown`, they are hidden."""
    if not shown:
        return hidden_section(gettext("Logs of the run"))
    entries = run.logs if isinstance(run.logs, list) else []
    rows = [_log(run.started_at or run.queued_at, entry) for entry in entries[:SHOWN]]
    rest = len(entries) - SHOWN
    more = (
        ngettext(
            "{count} more log message is on the run's page.",
            "{count} more log messages are on the run's page.",
            rest,
        ).format(count=rest)
        if rest > 0
        else ""
    )
    return PageSection(
        gettext("Logs of the run"),
        headers=(gettext("Elapsed"), gettext("Level"), gettext("Message")),
        rows=rows,
        empty=gettext("No log messages."),
        folded=True,
        more=more,
    )


def _log(began: datetime, entry: Any) -> list[SafeString | str]:
    said = entry if isinstance(entry, dict) else {"message": str(entry)}
    ms = said.get("ms")
    at = marks.took(ms) if isinstance(ms, int | float) else marks.EMPTY
    title = gettext("{after} after the start at {began:%Y-%m-%d %H:%M:%S} UTC").format(
        began=began, after=at
    )
    fields = said.get("fields")
    message = str(said.get("message", ""))
    if fields:
        message = f"{message} {fields}"
    return [
        format_html('<span title="{}">{}</span>', title, at),
        str(said.get("level", "")),
        marks.clipped(message, 500),
    ]
