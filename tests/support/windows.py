"""Tests that count by the hour wait until the current hour lasts long enough."""

from datetime import timedelta

from executions.database.clock import database_now
from tests.support.waiting import wait_until


def wait_for_a_long_hour(seconds: float) -> None:
    """Return when the current hour lasts for more than `seconds`."""
    wait_until(lambda: _left() > timedelta(seconds=seconds), seconds + 10, "the next hour")


def _left() -> timedelta:
    now = database_now()
    return now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1) - now
