"""The first page: is anything wrong now, and where. Bounded queries, kept for 15 seconds."""

from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from dlq.admin.dashboard import banners, cards, lists
from dlq.admin.dashboard.charts import charts, percent, summary, throughput
from dlq.admin.dashboard.gathering import facts
from executions.figures.ranges import RANGES, range_named

NOT_AVAILABLE = "not available"


def context(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Unfold's hook: what the template of /admin/ needs."""
    wanted = range_named(request.GET.get("range"))
    kept = facts(request, wanted)
    now = timezone.now()
    return context | {
        "title": "Dashboard",
        "banners": banners.banners(kept, now),
        "cards": cards.cards(kept, now),
        "measures": measures(kept["figures"]),
        "charts": charts(kept["figures"]) if kept["figures"] else [],
        "no_figures": kept["figures"] is None,
        "panels": lists.panels(kept, now),
        "ranges": [(one.name, one.title, one is wanted) for one in RANGES.values()],
        "nothing_yet": kept["any"] is False,
        "taken_at": kept["at"],
    }


def measures(figures: Any) -> list[tuple[str, str]]:
    """The range in a line of numbers, as (name, value)."""
    if figures is None:
        return [("Figures of this time", NOT_AVAILABLE)]
    total = figures.total
    return [
        ("Throughput", throughput(figures)),
        ("Failure rate", percent(total.failure_rate)),
        ("Execution takes", summary(total.durations)),
        ("Step waits for a worker", summary(total.dispatches)),
        ("Failed attempts", f"{total.failed_attempts:,}"),
        ("Dead letters", f"{total.dead_letters:,}"),
    ]
