"""The due times that passed while no process ran: each value of `catchUp`, and its bounds."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from executions.triggers.cron_schedule import COUNTED, CronRule, Decision, decide, delay, rule

NOW = datetime(2026, 6, 10, 11, 30, tzinfo=UTC)
OUTAGE = NOW - timedelta(days=3)
SETTINGS = {
    "schedule": "0 * * * *",
    "timezone": "UTC",
    "overlap": "skip",
    "catchUp": "latest",
    "catchUpLimit": 100,
    "jitterSeconds": 0,
    "startAt": None,
    "endAt": None,
}


def made(**changes: Any) -> CronRule:
    return rule(SETTINGS | changes)


def after_outage(its: CronRule, now: datetime = NOW, after: datetime = OUTAGE) -> list[Decision]:
    return decide(its, after, now, now)


def fired(decisions: list[Decision]) -> list[str]:
    return [one.fire_at.strftime("%d %H:%M") for one in decisions if one.fires]


def test_none_fires_no_time_of_the_outage() -> None:
    decisions = after_outage(made(catchUp="none"))

    assert len(decisions) == 72
    assert fired(decisions) == []
    assert all("Missed" in decision.reason for decision in decisions)


def test_latest_fires_the_newest_time_of_the_outage() -> None:
    decisions = after_outage(made())

    assert len(decisions) == 72
    assert fired(decisions) == ["10 11:00"]
    assert "started later" in decisions[-1].reason


def test_all_fires_every_time_of_the_outage_oldest_first() -> None:
    decisions = after_outage(made(catchUp="all"))

    assert len(fired(decisions)) == len(decisions) == 72
    assert fired(decisions)[0] == "07 12:00"
    assert decisions == sorted(decisions, key=lambda one: one.fire_at)


def test_all_fires_no_more_than_its_limit() -> None:
    decisions = after_outage(made(catchUp="all", catchUpLimit=10))

    assert fired(decisions) == [one.fire_at.strftime("%d %H:%M") for one in decisions[:10]]
    assert len(decisions) == 72


@pytest.mark.parametrize("catch_up", ["none", "latest", "all"])
def test_a_time_up_to_a_minute_late_is_on_time(catch_up: str) -> None:
    its = made(catchUp=catch_up, catchUpLimit=1)
    noon = datetime(2026, 6, 10, 12, tzinfo=UTC)

    on_time = after_outage(its, noon + timedelta(seconds=60), noon - timedelta(seconds=1))

    assert on_time == [Decision(noon, True)]


@pytest.mark.parametrize(("catch_up", "expected"), [("none", 1), ("latest", 1), ("all", 73)])
def test_after_an_outage_a_time_that_is_due_now_fires(catch_up: str, expected: int) -> None:
    now = datetime(2026, 6, 10, 12, 0, 10, tzinfo=UTC)

    decisions = after_outage(made(catchUp=catch_up), now)

    assert len(fired(decisions)) == expected
    assert fired(decisions)[-1] == "10 12:00"


def test_a_time_that_is_a_little_early_fires_once() -> None:
    noon = datetime(2026, 6, 10, 12, tzinfo=UTC)

    assert decide(made(), NOW, noon - timedelta(seconds=3), noon + timedelta(seconds=2)) == [
        Decision(noon, True)
    ]


@pytest.mark.parametrize("catch_up", ["none", "latest", "all"])
def test_a_long_outage_has_a_bounded_number_of_rows_and_says_how_many_more(catch_up: str) -> None:
    its = made(schedule="* * * * *", catchUp=catch_up)

    decisions = after_outage(its)

    assert len(decisions) <= 1_100
    summed_up = [one for one in decisions if "that have no rows" in one.reason]
    [last] = summed_up
    listed = Counter(one.fires for one in decisions)
    assert last == [one for one in decisions if not one.fires][-1]
    left_out = 3 * 24 * 60 - len(decisions)
    assert f"with {left_out:,} later times" in last.reason
    # Two are on time: of this minute, and of the one before.
    assert listed[True] == {"none": 2, "latest": 1, "all": 102}[catch_up]


def test_an_outage_of_years_is_not_counted_to_the_end() -> None:
    its = made(schedule="* * * * *", catchUp="none")

    decisions = after_outage(its, after=NOW - timedelta(days=2_000))

    assert len(decisions) <= 1_000
    assert any(f"at least {COUNTED:,} later times" in one.reason for one in decisions)


def test_no_reason_is_too_long_for_its_row() -> None:
    its = made(schedule="* * * * *", catchUp="none")

    decisions = after_outage(its, after=NOW - timedelta(days=2_000))

    assert max(len(one.reason) for one in decisions) <= 200


def test_a_delay_is_the_same_each_time_and_spread_over_its_bound() -> None:
    trigger = UUID(int=7)
    delays = [delay(trigger, NOW + timedelta(minutes=n), 30) for n in range(300)]

    assert delays == [delay(trigger, NOW + timedelta(minutes=n), 30) for n in range(300)]
    assert min(delays) >= timedelta(0)
    assert max(delays) <= timedelta(seconds=30)
    assert len(set(delays)) > 25
    assert delays != [delay(UUID(int=8), NOW + timedelta(minutes=n), 30) for n in range(300)]


def test_no_delay_is_asked_for_and_none_is_given() -> None:
    assert delay(UUID(int=7), NOW, 0) == timedelta(0)
