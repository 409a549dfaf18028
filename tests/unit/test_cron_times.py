"""The due times of schedules, by the clocks of three zones on the days on which they change."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from croniter import croniter_range

from executions.triggers.cron_schedule import Schedule, following

BERLIN, NEW_YORK, LORD_HOWE = "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def due(text: str, zone: str, after: str, until: str) -> list[str]:
    """Return the due times, by the zone's clocks, with their distance from UTC."""
    schedule = Schedule(text, ZoneInfo(zone))
    found = schedule.times(at(after), at(until))
    return [time.astimezone(schedule.zone).strftime("%d %H:%M %z") for time in found]


@pytest.mark.parametrize(
    ("zone", "after", "until", "expected"),
    [
        (
            BERLIN,
            "2026-03-28",
            "2026-03-31",
            ["28 02:30 +0100", "29 03:00 +0200", "30 02:30 +0200"],
        ),
        (
            BERLIN,
            "2026-10-24",
            "2026-10-27",
            ["24 02:30 +0200", "25 02:30 +0200", "26 02:30 +0100"],
        ),
        (
            NEW_YORK,
            "2026-03-07T05:00",
            "2026-03-10T04:00",
            ["07 02:30 -0500", "08 03:00 -0400", "09 02:30 -0400"],
        ),
        (
            NEW_YORK,
            "2026-10-31T04:00",
            "2026-11-03T05:00",
            ["31 02:30 -0400", "01 02:30 -0500", "02 02:30 -0500"],
        ),
    ],
)
def test_a_schedule_that_names_hours_is_due_once_every_day(
    zone: str, after: str, until: str, expected: list[str]
) -> None:
    assert due("30 2 * * *", zone, after, until) == expected


def test_an_hour_that_new_york_shows_twice_is_due_the_first_time() -> None:
    found = due("30 1 * * *", NEW_YORK, "2026-11-01T04:00", "2026-11-02T05:00")

    assert found == ["01 01:30 -0400"]


def test_half_an_hour_that_lord_howe_skips_is_due_when_clocks_go_on() -> None:
    found = due("15 2 * * *", LORD_HOWE, "2026-10-02T13:00", "2026-10-05T12:00")

    assert found == ["03 02:15 +1030", "04 02:30 +1100", "05 02:15 +1100"]


def test_half_an_hour_that_lord_howe_shows_twice_is_due_the_first_time() -> None:
    found = due("45 1 * * *", LORD_HOWE, "2026-04-03T13:00", "2026-04-06T12:00")

    assert found == ["04 01:45 +1100", "05 01:45 +1100", "06 01:45 +1030"]


@pytest.mark.parametrize(
    ("zone", "after", "until", "expected"),
    [
        (BERLIN, "2026-03-29T00:00", "2026-03-29T02:00", ["01:30", "03:00", "03:30", "04:00"]),
        (
            BERLIN,
            "2026-10-24T23:30",
            "2026-10-25T02:00",
            ["02:00", "02:30", "02:00", "02:30", "03:00"],
        ),
        (NEW_YORK, "2026-03-08T06:00", "2026-03-08T08:00", ["01:30", "03:00", "03:30", "04:00"]),
        (
            NEW_YORK,
            "2026-11-01T04:30",
            "2026-11-01T07:00",
            ["01:00", "01:30", "01:00", "01:30", "02:00"],
        ),
        (LORD_HOWE, "2026-10-03T14:30", "2026-10-03T16:00", ["01:30", "02:30", "03:00"]),
        (LORD_HOWE, "2026-04-04T14:00", "2026-04-04T15:30", ["01:30", "01:30", "02:00"]),
    ],
)
def test_a_schedule_of_every_hour_goes_by_the_time_that_passes(
    zone: str, after: str, until: str, expected: list[str]
) -> None:
    found = due("*/30 * * * *", zone, after, until)

    assert [time.split()[1] for time in found] == expected


CHANGES = [
    (BERLIN, "2026-03-29T01:00"),
    (BERLIN, "2026-10-25T01:00"),
    (NEW_YORK, "2026-03-08T07:00"),
    (NEW_YORK, "2026-11-01T06:00"),
    (LORD_HOWE, "2026-04-04T15:00"),
    (LORD_HOWE, "2026-10-03T15:30"),
]


@pytest.mark.parametrize(("zone", "change"), CHANGES)
@pytest.mark.parametrize(
    "text",
    ["30 2 * * *", "*/20 * * * *", "15 */2 * * *", "10,40 1-3 * * *", "7 * * * *", "5 1 * * sun"],
)
def test_times_are_those_that_somebody_who_watches_the_clock_would_see(
    text: str, zone: str, change: str
) -> None:
    schedule = Schedule(text, ZoneInfo(zone))
    for hours in (-25, -2, 0):
        after = at(change) + timedelta(hours=hours, minutes=-11)
        until = after + timedelta(hours=4, minutes=35)
        seen = watched(text, zone, after, until)

        assert list(schedule.times(after, until)) == seen
        assert schedule.newest(after, until) == (seen[-1] if seen else None)


def watched(text: str, zone: str, after: datetime, until: datetime) -> list[datetime]:
    """Return the due times found by reading the zone's clock every minute; a skipped minute counts
    when the clock continues.
    """
    every_hour = text.split()[1] == "*"
    shown: set[datetime] = set()
    found: list[datetime] = []
    minute = timedelta(minutes=1)
    time = after.replace(second=0) - timedelta(hours=4)
    last = time.astimezone(ZoneInfo(zone)).replace(tzinfo=None) - minute
    around = timedelta(days=1)
    named = set(croniter_range(last - around, last + (until - time) + around, text))
    while time <= until:
        clock = time.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
        if every_hour:
            fires = clock in named
        else:
            skipped = [last + n * minute for n in range(1, (clock - last) // minute)]
            news = [one for one in [*skipped, clock] if one not in shown]
            fires = not named.isdisjoint(news)
            shown.update(news)
        if fires and time > after:
            found.append(time)
        last, time = clock, time + minute
    return found


def test_no_time_is_due_before_the_start_or_after_the_end() -> None:
    schedule = Schedule(
        "0 * * * *", ZoneInfo("UTC"), at("2026-05-01T10:00"), at("2026-05-01T12:00")
    )

    found = list(schedule.times(at("2026-04-01"), at("2026-06-01")))

    assert found == [at("2026-05-01T10:00"), at("2026-05-01T11:00"), at("2026-05-01T12:00")]
    assert schedule.newest(at("2026-04-01"), at("2026-06-01")) == found[-1]
    assert schedule.newest(at("2026-04-01"), at("2026-05-01T09:59")) is None
    assert following(schedule, at("2026-04-01")) == found[0]
    assert following(schedule, found[-1]) is None


def test_a_day_that_a_zone_never_had_is_due_when_its_clocks_go_on() -> None:
    schedule = Schedule("0 12 * * *", ZoneInfo("Pacific/Apia"))

    found = list(schedule.times(at("2011-12-29T00:00"), at("2011-12-31T00:00")))

    # The 29th at noon, the end of that day for the 30th that was left out, the 31st at noon.
    assert found == [at("2011-12-29T22:00"), at("2011-12-30T10:00"), at("2011-12-30T22:00")]


def test_the_newest_time_of_a_rare_schedule_is_found_at_once() -> None:
    schedule = Schedule("0 0 29 2 *", ZoneInfo("UTC"))

    assert schedule.newest(at("2020-01-01"), at("2026-11-21")) == at("2024-02-29")
    assert schedule.newest(at("2026-11-20"), at("2026-11-21")) is None
    assert following(schedule, at("2026-11-21")) == at("2028-02-29")
