"""Read the figures of a range for a scope, from counted hours and, for other times, from rows."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db.models import Q

from executions.public.access import SCOPE_SQL, Scope
from executions.public.database import connection, first_id_at
from valkyr_plugins.figures.models import CountedHour, ExecutionHour
from valkyr_plugins.figures.ranges import HOUR, Range, SelectedPeriod, Window
from valkyr_plugins.figures.tally import BUCKET_SQL, COUNTERS, NUMBERS, Histogram, Tally

# Count executions from their rows, by slot and workflow, with four bounded statements.


FOLDER = Path(__file__).with_name("sql")
# Failed attempts are counted if they were queued at most this long before the first slot.
LOOK_BACK = timedelta(hours=6)
SAMPLE = 300
EACH = 20
# Test runs are in no figure. This is a subquery, not a join, because PostgreSQL hashes it once,
# regardless of the number of executions.
REAL_SQL = (
    "e.version_id NOT IN (SELECT v.id FROM executions_workflowversion AS v WHERE v.kind = 'test')"
)

Key = tuple[int, UUID, UUID]  # slot, workspace, workflow


@dataclass(frozen=True, slots=True)
class Stretch:
    """Slots of `length` from `since` on; in each slot, at most `most` executions are counted."""

    since: datetime
    length: timedelta
    slots: int
    most: int

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the statements."""
        return {
            "since": self.since,
            "length": self.length,
            "slots": self.slots,
            "most": self.most,
            "first": first_id_at(self.since, -LOOK_BACK),
            "sample": SAMPLE,
            "each": EACH,
        }


def count(stretch: Stretch, scope: Scope) -> dict[Key, Tally]:
    """Return a tally for each slot and workflow with data. Uses four queries."""
    found: dict[Key, Tally] = {}
    for name, note in _NOTES.items():
        for slot, workspace_id, workflow_id, *values in _rows(name, stretch, scope):
            note(found.setdefault((slot, workspace_id, workflow_id), Tally()), *values)
    return found


def _ended(tally: Tally, state: str, bucket: int | None, number: int) -> None:
    tally.count(COUNTERS[state], number)
    if bucket is not None:
        tally.durations.add(bucket, number)


def _created(tally: Tally, number: int) -> None:
    tally.count("created", number)


def _dispatched(tally: Tally, bucket: int, number: int) -> None:
    tally.dispatches.add(bucket, number)


def _failed(tally: Tally, state: str, number: int) -> None:
    tally.count("dead_letters" if state == "DLQ" else "failed_attempts", number)


_NOTES: Mapping[str, Callable[..., None]] = {
    "count_ended": _ended,
    "count_created": _created,
    "count_waits_for_worker": _dispatched,
    "count_failed_attempts": _failed,
}


def _rows(name: str, stretch: Stretch, scope: Scope) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(_text(name), {**stretch.parameters, **scope.parameters})
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found


@cache
def _text(name: str) -> str:
    """Return the text of a statement, with SQL fragments in place of its placeholders."""
    return (
        (FOLDER / f"{name}.sql")
        .read_text()
        .format(bucket=BUCKET_SQL, scope=f"{SCOPE_SQL} AND {REAL_SQL}")
    )


# Maximum number of executions that are counted in 5 min, if the hour is not counted ahead.
MOST = 5_000
PIECE = timedelta(minutes=5)
# Number of the newest hours that are read from rows if they are not counted yet.
LIVE_HOURS = 3


@dataclass(frozen=True, slots=True)
class Figures:
    """A tally for each slot, and `total`, the sum over the slots of `part`, or over all slots.

    `before` is the sum of the previous period. `capped` is true if any period of five minutes
    reached the maximum number of counted executions, so that numbers may be too low. `uncounted` is
    the number of hours in the range that the tallies omit, because the hours are not yet counted.
    """

    window: Window
    slots: list[Tally]
    before: Tally
    capped: bool = False
    uncounted: int = 0
    total: Tally = field(default_factory=Tally)
    part: SelectedPeriod | None = None

    @property
    def elapsed(self) -> timedelta:
        """Return the elapsed time of the part, or of the whole range."""
        return self.part.elapsed if self.part else self.window.elapsed

    @property
    def ended(self) -> bool:
        """Return whether any execution ended in the range."""
        return any(tally.ended for tally in self.slots)

    def within(self, part: SelectedPeriod) -> "Figures":
        """Return these figures with a part selected; `total` is the sum of the part."""
        total = Tally()
        for tally in self.slots[part.first : part.last + 1]:
            total.merge(tally)
        return replace(self, total=total, part=part)


