"""A budget's periods: days and months in UTC by the database's clock, or all time. Pure."""

from datetime import UTC, datetime, timedelta

from runners.states import BudgetPeriod


def start_of(period: str, now: datetime, created_at: datetime) -> datetime:
    """When the period began in which `now` lies; a total's when its budget was made."""
    if period == BudgetPeriod.TOTAL:
        return created_at
    day = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return day if period == BudgetPeriod.DAY else day.replace(day=1)


def end_of(period: str, starts_at: datetime) -> datetime | None:
    """When the budget begins anew; None for a total, which never does."""
    if period == BudgetPeriod.TOTAL:
        return None
    if period == BudgetPeriod.DAY:
        return starts_at + timedelta(days=1)
    # The 1st and 31 days more lie in the month after, whatever month it is.
    return (starts_at.replace(day=1) + timedelta(days=31)).replace(day=1)
