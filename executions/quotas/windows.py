"""Windows: full hours and days in UTC, by the database's clock. Pure."""

from datetime import UTC, datetime, timedelta

from executions.states import QuotaWindow

EXECUTIONS = "executions"  # the resource that is counted here
LENGTHS = {QuotaWindow.HOUR: timedelta(hours=1), QuotaWindow.DAY: timedelta(days=1)}


def start_of(window: QuotaWindow, now: datetime) -> datetime:
    """When the window began in which `now` lies."""
    hour = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    return hour if window == QuotaWindow.HOUR else hour.replace(hour=0)