def read(scope: Scope, wanted: Range, now: datetime) -> Figures:
    """Return the figures of a range for a scope; `now` is the current time."""
    window = wanted.window(now)
    found = _ByHours(scope, window) if wanted.by_hours else _FromRows(scope, window)
    found.read()
    made = Figures(window, found.slots, found.before, found.capped, found.uncounted)
    for tally in made.slots:
        made.total.merge(tally)
    return made


def hours_of(scope: Scope) -> Q:
    """Return the filter for the rows of `ExecutionHour` that cover a scope.

    The counts of these rows add up without overlap.
    """
    if scope.everything:
        return Q(workspace=None, workflow=None)
    chosen = Q(pk__in=())
    if scope.workspaces:
        chosen |= Q(workflow=None, workspace__in=scope.workspaces)
    if scope.workflows:
        chosen |= Q(workflow__in=scope.workflows)
    return chosen


class _FromRows:
    """A short range and the period before it, counted from the rows of executions."""

    def __init__(self, scope: Scope, window: Window) -> None:
        self.scope = scope
        self.window = window
        self.slots = [Tally() for _ in range(window.range.slots)]
        self.before = Tally()
        self.capped = False
        self.uncounted = 0

    def read(self) -> None:
        """Count the executions of the range and of the period before it."""
        self.from_rows(self.window.before, self.window.end)

    def from_rows(self, since: datetime, until: datetime) -> None:
        """Count the executions of a period from their own rows."""
        stretch = Stretch(since, PIECE, (until - since) // PIECE, MOST)
        seen: dict[int, int] = {}
        for (piece, _, _), tally in count(stretch, self.scope).items():
            self.note(since + piece * PIECE, tally)
            seen[piece] = seen.get(piece, 0) + max(tally.ended, tally.created)
        self.capped = self.capped or max(seen.values(), default=0) >= MOST

    def note(self, at: datetime, tally: Tally) -> None:
        """Add the counts of a slot that starts at `at`."""
        number = self.window.slot_of(at)
        (self.slots[number] if number >= 0 else self.before).merge(tally)


class _ByHours(_FromRows):
    """A long range, read from counted hours and, for recent hours not yet counted, from rows."""

    def read(self) -> None:
        """Read the counted hours, then count the rest from rows."""
        for hour, tally in self._counted():
            self.note(hour, tally)
        for hour in self._missing():
            self.from_rows(hour, hour + HOUR)

    def _counted(self) -> Iterator[tuple[datetime, Tally]]:
        rows = ExecutionHour.objects.filter(
            hours_of(self.scope), hour__gte=self.window.before, hour__lt=self.window.end
        )
        recent = rows.filter(hour__gte=self.window.start)
        for row in recent.values("hour", "durations", "dispatches", *NUMBERS):
            yield row["hour"], _tally(row)
        for row in rows.filter(hour__lt=self.window.start).values("hour", *NUMBERS):
            yield row["hour"], _tally(row)

    def _missing(self) -> Iterator[datetime]:
        """Yield the recent uncounted hours; count the older uncounted hours in `uncounted`."""
        counted = set(
            CountedHour.objects.filter(hour__gte=self.window.start).values_list("hour", flat=True)
        )
        newest = self.window.end - HOUR
        for back in range((newest - self.window.start) // HOUR + 1):
            hour = newest - back * HOUR
            if hour in counted:
                continue
            if back < LIVE_HOURS:
                yield hour
            else:
                self.uncounted += 1


def _tally(row: dict[str, Any]) -> Tally:
    tally = Tally(**{name: row[name] for name in NUMBERS})
    for name in ("durations", "dispatches"):
        if name in row:
            setattr(tally, name, Histogram.stored(row[name]))
    return tally
