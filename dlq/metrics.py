"""The metrics that `/metrics` reads from the database, at most every 12 s."""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.db import DatabaseError
from django.db.models import Count, Sum
from prometheus_client.core import GaugeMetricFamily as Family
from prometheus_client.registry import Collector

from dlq import statements
from dlq.models import FailureGroup, GroupStatus
from dlq.pulse import last_beat
from executions.audit import seals
from executions.configuration import OWN_QUEUES, settings
from executions.database import connection
from executions.database.clock import database_now
from executions.database.each_database import EachDatabase
from executions.database.routing import aliases, cell_of
from executions.database.time_limits import hurried
from executions.definition.limits import limits
from executions.health import checking
from executions.health.parts import of_cell
from executions.models import Trigger, Workspace
from executions.observability import metric_values
from runners.models import Approval, Run, Runner
from runners.models.runner import RESPONDS_WITHIN
from runners.states import LIVE, RunState
from runners.workers.queues import Queue, queues

# The state of the installation, read from its tables with one or two bounded queries per reading.
#
# No query scans ended rows: each uses an index of live or open rows, and counts up to a limit.
# Labels have closed lists of values; a limited number of workspaces is named, and the others are
# summed up as `(others)`.


# Maximum number of rows that one reading counts for each state.
BOUND = 20_000
NAMED = 20
OTHERS = "(others)"
LATE = timedelta(seconds=30)

Reading = Callable[[datetime], Iterable[Family]]


def executions(now: datetime) -> Iterator[Family]:
    """Yield the numbers of executions that have not ended, per state and per workspace."""
    found = statements.fetch("live_executions", {"most": BOUND})
    states = Counter(dict.fromkeys(("PENDING", "RUNNING", "PAUSED"), 0))
    spaces: Counter[UUID] = Counter()
    for state, workspace_id, number in found:
        states[state] += number
        spaces[workspace_id] += number
    yield _family(
        "executions", f"Executions that have not ended, at most {BOUND:,} per state.",
        "state", states,
    )  # fmt: skip
    yield _family(
        "workspace_executions",
        f"The same by workspace: the {NAMED} with the most executions by name, the rest as "
        f"{OTHERS}.",
        "workspace",
        _named(spaces),
    )


def steps(now: datetime) -> Iterator[Family]:
    """Yield the number of runs that have not ended, per state and queue."""
    family = Family(
        "valkyr_steps",
        f"Steps that have not ended, at most {BOUND:,} per state.",
        labels=["state", "queue"],
    )
    rows = statements.fetch("live_runs", {"most": BOUND})
    named = _queue_names(Counter({queue: number for _, queue, number in rows}))
    found: Counter[tuple[str, str]] = Counter()
    for state, queue, number in rows:
        found[state, queue if queue in named else OTHERS] += number
    for state in sorted(LIVE):
        for queue in named:
            family.add_metric([str(state), queue], found[str(state), queue])
    yield family


def waiting(now: datetime) -> Iterator[Family]:
    """Yield each queue's depth, the age of its oldest waiting step, and its number of workers."""
    live = list(Runner.objects.live(now)[:BOUND])
    found = {each.name: each for each in queues(Run.objects.all(), live, now)}
    depth = Family("valkyr_queue_depth", "Steps due that wait for a worker.", labels=["queue"])
    age = Family(
        "valkyr_queue_oldest_seconds", "The age of the oldest of these steps.", labels=["queue"]
    )
    workers = Family(
        "valkyr_workers", f"Workers seen in the last {RESPONDS_WITHIN.seconds} s.", labels=["queue"]
    )
    named = _queue_names(Counter({each.name: each.waiting for each in found.values()}))
    if OTHERS in named:
        found[OTHERS] = _others([found[name] for name in found.keys() - {*named}], live)
    for name in named:
        queue = found.get(name)
        oldest = queue.oldest if queue else None
        depth.add_metric([name], queue.waiting if queue else 0)
        age.add_metric([name], max(0.0, (now - oldest).total_seconds()) if oldest else 0.0)
        workers.add_metric([name], queue.workers if queue else 0)
    return iter((depth, age, workers))


