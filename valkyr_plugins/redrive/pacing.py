"""How many entries a redrive may send at this moment: its row read by the rules."""

from executions.public.database import database_now
from valkyr_plugins.redrive import rules
from valkyr_plugins.redrive.models import Redrive
from valkyr_plugins.redrive.rules import Pace, Standing

UNBOUNDED = 1_000_000  # more than a redrive ever has


def standing(redrive: Redrive) -> Standing:
    """The redrive as the rules look at it."""
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
    """How many may be sent now; the redrive's pace goes on from here, the caller saves it."""
    room = rules.room(standing(redrive))
    most = UNBOUNDED if room is None else room
    now = database_now()
    if redrive.rate is None:
        redrive.pace_since = redrive.pace_since or now
        return most
    number, pace = rules.due(Pace(redrive.pace_since, redrive.pace_sent), redrive.rate, now)
    redrive.pace_since, redrive.pace_sent = pace.since, pace.sent
    return min(most, number)
