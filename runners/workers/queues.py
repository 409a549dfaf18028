"""The backlog and workers of each queue, and the current runs of each worker."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, Min, Q, QuerySet
from django.db.models.functions import Greatest

from executions import messaging
from executions.database.by_state import in_states
from executions.database.clock import database_now
from executions.database.routing import cell
from runners.models import Run, Runner
from runners.states import HELD, RunState

# The maximum number of waiting runs that are counted.
BOUND = 50_000
# A shorter wait is not necessarily a backlog.
PATIENCE = timedelta(seconds=15)
OWN = ("control", "default", "io")


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue, its numbers of waiting runs and workers, and when the oldest run became ready."""

    name: str
    waiting: int
    oldest: datetime | None
    workers: int
    capped: bool = False

    def unserved(self, now: datetime) -> bool:
        """Return whether runs have waited for over 15 s in a queue without a live worker."""
        return self.workers == 0 and self.oldest is not None and now - self.oldest > PATIENCE


def queues(runs: QuerySet[Run], runners: Iterable[Runner], now: datetime) -> list[Queue]:
    """Return the queues with waiting runs or workers, ordered by name.

    A worker that does not respond keeps its queue in the list, with 0 workers. `runs` and
    `runners` contain only rows that the user may see. At most 50,000 waiting runs are
    counted; if this limit is reached, each queue is `capped`.
    """
    due = runs.filter(Q(retry_after=None) | Q(retry_after__lte=now), in_states(RunState.PENDING))
    some = Run.objects.filter(pk__in=due.order_by().values("pk")[:BOUND])
    ready = Greatest("queued_at", "retry_after")
    rows = some.order_by().values("queue").annotate(n=Count("pk"), oldest=Min(ready))
    waiting = {row["queue"]: (row["n"], row["oldest"]) for row in rows}
    served = _served(runners, now)
    capped = sum(number for number, _ in waiting.values()) >= BOUND
    return [
        Queue(name, *waiting.get(name, (0, None)), workers=served.get(name, 0), capped=capped)
        for name in sorted(set(waiting) | set(served))
    ]


def command_for(queue: str) -> str:
    """Return the command that starts a worker of a queue; `make up` starts Valkyr's own workers."""
    pool = "prefork" if queue == "default" else "threads"
    app = messaging.celery_app().main or "your_project"
    at_broker = messaging.at_broker(queue)
    of_cell = f"VALKYR_CELL={cell()} " if cell() else ""
    return f"{of_cell}celery -A {app} worker -Q {at_broker} -n {queue}@%h --pool {pool}"


def served() -> set[str]:
    """Return the queues that a live Valkyr worker consumes."""
    live = Runner.objects.live(database_now()).filter(workspace=None)
    return {str(queue) for one in live for queue in one.queues}


def _served(runners: Iterable[Runner], now: datetime) -> Counter[str]:
    served: Counter[str] = Counter()
    for runner in runners:
        # Remote runners that have nothing to do end without notice, so they do not count as lost.
        lost = runner.pool != "remote" and runner.leaving_at is None
        if runner.is_live(now) or lost:
            served.update({str(queue): int(runner.is_live(now)) for queue in runner.queues})
    return served


# The current work of each worker: the runs that it holds, and since when.


BUSY_BOUND = 1_000
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Step:
    """A run that a worker holds, the run's execution, and the time of the run's start."""

    run_id: UUID
    execution_id: UUID
    workflow: str
    path: str
    since: datetime | None


@dataclass(slots=True)
class Busy:
    """A worker's longest-running current runs, and the total number of current runs."""

    steps: list[Step] = field(default_factory=list)
    number: int = 0


def busy(runs: QuerySet[Run]) -> dict[str, Busy]:
    """Return how many of `runs` each worker holds, and the five of them that have run longest.

    At most 1,000 runs are read in total.
    """
    rows: QuerySet[Run, Any] = runs.filter(in_states(*HELD)).order_by("started_at")
    found: dict[str, Busy] = {}
    for holder, pk, execution_id, workflow, path, since in rows.values_list(
        "leased_by", "pk", "execution_id", "execution__workflow__name", "step_path", "started_at"
    )[:BUSY_BOUND]:
        one = found.setdefault(holder.partition("|")[0], Busy())
        one.number += 1
        if len(one.steps) < SHOWN:
            one.steps.append(Step(pk, execution_id, workflow, path, since))
    return found