def failures(now: datetime) -> Iterator[Family]:
    """Yield the numbers of failure groups and of their open dead letters, per group status."""
    groups = FailureGroup.objects.filter(merged_into=None).order_by()
    rows = list(groups.values_list("status").annotate(Count("pk"), Sum("open")))
    statuses = dict.fromkeys(GroupStatus.values, 0)
    yield _family(
        "failure_groups", "Failure groups, by status.", "status",
        statuses | {status: number for status, number, _ in rows},
    )  # fmt: skip
    yield _family(
        "dead_letters_open",
        "Open dead letters by the status of their group, a few seconds late.",
        "status",
        statuses | {status: max(0, entries or 0) for status, _, entries in rows},
    )


def beat(now: datetime) -> Iterator[Family]:
    """Yield the time of beat's last duty, the database's time, and the state of the audit seals."""
    last = last_beat()
    if last is not None:
        yield Family(
            "valkyr_beat_last_tick_timestamp_seconds",
            "When a duty of beat last ran, by the database's clock.",
            value=last.timestamp(),
        )
    yield Family(
        "valkyr_database_time_seconds", "The database's clock at this reading.", now.timestamp()
    )
    number, waits = seals.progress()
    yield Family("valkyr_audit_seals", "The number of the audit trail's newest seal.", number)
    yield Family(
        "valkyr_audit_unsealed_seconds",
        "The age of the oldest audit row without a seal.",
        0.0 if waits is None else max(0.0, (now - waits).total_seconds()),
    )


def schedules(now: datetime) -> Iterator[Family]:
    """Yield the number of schedules that are more than 30 s behind their fire time."""
    late = Trigger.objects.filter(enabled=True, next_at__lt=now - LATE).order_by()[:BOUND].count()
    yield Family("valkyr_schedules_late", "Schedules more than 30 s behind their time.", late)


def approvals(now: datetime) -> Iterator[Family]:
    """Yield the number of steps that wait for an approval."""
    asked = Approval.objects.filter(state=RunState.WAITING).order_by()[:BOUND].count()
    yield Family("valkyr_approvals_waiting", "Steps that wait for a person's decision.", asked)


# Readings of work that waits for users. Plugins add their own.
TRIAGE: list[Reading] = [approvals]


def triage(now: datetime) -> Iterator[Family]:
    """Yield the metrics of work that waits for users."""
    for part in TRIAGE:
        yield from part(now)


# All readings, by name. Plugins add their own.
READINGS: dict[str, Reading] = {
    "executions": executions,
    "steps": steps,
    "queues": waiting,
    "failures": failures,
    "beat": beat,
    "schedules": schedules,
    "triage": triage,
}


def _queue_names(found: Counter[str]) -> list[str]:
    """Return the configured queues and the longest other queues; add `OTHERS` for the rest."""
    known = OWN_QUEUES.union(settings().celery_queues, limits().remote_queues)
    others = [name for name, _ in found.most_common() if name not in known]
    left = [OTHERS] if len(others) > NAMED else []
    return [*sorted(known), *sorted(others[:NAMED]), *left]


def _others(left: Sequence[Queue], live: Iterable[Runner]) -> Queue:
    """Return the sum of the queues that get no series of their own."""
    names = {each.name for each in left}
    oldest = min((each.oldest for each in left if each.oldest is not None), default=None)
    workers = sum(not names.isdisjoint(one.queues) for one in live)
    return Queue(OTHERS, sum(each.waiting for each in left), oldest, workers)


def _named(spaces: Counter[UUID]) -> dict[str, int]:
    first = spaces.most_common(NAMED)
    slugs = dict(Workspace.objects.filter(pk__in=[pk for pk, _ in first]).values_list("pk", "slug"))
    named = {str(slugs.get(pk, pk)): number for pk, number in first}
    left = spaces.total() - sum(named.values())
    return named | {OTHERS: left}


