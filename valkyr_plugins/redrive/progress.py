"""The progress of a redrive, and the number of entries that it may send now."""

from dataclasses import dataclass
from datetime import datetime

from executions.public.database import database_now
from valkyr_plugins.redrive import rules
from valkyr_plugins.redrive.models import Redrive, RedriveState
from valkyr_plugins.redrive.rules import Pace, Standing


@dataclass(frozen=True, slots=True)
class Progress:
    """Counts per state, and `rate`, the number of entries sent per second.

    `seconds_left` is None if the redrive is not running, or has not sent any entry since it was
    started or resumed.
    """

    queued: int
    running: int
    succeeded: int
    failed_again: int
    skipped: int
    aborted: int
    rate: float
    seconds_left: float | None


def progress(redrive: Redrive, now: datetime | None = None) -> Progress:
    """Return the redrive's progress from its own row; `now` is the database's time by default."""
    ended = redrive.succeeded + redrive.failed_again + redrive.skipped
    rest = max(0, redrive.total - redrive.running - ended)
    aborted = redrive.state == RedriveState.ABORTED
    rate = _rate(redrive, now) if redrive.state == RedriveState.RUNNING else 0.0
    return Progress(
        queued=0 if aborted else rest,
        running=redrive.running,
        succeeded=redrive.succeeded,
        failed_again=redrive.failed_again,
        skipped=redrive.skipped,
        aborted=rest if aborted else 0,
        rate=round(rate, 2),
        seconds_left=round(rest / rate, 1) if rate else None,
    )


def _rate(redrive: Redrive, now: datetime | None) -> float:
    """Return how many entries were sent per second since `pace_since`; 0 if none was sent."""
    if redrive.pace_since is None or not redrive.pace_sent:
        return 0.0
    # At least 0.1 s, because a rate over a shorter time would be meaningless.
    elapsed = (now or database_now()) - redrive.pace_since
    return redrive.pace_sent / max(0.1, elapsed.total_seconds())


# Compute how many entries a redrive may send now, from its row.


UNBOUNDED = 1_000_000  # higher than the number of a redrive's entries


def standing(redrive: Redrive) -> Standing:
    """Return the redrive's progress and limits, as the functions of `rules` expect them."""
    return Standing(
        sent=redrive.sent,
        running=redrive.running,
        canary=redrive.canary,
        max_in_flight=redrive.max_in_flight,
        stop_above=redrive.stop_above,
        stop_window=redrive.stop_window,
        recent=redrive.recent,
    )


def allowed(redrive: Redrive) -> int:
    """Return how many entries may be sent now, and advance the pace, which the caller saves."""
    room = rules.room(standing(redrive))
    most = UNBOUNDED if room is None else room
    now = database_now()
    if redrive.rate is None:
        redrive.pace_since = redrive.pace_since or now
        return most
    number, pace = rules.due(Pace(redrive.pace_since, redrive.pace_sent), redrive.rate, now)
    redrive.pace_since, redrive.pace_sent = pace.since, pace.sent
    return min(most, number)
