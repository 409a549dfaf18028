"""The calendar of a schedule: five weeks, with each day's past results and future fire times."""

from collections import Counter, defaultdict
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Count
from django.db.models.functions import TruncDate
from django.utils.formats import date_format
from django.utils.html import format_html_join
from django.utils.translation import gettext

from executions.admin import marks
from executions.admin.sections import PageSection
from executions.language import lazy
from executions.models import Trigger
from executions.states import TickStatus
from executions.triggers import beat_entries
from executions.triggers.cron_schedule import rule, upcoming

# status → (word, icon, colour)
TICKS = {
    TickStatus.FIRED: (lazy("started"), "check_circle", "green"),
    TickStatus.QUEUED: (lazy("queued"), "hourglass_empty", "amber"),
    TickStatus.SKIPPED: (lazy("skipped"), "skip_next", "grey"),
    TickStatus.MISSED: (lazy("missed"), "timer_off", "amber"),
    TickStatus.REFUSED: (lazy("rejected"), "cancel", "red"),
}
WEEKS_BEFORE, WEEKS = 2, 5
# Maximum number of future times that are counted; later days only say that there are more.
COUNTED = 2_000


def calendar(trigger: Trigger, now: datetime) -> PageSection:
    """Return a section with two past weeks, this week and two more, in the schedule's time zone."""
    zone = ZoneInfo(trigger.settings.get("timezone", "UTC"))
    today = now.astimezone(zone).date()
    first = today - timedelta(days=today.weekday(), weeks=WEEKS_BEFORE)
    days = [first + timedelta(days=number) for number in range(7 * WEEKS)]
    past = _past(trigger, datetime.combine(first, time(), zone), zone)
    due, cut = _due(trigger, now, days[-1], zone)
    cells = [_day(day, today, past[day], due[day], cut) for day in days]
    return PageSection(
        gettext("Calendar"),
        headers=[date_format(day, "D") for day in days[:7]],
        rows=[cells[start : start + 7] for start in range(0, len(cells), 7)],
    )


def _past(
    trigger: Trigger, since: datetime, zone: ZoneInfo
) -> defaultdict[date, dict[TickStatus, int]]:
    """Return the number of ticks since `since`, per day in the time zone and per status."""
    rows = trigger.ticks.filter(fire_at__gte=since).order_by()
    by_day = rows.annotate(day=TruncDate("fire_at", tzinfo=zone)).values_list("day", "status")
    found: defaultdict[date, dict[TickStatus, int]] = defaultdict(dict)
    for day, status, number in by_day.annotate(number=Count("pk")):
        found[day][TickStatus(status)] = number
    return found


def _due(
    trigger: Trigger, now: datetime, last: date, zone: ZoneInfo
) -> tuple[Counter[date], date | None]:
    """Count future fire times per day; also return the day at which counting stopped, if any."""
    if not trigger.enabled or "schedule" not in trigger.settings:
        return Counter(), None
    schedule = rule(beat_entries.settings_of(trigger)).schedule
    times = upcoming(schedule, now, COUNTED)
    by_day = Counter(found.astimezone(zone).date() for found in times)
    cut = max(by_day, default=last) if len(times) == COUNTED else None
    return by_day, cut


def _day(day: date, today: date, past: dict[TickStatus, int], due: int, cut: date | None) -> Any:
    """Return a day's cell: the results of past fire times, and the number of future fire times."""
    word, icon, colour = gettext("due"), "schedule", "grey"
    lines = [
        marks.mark(f"{past[status]} {name}", sign, hue)
        for status, (name, sign, hue) in TICKS.items()
        if status in past
    ]
    if due:
        more = "+" if day == cut else ""
        lines.append(marks.mark(f"{due}{more} {word}", icon, colour))
    elif cut is not None and day > cut:
        lines.append(marks.mark(gettext("more due"), icon, colour))
    title = date_format(day, "j M")
    head = gettext("{day}, today").format(day=title) if day == today else title
    return format_html_join("", "<div>{}</div>", [(head,), *((line,) for line in lines)])