def _family(name: str, text: str, label: str, numbers: Mapping[str, float]) -> Family:
    family = Family(f"valkyr_{name}", text, labels=[label])
    for value, number in sorted(numbers.items()):
        family.add_metric([str(value)], number)
    return family


# All readings are taken together, at most every 12 s and by one request at a time.
#
# Ten scrapers cost as much as one, because concurrent requests get the last readings. A reading
# that fails or takes too long is left out and reported (`valkyr_reading_up`). After 6 s, the rest
# is also left out, so that a scrape ends in time even if the database hangs.


log = logging.getLogger(__name__)
KEPT_SECONDS = 12.0
PATIENCE_SECONDS = 6.0
SLACK_SECONDS = 2.0  # for the reading that is running then


class DatabaseCollector(Collector):
    """Keeps the last readings; a scrape replaces them if they are older than 12 s."""

    def __init__(self) -> None:
        """Start with no readings."""
        self._lock = threading.Lock()
        self._families: list[Family] = []
        self._read_at = float("-inf")

    def collect(self) -> Iterable[Family]:
        """Return the readings; first replace any over 12 s old, unless another thread does so."""
        # Only the first scrapes wait for each other; later scrapes get the last readings.
        if self._old() and self._lock.acquire(blocking=not self._families):
            try:
                if self._old():
                    self._families = read()
                    self._read_at = time.monotonic()
            finally:
                self._lock.release()
        return self._families

    def forget(self) -> None:
        """Mark the readings as outdated, so that the next scrape reads again."""
        self._read_at = float("-inf")

    def _old(self) -> bool:
        return time.monotonic() - self._read_at > KEPT_SECONDS


def read() -> list[Family]:
    """Return new readings: whether the broker and databases respond, and the databases' figures.

    With cells, the readings of a database have the label `cell`, which is `-` for the first
    database.
    """
    databases = {of: of_cell(cell_of(of), "database") for of in aliases()}
    found = checking.statuses(*databases.values(), "broker")
    up = Family("valkyr_up", "Whether a part answers: 1 or 0.", labels=["part"])
    up.add_metric(["broker"], int(found["broker"]))
    answering = [of for of, part in databases.items() if found[part]]
    read_there = EACH.ask(PATIENCE_SECONDS + SLACK_SECONDS, answering) if answering else {}
    gathered = {up.name: up}
    for of, part in databases.items():
        its = Family("valkyr_up", up.documentation, labels=["part"])
        its.add_metric(["database"], int(found[part]))
        for family in (its, *(read_there.get(of) or ())):
            _join(gathered, family, of)
    return list(gathered.values())


def _join(gathered: dict[str, Family], family: Family, of: str) -> None:
    """Add the samples of one database's family to the family of the same name."""
    if len(aliases()) > 1:
        metric_values.name_cell(family, cell_of(of))
    known = gathered.setdefault(family.name, family)
    if known is not family:
        known.samples += family.samples


def _readings() -> list[Family]:
    """Return the readings of this context's database, their duration, and which ones succeeded."""
    began = time.monotonic()
    taken = Family("valkyr_reading_up", "Whether a reading succeeded: 1 or 0.", labels=["reading"])
    families: list[Family] = []
    for name, reading in READINGS.items():
        had = time.monotonic() - began < PATIENCE_SECONDS and _take(name, reading, families)
        taken.add_metric([name], int(had))
    took = Family(
        "valkyr_readings_duration_seconds",
        "The duration of the latest readings from the database.",
        time.monotonic() - began,
    )
    return [*families, taken, took]


def _take(name: str, reading: Reading, families: list[Family]) -> bool:
    try:
        with hurried():
            with connection.cursor() as cursor:
                # Only with an index: a reading is not worth a scan of ended rows.
                cursor.execute("SET LOCAL enable_seqscan = off")
            families.extend(list(reading(database_now())))
    except DatabaseError as error:
        log.warning("the reading %r failed (%s)", name, error)
        return False
    return True


EACH = EachDatabase(_readings)
DATABASE = DatabaseCollector()
