"""The cards on top: one figure each, and the list behind it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from dlq.admin.dashboard.gathering import Facts
from executions.admin import links, marks
from executions.admin.paginator import BOUND
from runners.figures.reading import Figures

EXECUTIONS = "executions_workflowexecution"


@dataclass(frozen=True, slots=True)
class Card:
    """One figure and the list behind it; `number` is None when it could not be had."""

    title: str
    icon: str
    number: int | None
    note: str
    address: str
    bounded: bool = False

    @property
    def shown(self) -> str:
        """The figure as text; one that is counted up to a bound says so there."""
        if self.number is None:
            return "not available"
        more = "+" if self.bounded else ""
        return f"{self.number:,}{more}"


def cards(kept: Facts, now: datetime) -> list[Card]:
    """What runs, waits, succeeded, failed and is dead."""
    return _cards(kept, now, {})


def workflow_cards(kept: Facts, workflow_id: UUID, now: datetime) -> list[Card]:
    """The same of one workflow."""
    return _cards(kept, now, {"workflow": str(workflow_id)})


def _cards(kept: Facts, now: datetime, only: dict[str, str]) -> list[Card]:
    figures: Figures | None = kept["figures"]
    total = figures.total if figures else None
    capped = bool(figures and figures.capped)
    age = only | ({"since": figures.window.range.name} if figures else {})
    return [
        Card(
            "Running", "clock_loader_40", kept["running"], "now",
            links.listing(EXECUTIONS, state="running", **only), _full(kept["running"]),
        ),
        Card(
            "Waiting for a place", "hourglass_empty", kept["waiting"],
            _oldest(kept["first_waiting"], now),
            links.listing(EXECUTIONS, state="waiting", **only), _full(kept["waiting"]),
        ),
        Card(
            "Succeeded", "check_circle", total.succeeded if total else None, _since(figures),
            links.listing(EXECUTIONS, state="succeeded", **age), capped,
        ),
        Card(
            "Failed", "cancel", total.ended_badly if total else None,
            change(figures) if figures else "",
            links.listing(EXECUTIONS, state="failed", **age), capped,
        ),
        Card(
            "Open dead letters", "inbox", kept["open"], _oldest(kept["oldest"], now),
            links.listing("dlq_deadletterentry", resolution="open", **only), _full(kept["open"]),
        ),
    ]  # fmt: skip


def change(figures: Figures) -> str:
    """How failures compare with the period before, an hour each, since this one is not over."""
    title = figures.window.range.title
    before = figures.before.ended_badly
    now = figures.total.ended_badly
    if not before:
        return f"none in the {title} before" if now else f"none in the {title} before either"
    elapsed = max(figures.window.elapsed, timedelta(minutes=1))
    times = (now / elapsed.total_seconds()) / (before / figures.window.range.length.total_seconds())
    if times >= 2:
        return f"{times:.1f} times the rate of the {title} before"
    percent = round(100 * (times - 1))
    if percent == 0:
        return f"as in the {title} before"
    return f"{abs(percent)} % {'more' if percent > 0 else 'less'} than in the {title} before"


def _full(number: int | None) -> bool:
    return number is not None and number >= BOUND


def _oldest(found: datetime | None, now: datetime) -> str:
    return f"oldest for {marks.span(now - found)}" if found else "none waits"


def _since(figures: Figures | None) -> str:
    if figures is None:
        return ""
    start = figures.window.start
    return (
        f"since {start:%H:%M} UTC"
        if figures.window.range.length <= timedelta(days=1)
        else f"since {start:%d %b %H:%M} UTC"
    )
