"""The limits that apply, the order in which they are locked, and the starts of windows."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from executions.quotas.counting import LENGTHS, start_of
from executions.quotas.limits import Limit, tightest
from executions.states import QuotaWindow

HOUR, DAY = QuotaWindow.HOUR, QuotaWindow.DAY


def test_of_several_limits_on_one_counter_the_tightest_holds() -> None:
    tier, quota = Limit(None, HOUR, 100, "The tier"), Limit(None, HOUR, 20, "The quota")

    assert tightest([tier, quota]) == tightest([quota, tier]) == (quota,)


def test_counters_come_in_one_order_whatever_they_were_given_in() -> None:
    limits = [
        Limit(None, HOUR, 4, "a"),
        Limit(None, DAY, 3, "b"),
        Limit(7, HOUR, 2, "c"),
        Limit(7, DAY, 1, "d"),
    ]

    assert tightest(limits[::-1]) == tuple(limits)
    assert tightest([limits[2], limits[0], limits[3], limits[1]]) == tuple(limits)


@pytest.mark.parametrize(
    ("now", "hour", "day"),
    [
        (datetime(2026, 3, 29, 0, 0, tzinfo=UTC), (29, 0), 29),
        (datetime(2026, 3, 29, 23, 59, 59, 999_999, tzinfo=UTC), (29, 23), 29),
        # Half past one in a zone five and a half hours ahead: still the day before.
        (datetime(2026, 3, 29, 1, 40, tzinfo=timezone(timedelta(hours=5.5))), (28, 20), 28),
    ],
)
def test_windows_are_full_hours_and_days_in_utc(
    now: datetime, hour: tuple[int, int], day: int
) -> None:
    assert start_of(HOUR, now) == datetime(2026, 3, *hour, tzinfo=UTC)
    assert start_of(DAY, now) == datetime(2026, 3, day, tzinfo=UTC)
    for window in QuotaWindow:
        assert start_of(window, now) <= now < start_of(window, now) + LENGTHS[window]
