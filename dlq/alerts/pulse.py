"""Beat's pulse: written by its duties, and how long it has been silent."""

from datetime import datetime, timedelta

from dlq.alerts.finding import Finding, page
from dlq.models import AlertKind, AlertRule, BeatPulse
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


def silence(rule: AlertRule, since: datetime, now: datetime) -> Finding | None:
    """That beat has been silent since then for longer than the rule allows, if it has."""
    silent = now - since
    if silent <= timedelta(seconds=rule.silent_seconds):
        return None
    sentence = (
        f"No duty of beat has run for {silent.total_seconds():,.0f} s (since "
        f"{since:%Y-%m-%d %H:%M:%S} UTC): schedules, timers and retries stand still. Is the beat "
        "process running, and does it reach the broker?"
    )
    return Finding(
        AlertKind.BEAT_SILENT,
        "beat",
        sentence,
        page("runners_runner"),
        {"since": since.isoformat()},
        rule.workspace_id,
    )
