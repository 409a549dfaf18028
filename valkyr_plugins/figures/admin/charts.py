"""The charts of a period's figures, for the home page and workflows' pages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.translation import gettext

from executions.public.admin import marks
from executions.public.language import lazy
from valkyr_plugins.figures.admin.drawing import (
    WIDTH,
    Chart,
    grid,
    line,
    linear,
    logarithmic,
    stacked,
)
from valkyr_plugins.figures.ranges import SelectedPeriod
from valkyr_plugins.figures.reading import Figures
from valkyr_plugins.figures.tally import Histogram, Tally

# (counter, word), from bottom to top. Failures are at the top, where they are visible.
STATES = (
    ("succeeded", lazy("succeeded")),
    ("cancelled", lazy("cancelled")),
    ("timed_out", lazy("timed out")),
    ("failed", lazy("failed")),
)
# For each share: its name, which is also its class in figures.css.
SHARES = ((0.5, "p50"), (0.95, "p95"), (0.99, "p99"))
NOTHING = lazy("No executions ended in this period.")


def charts(figures: Figures) -> list[Chart]:
    """Return all charts of a range."""
    return [
        by_state(figures),
        failure_rate(figures),
        durations(figures),
        dispatches(figures),
    ]


@dataclass(frozen=True, slots=True)
class Axis:
    """The time axis of all charts of a range, and its selected part.

    `starts` and `ends` are the options of a form, one per slot, as (value, label, whether
    selected). `before` and `after` are (position, width) of the parts that are not selected, in a
    chart's units.
    """

    range: str
    start: str
    seconds: int
    labels: Sequence[str]
    starts: Sequence[tuple[str, str, bool]]
    ends: Sequence[tuple[str, str, bool]]
    period: str = ""
    before: tuple[str, str] = ("0", "0")
    after: tuple[str, str] = ("0", "0")

    @property
    def slots(self) -> int:
        """Return the number of slots on the axis."""
        return len(self.starts)


def axis(figures: Figures) -> Axis:
    """Return the time axis of a range."""
    window, part = figures.window, figures.part
    labels = [*slot_labels(figures), gettext("now")]
    times = [*window.starts(), window.end]
    first, last = (part.first, part.last) if part else (0, window.range.slots - 1)
    slot = WIDTH / window.range.slots
    left, right = first * slot, (last + 1) * slot
    quarters = [labels[window.range.slots * quarter // 4] for quarter in range(4)]
    return Axis(
        window.range.name,
        stamp(window.start),
        int(window.range.slot.total_seconds()),
        [*quarters, labels[-1]],
        [(stamp(at), labels[place], place == first) for place, at in enumerate(times[:-1])],
        [(stamp(at), labels[place + 1], place == last) for place, at in enumerate(times[1:])],
        period(part) if part else "",
        ("0", f"{left:.1f}"),
        (f"{right:.1f}", f"{WIDTH - right:.1f}"),
    )


def stamp(at: datetime) -> str:
    """Return a time for a URL, to the minute."""
    return f"{at:%Y-%m-%dT%H:%MZ}"


def period(part: SelectedPeriod) -> str:
    """Return the start and the end of the selected period as text, in UTC."""
    days = part.window.range.length > timedelta(days=1)
    return f"{_time(part.start, days=days)} – {_time(part.end, days=days)} UTC"


def by_state(figures: Figures) -> Chart:
    """Return the chart of ended executions, stacked by state."""
    labels = slot_labels(figures)
    scale = linear([tally.ended for tally in figures.slots], least=2)
    columns = [
        [
            (name, getattr(tally, name), f"{label}: {getattr(tally, name):,} {word}")
            for name, word in STATES
        ]
        for label, tally in zip(labels, figures.slots, strict=True)
    ]
    total = figures.total
    counts = ", ".join(f"{getattr(total, name):,} {word}" for name, word in STATES)
    return Chart(
        "states",
        gettext("Completed executions"),
        gettext("Completed executions by state: {counts}.").format(counts=counts),
        note=gettext("{throughput} on average").format(throughput=throughput(figures)),
        bars=stacked(columns, scale),
        legend=STATES[::-1],
        y_labels=[_count(tick) for tick in scale.ticks],
        grid=grid(scale),
        headers=(
            gettext("From (UTC)"),
            *(word for _, word in STATES),
            gettext("created"),
            gettext("failed attempts"),
        ),
        rows=[
            [
                label,
                *(f"{getattr(tally, name):,}" for name, _ in STATES),
                f"{tally.created:,}",
                f"{tally.failed_attempts:,}",
            ]
            for label, tally in zip(labels, figures.slots, strict=True)
        ],
        empty="" if figures.ended else NOTHING,
    )


def failure_rate(figures: Figures) -> Chart:
    """Return the chart of the failure rate, in which timeouts count as failures."""
    labels = slot_labels(figures)
    rates = [tally.failure_rate for tally in figures.slots]
    scale = linear([100 * rate for rate in rates if rate is not None], least=5)
    columns = [
        [
            (
                "failed",
                0 if rate is None else 100 * rate,
                gettext("{label}: {percent} failed").format(label=label, percent=percent(rate)),
            )
        ]
        for label, rate in zip(labels, rates, strict=True)
    ]
    return Chart(
        "rate",
        gettext("Failure rate"),
        gettext("The share of executions that failed or timed out: {percent}.").format(
            percent=percent(figures.total.failure_rate)
        ),
        note=percent(figures.total.failure_rate),
        bars=stacked(columns, scale),  # type: ignore[arg-type]
        legend=(("failed", gettext("failed or timed out (cancelled executions excluded)")),),
        y_labels=[f"{tick:g} %" for tick in scale.ticks],
        grid=grid(scale),
        headers=(gettext("From (UTC)"), gettext("failure rate"), gettext("dead letters")),
        rows=[
            [label, percent(rate), f"{tally.dead_letters:,}"]
            for label, rate, tally in zip(labels, rates, figures.slots, strict=True)
        ],
        empty="" if figures.ended else NOTHING,
    )


def durations(figures: Figures) -> Chart:
    """Return the chart of executions' durations, from start to end."""
    return _percentiles(
        figures,
        "durations",
        gettext("Execution duration"),
        lambda tally: tally.durations,
        NOTHING,
    )


