"""The figures of a range on the home page: cards, charts, and key figures."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.translation import gettext, ngettext

from dlq.public.dashboard import EXECUTIONS, Banner, BlockView, Card, HomeBlock, add_block
from executions.public.access import Scope
from executions.public.admin import links, reach, scoped
from executions.public.database import database_now
from executions.public.language import lazy
from executions.public.models import WorkflowExecution
from valkyr_plugins.figures.admin.charts import (
    axis,
    charts,
    percent,
    period,
    stamp,
    summary,
    throughput,
)
from valkyr_plugins.figures.ranges import RANGES, Range, SelectedPeriod, range_named
from valkyr_plugins.figures.reading import Figures, read

# Ended executions on the home page and on a workflow's page: cards, banners, a line of numbers.


NOT_AVAILABLE = lazy("not available")


def cards(figures: Figures | None, **only: str) -> list[Card]:
    """Return the cards of successes and failures; `only` filters the lists that they link to."""
    if figures is None:
        return [
            Card(gettext("Succeeded"), "check_circle", None, "", _listing("succeeded", only)),
            Card(gettext("Failed"), "cancel", None, "", _listing("failed", only)),
        ]
    age = only | (_ended(figures.part) if figures.part else {"since": figures.window.range.name})
    total = figures.total
    when = period(figures.part) if figures.part else ""
    return [
        Card(
            gettext("Succeeded"), "check_circle", total.succeeded, when or _since(figures),
            _listing("succeeded", age), figures.capped,
        ),
        Card(
            gettext("Failed"), "cancel", total.ended_badly, when or change(figures),
            _listing("failed", age), figures.capped,
        ),
    ]  # fmt: skip


def banners(figures: Figures, *, anything: bool) -> list[Banner]:
    """Return banners for hours that are not yet counted, and for counts that are too low."""
    found = []
    if figures.uncounted and anything:
        found.append(_uncounted(figures.uncounted))
    if figures.capped:
        text = gettext(
            "Too many executions were created or ended to count them all. The newest numbers are "
            "too low."
        )
        found.append(Banner(text, urgent=False))
    return found


def timeline(figures: Figures | None, **only: str) -> dict[str, Any]:
    """Return the template context of the charts; `only` filters the lists that they link to."""
    found: dict[str, Any] = {"measures": measures(figures)}
    if figures is None:
        return found
    found |= {"charts": charts(figures), "axis": axis(figures), "ended": figures.ended}
    if figures.part:
        found["lists"] = _lists(figures.part, only)
    return found


def _lists(part: SelectedPeriod, only: dict[str, str]) -> list[tuple[str, str]]:
    """Return links to the executions and dead letters of a part of the range, as (title, URL)."""
    times = {"after": f"{part.start:%Y-%m-%dT%H:%M}", "before": f"{part.end:%Y-%m-%dT%H:%M}"}
    letters = links.listing("dlq_deadletterentry", resolution="all", **times, **only)
    return [
        (gettext("Executions"), links.listing(EXECUTIONS, **_ended(part), **only)),
        (gettext("Dead letters"), letters),
    ]


def _ended(part: SelectedPeriod) -> dict[str, str]:
    return {"ended": f"{stamp(part.start)}/{stamp(part.end)}"}


def selected(request: HttpRequest, figures: Figures) -> tuple[Figures, list[Banner]]:
    """Return the figures for the period in the URL, and a banner if that period is invalid."""
    given = request.GET.get("from"), request.GET.get("to")
    part = figures.window.part(*given)
    if part:
        return figures.within(part), []
    if not any(given):
        return figures, []
    text = gettext("The selected period is not within the last {title}. Showing the whole range.")
    title = gettext(figures.window.range.title)
    return figures, [Banner(text.format(title=title), urgent=False)]


def measures(figures: Figures | None) -> list[tuple[str, str]]:
    """Return the key figures of the range, as (name, value)."""
    if figures is None:
        return [(gettext("Figures for this period"), NOT_AVAILABLE)]
    total = figures.total
    return [
        (gettext("Throughput"), throughput(figures)),
        (gettext("Failure rate"), percent(total.failure_rate)),
        (gettext("Execution duration"), summary(total.durations)),
        (gettext("Time waiting for a worker"), summary(total.dispatches)),
        (gettext("Failed attempts"), f"{total.failed_attempts:,}"),
        (gettext("Dead letters"), f"{total.dead_letters:,}"),
    ]


def change(figures: Figures) -> str:
    """Return as text how the failures per hour compare with the previous period."""
    title = gettext(figures.window.range.title)
    before = figures.before.ended_badly
    now = figures.total.ended_badly
    if not before:
        return (
            gettext("none in the previous {title}").format(title=title)
            if now
            else gettext("none in the previous {title} either").format(title=title)
        )
    elapsed = max(figures.window.elapsed, timedelta(minutes=1))
    times = (now / elapsed.total_seconds()) / (before / figures.window.range.length.total_seconds())
    if times >= 2:
        return gettext("{times:.1f} times the rate of the previous {title}").format(
            times=times, title=title
        )
    percent = round(100 * (times - 1))
    if percent == 0:
        return gettext("same as the previous {title}").format(title=title)
    text = (
        gettext("{percent} % more than in the previous {title}")
        if percent > 0
        else gettext("{percent} % less than in the previous {title}")
    )
    return text.format(percent=abs(percent), title=title)


def _uncounted(hours: int) -> Banner:
    text = ngettext(
        "One hour is not counted yet and appears empty. A control worker counts it.",
        "{hours:,} hours are not counted yet and appear empty. A control worker counts them, "
        "newest first.",
        hours,
    )
    return Banner(text.format(hours=hours), urgent=False)


def _listing(state: str, only: dict[str, str]) -> str:
    return links.listing(EXECUTIONS, state=state, **only)


def _since(figures: Figures) -> str:
    start = figures.window.start
    return (
        gettext("since {start:%H:%M} UTC").format(start=start)
        if figures.window.range.length <= timedelta(days=1)
        else gettext("since {start:%d %b %H:%M} UTC").format(start=start)
    )


@dataclass(frozen=True, slots=True)
class HomeFigures:
    """The figures that the user may see, and whether any executions exist."""

    figures: Figures
    anything: bool


def wanted_range(request: HttpRequest) -> Range:
    """Return the range that the request names, or the default range."""
    return range_named(request.GET.get("range"))


def ranges(wanted: Range) -> list[tuple[str, str, bool]]:
    """Return the available ranges, as (name, title, whether it is selected)."""
    return [(one.name, gettext(one.title), one is wanted) for one in RANGES.values()]


def _gather(request: HttpRequest) -> HomeFigures:
    scope = Scope.of(request.user, reach(request))
    figures = read(scope, wanted_range(request), database_now())
    return HomeFigures(figures, scoped(request, WorkflowExecution.objects.all()).exists())


def _show(request: HttpRequest, found: HomeFigures | None) -> BlockView:
    figures: Figures | None = None
    told: list[Banner] = []
    if found:
        figures, told = selected(request, found.figures)
        told += banners(figures, anything=found.anything)
    return BlockView(
        cards=cards(figures),
        banners=told,
        above=render_to_string("figures/ranges.html", {"ranges": ranges(wanted_range(request))}),
        below=render_to_string("figures/shown.html", timeline(figures)),
    )


add_block(
    HomeBlock(
        name="figures",
        variant=lambda request: wanted_range(request).name,
        gather=_gather,
        show=_show,
    )
)
