"""Beat's pulse: written by a duty that beat sends, so that others see when beat is silent."""

from datetime import datetime, timedelta

from dlq.models import BeatPulse
from executions.database.clock import ClockTimestamp, database_now

# A pulse is not written more often than this.
EVERY = timedelta(seconds=4)


def beat() -> None:
    """Say that a duty of beat's runs."""
    now = database_now()
    present = BeatPulse.objects.filter(pk=1)
    if present.filter(ticked_at__lte=now - EVERY).update(ticked_at=ClockTimestamp()):
        return
    if not present.exists():
        BeatPulse.objects.bulk_create([BeatPulse(ticked_at=now)], ignore_conflicts=True)


def last_beat() -> datetime | None:
    """When a duty of beat's last ran; None where none ever did."""
    return BeatPulse.objects.filter(pk=1).values_list("ticked_at", flat=True).first()
