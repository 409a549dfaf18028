"""The first page: is anything wrong now, and where. Bounded queries, kept for 15 seconds.

A figure that cannot be had in time says so and lets the rest of the page stand.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.core.cache import cache
from django.db import DatabaseError, connection, transaction
from django.http import HttpRequest
from django.utils import timezone

from dlq.models import DeadLetterEntry, Resolution
from executions.admin import links, marks
from executions.admin.paginator import BOUND, bounded_count
from executions.admin.scope import scoped
from executions.admin.sections import Section
from executions.clock import first_id_at
from executions.models import WorkflowExecution
from runners.admin.runner import health_of
from runners.models import Runner

KEPT_SECONDS = 15
PATIENCE_MS = 2_000
LATEST = 8
EXECUTIONS = "executions_workflowexecution"


@dataclass(frozen=True, slots=True)
class Card:
    """One figure and the list behind it; `number` is None when it could not be had."""

    title: str
    icon: str
    number: int | None
    note: str
    address: str

    @property
    def shown(self) -> str:
        """The figure as text: exact below the bound."""
        if self.number is None:
            return "not available"
        return f"{BOUND:,}+" if self.number >= BOUND else f"{self.number:,}"


def context(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Unfold's hook: what the template of /admin/ needs."""
    key = f"dashboard:{'all' if request.user.is_superuser else request.user.pk}"
    kept = cache.get(key)
    if kept is None:
        kept = _figures(request)
        cache.set(key, kept, KEPT_SECONDS)
    failures, workers = _failures(kept["failures"]), _workers(kept["workers"])
    return context | {
        "title": "Dashboard",
        "cards": _cards(kept),
        "panels": [failures, workers],
        "nothing_yet": kept["any"] is False,
        "taken_at": kept["at"],
    }


def _figures(request: HttpRequest) -> dict[str, Any]:
    executions = scoped(request, WorkflowExecution.objects.all())
    letters = scoped(request, DeadLetterEntry.objects.filter(resolution=Resolution.PENDING))
    day = executions.filter(pk__gte=first_id_at(timezone.now() - timedelta(hours=24)))
    failed = ("FAILED", "TIMEOUT")
    return {
        "at": timezone.now(),
        "running": _soon(lambda: bounded_count(executions.filter(state="RUNNING"))),
        "succeeded": _soon(lambda: bounded_count(day.filter(state="SUCCESS"))),
        "failed": _soon(lambda: bounded_count(day.filter(state__in=failed))),
        "open": _soon(lambda: bounded_count(letters)),
        "oldest": _soon(lambda: letters.order_by("pk").values_list("quarantined_at").first()),
        "any": _soon(executions.exists),
        "failures": _soon(lambda: list(_latest(day.filter(state__in=failed)))) or [],
        "workers": _soon(lambda: list(Runner.objects.order_by("-seen_at")[:LATEST])) or [],
    }


def _soon(query: Callable[[], Any]) -> Any:
    """The query's answer, or None when the database refuses it or takes too long."""
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(f"SET LOCAL statement_timeout = {PATIENCE_MS}")
            return query()
    except DatabaseError:
        return None


def _latest(failed: Any) -> Any:
    return (
        failed.select_related("workflow")
        .only("id", "state", "error_message", "finished_at", "workflow__name")
        .order_by("-pk")[:LATEST]
    )


def _cards(kept: dict[str, Any]) -> list[Card]:
    day = {"since": "24h"}
    oldest = kept["oldest"]
    waiting = f"oldest {marks.span(timezone.now() - oldest[0])} ago" if oldest else "none waits"
    return [
        Card(
            "Running", "clock_loader_40", kept["running"], "now",
            links.listing(EXECUTIONS, state="running"),
        ),
        Card(
            "Succeeded", "check_circle", kept["succeeded"], "of the last 24 hours",
            links.listing(EXECUTIONS, state="succeeded", **day),
        ),
        Card(
            "Failed", "cancel", kept["failed"], "of the last 24 hours",
            links.listing(EXECUTIONS, state="failed", **day),
        ),
        Card(
            "Open dead letters", "inbox", kept["open"], waiting,
            links.listing("dlq_deadletterentry", resolution="open"),
        ),
    ]  # fmt: skip


def _failures(rows: list[WorkflowExecution]) -> Section:
    return Section(
        "Latest failures",
        headers=("Workflow", "State", "Ended", "Error"),
        rows=[
            [
                links.to(EXECUTIONS, row.pk, row.workflow.name),
                marks.state(row.state),
                marks.ago(row.finished_at),
                marks.clipped(row.error_message) or marks.EMPTY,
            ]
            for row in rows
        ],
        empty="No execution of the last 24 hours has failed.",
    )


def _workers(rows: list[Runner]) -> Section:
    return Section(
        "Workers",
        headers=("Name", "State", "Seen"),
        rows=[
            [
                links.to("runners_runner", row.pk, row.name),
                health_of(row),
                marks.ago(row.seen_at),
            ]
            for row in rows
        ],
        empty="No worker has reported. `make up` starts them together with everything else.",
    )
