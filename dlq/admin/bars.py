"""How an attempt spent its time, as a bar: backing off, waiting for a worker, at work."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from executions.admin import marks
from runners.models import Run

WIDE = 200  # units of the drawing; the longest attempt is as wide
LEAST = 2  # what took any time at all is to be seen


@dataclass(frozen=True, slots=True)
class AttemptTime:
    """Seconds of an attempt."""

    backing_off: float
    waiting: float
    running: float

    @property
    def all(self) -> float:
        """From its row on to its end."""
        return self.backing_off + self.waiting + self.running

    def parts(self) -> list[tuple[str, str, float]]:
        """Name, class and seconds of what took time."""
        every = [
            ("backing off", "backoff", self.backing_off),
            ("waiting", "waiting", self.waiting),
            ("at work", "running", self.running),
        ]
        return [part for part in every if part[2] > 0]


def spent(run: Run, now: datetime) -> AttemptTime:
    """How long the attempt did what, so far."""
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
    """A drawing an attempt, all on the scale of the longest."""
    times = [spent(run, now) for run in runs]
    longest = max((time.all for time in times), default=0.0) or 1.0
    return [_bar(time, longest) for time in times]


def _bar(time: AttemptTime, longest: float) -> SafeString:
    drawn, at = [], 0.0
    for name, kind, seconds in time.parts():
        width = max(LEAST, WIDE * seconds / longest)
        drawn.append((kind, f"{at:.1f}", f"{width:.1f}", f"{name} {marks.took(1000 * seconds)}"))
        at += width
    told = ", ".join(text for *_, text in drawn) or "no time"
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