def dispatches(figures: Figures) -> Chart:
    """Return the chart of how long attempts of steps waited for a worker."""
    return _percentiles(
        figures,
        "dispatches",
        gettext("Time waiting for a worker"),
        lambda tally: tally.dispatches,
        gettext("No steps started in this period."),
    )


def _percentiles(
    figures: Figures, name: str, title: str, of: Callable[[Tally], Histogram], nothing: str
) -> Chart:
    labels = slot_labels(figures)
    values = {
        word: [of(tally).percentile(share) for tally in figures.slots] for share, word in SHARES
    }
    known = [value for column in values.values() for value in column if value is not None]
    scale = logarithmic(known)
    whole = summary(of(figures.total))
    return Chart(
        name,
        title,
        f"{title}: {whole}.",
        note=whole,
        lines=[line(word, word, values[word], scale) for _, word in SHARES],
        legend=[(word, word) for _, word in SHARES],
        y_labels=_readable([decade(tick) for tick in scale.ticks]),
        grid=grid(scale),
        headers=(gettext("From (UTC)"), *(word for _, word in SHARES), gettext("count")),
        rows=[
            [
                label,
                *(marks.took(values[word][place]) for _, word in SHARES),
                f"{of(tally).total:,}",
            ]
            for place, (label, tally) in enumerate(zip(labels, figures.slots, strict=True))
        ],
        empty="" if known else nothing,
    )


def _readable(labels: list[str]) -> list[str]:
    """Return the labels; if there are more than four, every second one is empty."""
    if len(labels) <= 4:
        return labels
    return [label if place % 2 == 0 else "" for place, label in enumerate(labels)]


def summary(histogram: Histogram) -> str:
    """Return percentiles, such as `p50 1.2 s, p95 4 s, p99 9 s`; a dash if there are no values."""
    if not histogram.total:
        return marks.EMPTY
    return ", ".join(
        f"{word}{marks.NO_BREAK}{marks.took(histogram.percentile(share))}" for share, word in SHARES
    )


def decade(milliseconds: float) -> str:
    """Return a power of ten, in milliseconds, as text in a readable unit."""
    if milliseconds < 1_000:
        return f"{milliseconds:g} ms"
    if milliseconds < 1_000_000:
        return f"{milliseconds / 1_000:g} s"
    if milliseconds < 10_000_000:
        return f"{milliseconds / 60_000:.0f} min"
    return f"{milliseconds / 3_600_000:.2g} h"


def percent(rate: float | None) -> str:
    """Return a share as `3.2 %`; a dash for None."""
    return marks.EMPTY if rate is None else f"{100 * rate:.3g} %"


def throughput(figures: Figures) -> str:
    """Return the rate of ended executions as text: per hour, or per minute from 600 an hour on."""
    hours = max(figures.elapsed, timedelta(minutes=1)) / timedelta(hours=1)
    an_hour = figures.total.ended / hours
    if an_hour >= 600:
        return gettext("{an_hour:,.0f} per minute").format(an_hour=an_hour / 60)
    return (
        gettext("{an_hour:,.0f} per hour").format(an_hour=an_hour)
        if an_hour >= 10
        else gettext("{an_hour:.2g} per hour").format(an_hour=an_hour)
    )


def slot_labels(figures: Figures) -> list[str]:
    """Return the start of each slot in UTC, with the day if the range has several days."""
    days = figures.window.range.length > timedelta(days=1)
    return [_time(start, days=days) for start in figures.window.starts()]


def _time(at: datetime, *, days: bool) -> str:
    return f"{at:%d %b %H:%M}" if days else f"{at:%H:%M}"


def _count(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"
