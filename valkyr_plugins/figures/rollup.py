"""Count whole hours into `ExecutionHour`: each at its end, and again an hour later.

The second count includes late commits and attempts that waited long. An hour is counted and
replaced as a whole, in one transaction, so a repetition has no effect. After an outage, the newest
hours come first, a few per call. Executions never wait for the counting.
"""

import time
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from uuid import UUID

from executions.public.access import Scope
from executions.public.database import (
    AdvisoryLock,
    ClockTimestamp,
    connection,
    database_now,
    transaction,
)
from valkyr_plugins.figures.models import CountedHour, ExecutionHour
from valkyr_plugins.figures.ranges import HOUR, floor
from valkyr_plugins.figures.reading import LIVE_HOURS, Key, Stretch, count
from valkyr_plugins.figures.tally import NUMBERS, Tally

# The longest range, plus the period before it for the comparison.
KEPT = timedelta(days=29)
SETTLED = HOUR
TURN_SECONDS = 5.0
PIECES = 12  # slots per hour, over which the sample of waits for workers is spread
ALL = 1_000_000_000
BATCH = 500


def roll() -> dict[str, int]:
    """Count due hours for about 5 s, and delete old rows; return the numbers of both."""
    began = time.monotonic()
    counted = 0
    for hour in due(_known(), database_now()):
        counted += count_hour(hour)
        if time.monotonic() - began > TURN_SECONDS:
            break
    return {"counted": counted, "forgotten": _forget()}


def due(known: Mapping[datetime, datetime], now: datetime) -> Iterator[datetime]:
    """Yield the hours to count, newest first; `known` contains the time of each hour's last count.

    This function is pure.
    """
    hour = floor(now, HOUR) - HOUR
    oldest = now - KEPT
    while hour >= oldest:
        settled = hour + HOUR + SETTLED
        last = known.get(hour)
        if last is None or last < settled <= now:
            yield hour
        hour -= HOUR


def needed_since(now: datetime) -> datetime:
    """Return the earliest end of executions that must be kept because counts still need them."""
    uncounted = min(due(_known(), now), default=now)
    return min(uncounted, now - (LIVE_HOURS + 1) * HOUR)


def count_hour(hour: datetime) -> bool:
    """Count an hour, even if counted before; return False if another process is counting."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [AdvisoryLock.FIGURES_ROLLUP])
            row = cursor.fetchone()
        if not (row and row[0]):
            return False
        found = count(Stretch(hour, HOUR / PIECES, PIECES, ALL), Scope(everything=True))
        ExecutionHour.objects.filter(hour=hour).delete()
        ExecutionHour.objects.bulk_create(
            [_row(hour, *key, tally) for key, tally in sums(found).items()], batch_size=BATCH
        )
        CountedHour.objects.update_or_create(hour=hour, defaults={"counted_at": ClockTimestamp()})
    return True


def sums(
    found: Mapping[Key, Tally],
) -> dict[tuple[UUID | None, UUID | None], Tally]:
    """Return the tallies, keyed by workspace and workflow; None stands for the sum over all.

    This function is pure.
    """
    made: dict[tuple[UUID | None, UUID | None], Tally] = {}
    for (_, workspace_id, workflow_id), tally in found.items():
        for level in ((workspace_id, workflow_id), (workspace_id, None), (None, None)):
            made.setdefault(level, Tally()).merge(tally)
    return made


def _known() -> dict[datetime, datetime]:
    return dict(CountedHour.objects.values_list("hour", "counted_at"))


def _row(
    hour: datetime, workspace_id: UUID | None, workflow_id: UUID | None, tally: Tally
) -> ExecutionHour:
    return ExecutionHour(
        hour=hour,
        workspace_id=workspace_id,
        workflow_id=workflow_id,
        durations=tally.durations.as_json(),
        dispatches=tally.dispatches.as_json(),
        **{name: getattr(tally, name) for name in NUMBERS},
    )


def _forget() -> int:
    """Delete hours that no range reaches; return the number of deleted `ExecutionHour` rows."""
    oldest = database_now() - KEPT - HOUR
    CountedHour.objects.filter(hour__lt=oldest).delete()
    return ExecutionHour.objects.filter(hour__lt=oldest).delete()[0]
