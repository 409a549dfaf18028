"""Tests of histograms and ranges of dashboards, without a database."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valkyr_plugins.figures.breakdowns import place_of
from valkyr_plugins.figures.ranges import HOUR, RANGES, floor, range_named
from valkyr_plugins.figures.rollup import KEPT, due, sums
from valkyr_plugins.figures.tally import LAST, PER_DECADE, Histogram, Tally, bounds, bucket_of

NOW = datetime(2026, 11, 22, 14, 37, 12, tzinfo=UTC)
OLDEST = datetime(2020, 1, 1)  # noqa: DTZ001 - the strategy adds the zone
LENGTHS = st.floats(0, 1e9, allow_nan=False)


@given(LENGTHS)
def test_a_length_lies_in_its_bucket(length: float) -> None:
    begins, ends = bounds(bucket_of(length))

    assert begins * (1 - 1e-9) <= length <= ends * (1 + 1e-9)


@given(st.lists(st.floats(1, 1e8), min_size=1, max_size=200), st.floats(0.01, 1))
def test_a_percentile_is_at_most_a_bucket_off(lengths: list[float], share: float) -> None:
    rank = max(1, -(-int(share * len(lengths) * 1_000_000) // 1_000_000))
    exact = {sorted(lengths)[min(len(lengths), near) - 1] for near in (rank, rank + 1)}

    found = Histogram.of(lengths).percentile(share)

    width = 10 ** (1 / PER_DECADE) * (1 + 1e-9)
    assert found is not None
    assert any(true / width <= found <= true * width for true in exact)


def test_a_histogram_of_nothing_has_no_percentile() -> None:
    assert Histogram().percentile(0.5) is None


def test_what_is_longer_than_all_buckets_goes_to_the_last() -> None:
    assert bucket_of(1e300) == LAST


@given(st.lists(LENGTHS, max_size=50), st.lists(LENGTHS, max_size=50))
def test_histograms_add_up(some: list[float], others: list[float]) -> None:
    merged = Histogram.of(some)
    merged.merge(Histogram.of(others))

    assert merged.as_json() == Histogram.of(some + others).as_json()
    assert Histogram.stored(merged.as_json()).as_json() == merged.as_json()


@pytest.mark.parametrize("name", RANGES)
@given(at=st.datetimes(timezones=st.just(UTC), min_value=OLDEST))
def test_a_window_ends_with_the_slot_under_way(name: str, at: datetime) -> None:
    window = RANGES[name].window(at)

    assert window.end - window.range.grain <= at < window.end
    assert len(window.starts()) * window.range.slot == window.range.length
    assert window.slot_of(at) == window.range.slots - 1
    assert window.slot_of(window.start) == 0
    assert window.slot_of(window.start - timedelta(microseconds=1)) < 0


def test_an_unknown_range_is_the_default() -> None:
    assert range_named("a century") is range_named(None) is RANGES["24h"]


def test_the_failure_rate_leaves_cancelled_ones_out() -> None:
    assert Tally(succeeded=6, failed=1, timed_out=1, cancelled=50).failure_rate == 0.25
    assert Tally(cancelled=3).failure_rate is None


def test_every_hour_is_counted_when_over_and_once_more_when_settled() -> None:
    hour = floor(NOW, HOUR) - 3 * HOUR
    early, late = hour + timedelta(minutes=61), hour + timedelta(hours=2)

    assert hour in due({}, NOW)
    assert hour in due({hour: early}, NOW)
    assert hour not in due({hour: early}, late - timedelta(seconds=1))
    assert hour not in due({hour: late}, NOW)


def test_hours_are_counted_newest_first_and_not_beyond_what_is_kept() -> None:
    hours = list(due({}, NOW))

    assert hours[0] == floor(NOW, HOUR) - HOUR
    assert hours == sorted(hours, reverse=True)
    assert NOW - KEPT <= hours[-1] < NOW - KEPT + HOUR


def test_sums_are_those_of_workflow_workspace_and_all() -> None:
    a, b, w, x = (UUID(int=number) for number in range(4))

    found = sums(
        {(0, a, w): Tally(failed=1), (7, a, w): Tally(failed=2), (3, b, x): Tally(failed=4)}
    )

    assert {key: tally.failed for key, tally in found.items()} == {
        (a, w): 3, (b, x): 4, (a, None): 3, (b, None): 4, (None, None): 7,
    }  # fmt: skip


def test_a_place_has_no_iterations() -> None:
    assert place_of("refine[2].draft[10].main") == "refine.draft.main"
