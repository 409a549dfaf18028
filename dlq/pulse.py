"""The pulse of beat: a duty of beat writes it, so that other processes notice a silent beat."""

from datetime import datetime, timedelta

from dlq.models import BeatPulse
from executions.database.clock import ClockTimestamp, database_now

# The minimum interval between two writes of the pulse.
EVERY = timedelta(seconds=4)


def beat() -> None:
    """Record that a duty of beat is running, unless the last record is less than 4 s old."""
    now = database_now()
    present = BeatPulse.objects.filter(pk=1)
    if present.filter(ticked_at__lte=now - EVERY).update(ticked_at=ClockTimestamp()):
        return
    if not present.exists():
        BeatPulse.objects.bulk_create([BeatPulse(ticked_at=now)], ignore_conflicts=True)


def last_beat() -> datetime | None:
    """Return the time at which a duty of beat last ran; None if none has run."""
    return BeatPulse.objects.filter(pk=1).values_list("ticked_at", flat=True).first()
