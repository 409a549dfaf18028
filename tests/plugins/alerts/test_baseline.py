"""Tests of the limit between usual and unusual failure rates."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from valkyr_plugins.alerts.decisions import hours, is_high, rate

NOON = datetime(2026, 3, 8, 12, tzinfo=UTC)
HALF_PAST = NOON + timedelta(minutes=30)


def days_ago(days: int) -> datetime:
    return NOON - timedelta(days=days)


def test_the_last_hour_takes_its_part_of_the_hour_before() -> None:
    found = rate({NOON: 10, NOON - timedelta(hours=1): 8}, HALF_PAST)

    assert found.recent == 10 + 8 / 2


def test_usual_is_the_median_of_the_same_hour_on_seven_days() -> None:
    counts = {days_ago(day): many for day, many in enumerate((5, 6, 7, 8, 9, 10, 5_000), 1)}

    assert rate(counts, HALF_PAST).usual == 8


def test_one_bad_day_does_not_hide_the_next() -> None:
    found = rate({days_ago(1): 10_000, NOON: 50}, HALF_PAST)

    assert is_high(found, factor=3, least=10)


def test_few_failures_are_never_far_more_than_none() -> None:
    assert not is_high(rate({NOON: 9}, HALF_PAST), factor=3, least=10)
    assert is_high(rate({NOON: 10}, HALF_PAST), factor=3, least=10)


def test_what_is_as_usual_is_not_high() -> None:
    counts = {days_ago(day): 100 for day in range(8)}

    assert not is_high(rate(counts, HALF_PAST), factor=3, least=10)


@given(st.integers(0, 7 * 24 * 3600), st.dictionaries(st.integers(0, 200), st.integers(0, 99)))
def test_only_the_hours_it_names_are_read(seconds: int, counts: dict[int, int]) -> None:
    now = NOON + timedelta(seconds=seconds)
    kept = {NOON + timedelta(days=7) - timedelta(hours=h): many for h, many in counts.items()}
    wanted = set(hours(now))

    assert rate(kept, now) == rate({h: n for h, n in kept.items() if h in wanted}, now)
