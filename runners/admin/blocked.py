"""The page of blocked work: each cause, how long it has lasted, and the remedy.

Counts end at 10,000 or 50,000, depending on the cause; a plus sign means that there may be more.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Min, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext

from executions.admin import links, marks
from executions.admin.changelist import BOUND as COUNTED
from executions.admin.changelist import bounded_count
from executions.admin.scope import is_superuser, reach, scoped
from executions.admin.sections import Cell, PageSection
from executions.database.by_state import in_states
from executions.database.time_limits import soon
from executions.language import lazy
from executions.models import WorkflowExecution
from runners.models import Run, Runner
from runners.states import RunState, WaitKind
from runners.workers.queues import BOUND, command_for, queues

EXECUTIONS, RUNS = "executions_workflowexecution", "runners_run"
WORKERS = 100

# For each kind of wait: the heading for steps that wait, and what ends the wait.
WAITS: Mapping[WaitKind, tuple[Any, Any]] = {
    WaitKind.APPROVAL: (lazy("Steps that wait for an approval"), lazy("A user decides.")),
    WaitKind.EVENT: (
        lazy("Steps that wait for an event"),
        lazy("A caller or a step publishes the event."),
    ),
    WaitKind.CALLBACK: (
        lazy("Steps that wait for a callback"),
        lazy("The other system calls the step's address."),
    ),
    WaitKind.TIMER: (lazy("Steps that wait for a timer"), lazy("The timer ends.")),
    WaitKind.CHILD: (
        lazy("Steps that wait for a child execution"),
        lazy("The child execution ends."),
    ),
    WaitKind.CIRCUIT: (
        lazy("Steps whose target's circuit is open"),
        lazy("A probe of the target succeeds, or a user resets the circuit."),
    ),
    WaitKind.QUOTA: (
        lazy("Steps that would exceed a quota"),
        lazy("The quota's window ends, another step ends, or an administrator raises the quota."),
    ),
}


@dataclass(frozen=True, slots=True)
class Blockage:
    """A cause of blocked work: number of steps or executions, oldest time, remedy and URL."""

    cause: str
    number: int
    capped: bool
    oldest: datetime | None
    remedy: Cell
    address: str

    def row(self) -> list[Cell]:
        """Return the cells of the table row for this cause."""
        number = f"{self.number:,}{'+' if self.capped else ''}"
        cause = links.link(self.address, self.cause)
        return [cause, number, marks.ago(self.oldest), self.remedy]


def blocked(request: HttpRequest, context: Mapping[str, Any]) -> HttpResponse:
    """Return the page of blocked work; `context` is the context of the admin site."""
    now = timezone.now()
    found = soon(lambda: [*_executions(request), *_queued(request, now), *_waiting(request)])
    section = PageSection(
        gettext("Waiting and blocked"),
        headers=(gettext("Cause"), gettext("Count"), gettext("Oldest"), gettext("Continues when")),
        rows=[one.row() for one in found or []],
        empty=(
            gettext("Not available: the database did not answer in time.")
            if found is None
            else gettext("Nothing is waiting: every step is running or has ended.")
        ),
    )
    shown = {**context, "title": gettext("Waiting and blocked"), "section": section}
    return TemplateResponse(request, "runners/blocked.html", shown)


def _executions(request: HttpRequest) -> Iterator[Blockage]:
    rows = scoped(request, WorkflowExecution.objects.all())
    for state, word, cause, remedy in (
        (
            "PENDING", "pending", gettext("Executions that wait for a slot of their workspace"),
            gettext("Another execution ends, or an administrator raises the workspace's limit."),
        ),
        ("PAUSED", "paused", gettext("Paused executions"), gettext("A user resumes them.")),
    ):  # fmt: skip
        some = rows.filter(in_states(state)).order_by().values("pk")[:COUNTED]
        found = WorkflowExecution.objects.filter(pk__in=some)
        said = found.aggregate(number=Count("pk"), oldest=Min("created_at"))
        if said["number"]:
            capped = said["number"] >= COUNTED
            address = links.listing(EXECUTIONS, state=word)
            yield Blockage(cause, said["number"], capped, said["oldest"], remedy, address)


def _queued(request: HttpRequest, now: datetime) -> Iterator[Blockage]:
    """Yield a blockage for each queue with ready steps, and one for steps with a future retry."""
    runs = scoped(request, Run.objects.all())
    address = links.listing(RUNS, state="pending")
    for queue in queues(runs, _workers(request), now):
        if queue.waiting:
            cause = gettext("Steps that wait for a worker of the queue {queue}")
            yield Blockage(
                cause.format(queue=queue.name), queue.waiting, queue.capped, queue.oldest,
                _served(queue.name, queue.workers), address,
            )  # fmt: skip
    later = runs.filter(in_states(RunState.PENDING), retry_after__gt=now)
    number = bounded_count(later)
    if number:
        yield Blockage(
            gettext("Steps that wait for their next attempt"), number, number >= COUNTED, None,
            gettext("The retry delay ends."), address,
        )  # fmt: skip


def _served(queue: str, workers: int) -> Cell:
    if workers:
        return gettext("A worker of the queue becomes free. More workers shorten the wait.")
    text = gettext("No worker serves the queue. Start one:")
    return format_html('{} <code class="vk-mono">{}</code>', text, command_for(queue))


def _workers(request: HttpRequest) -> list[Runner]:
    rows: QuerySet[Runner] = Runner.objects.order_by("-seen_at")
    if not is_superuser(request):
        own = rows.filter(workspace=None) | rows.filter(workspace__in=list(reach(request).members))
        rows = own
    return list(rows[:WORKERS])


def _waiting(request: HttpRequest) -> Iterator[Blockage]:
    """Yield a blockage for each kind of wait that blocks steps. Uses one query."""
    live = scoped(request, Run.objects.all()).filter(in_states(RunState.WAITING))
    some = Run.objects.filter(pk__in=live.order_by().values("pk")[:BOUND])
    rows = some.order_by().values("waits_for").annotate(n=Count("pk"), oldest=Min("started_at"))
    found = {row["waits_for"]: row for row in rows}
    capped = sum(row["n"] for row in found.values()) >= BOUND
    for kind, (cause, remedy) in WAITS.items():
        if kind.value in found:
            row = found[kind.value]
            address = (
                links.listing("runners_approval")
                if kind == WaitKind.APPROVAL
                else links.listing(RUNS, state="waiting")
            )
            yield Blockage(str(cause), row["n"], capped, row["oldest"], str(remedy), address)
