"""How long beat has been silent."""

from datetime import datetime, timedelta

from valkyr_plugins.alerts.finding import Finding, page
from valkyr_plugins.alerts.models import AlertKind, AlertRule


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
