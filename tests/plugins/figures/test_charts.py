"""Tests of the positions of bars and lines, and of their labels."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from valkyr_plugins.figures.admin.charts import axis, by_state, charts, decade, throughput
from valkyr_plugins.figures.admin.drawing import (
    HEIGHT,
    WIDTH,
    line,
    linear,
    logarithmic,
    round_up,
    stacked,
)
from valkyr_plugins.figures.admin.home import change
from valkyr_plugins.figures.ranges import RANGES
from valkyr_plugins.figures.reading import Figures
from valkyr_plugins.figures.tally import Tally

NOW = datetime(2026, 11, 22, 14, 30, tzinfo=UTC)


def figures(*, now: Tally, before: Tally | None = None, name: str = "24h") -> Figures:
    window = RANGES[name].window(NOW)
    slots = [Tally() for _ in range(window.range.slots)]
    slots[-2].merge(now)
    made = Figures(window, slots, before or Tally())
    made.total.merge(now)
    return made


@given(st.floats(1e-6, 1e15))
def test_a_round_number_is_close_above(value: float) -> None:
    assert value <= round_up(value) * (1 + 1e-9)
    assert round_up(value) <= value * 2.5 * (1 + 1e-9)


@given(st.lists(st.floats(0, 1e12), max_size=30))
@example([5e-324])
def test_values_lie_within_their_scale(values: list[float]) -> None:
    for scale in (linear(values), logarithmic(values)):
        places = [scale.at(value) for value in sorted(values)]
        assert places == sorted(places)
        assert all(0 <= place <= 1 for place in places)
        assert len(scale.ticks) >= 2
        assert scale.at(scale.ticks[0]) == 1
        assert scale.at(scale.ticks[-1]) == 0


@given(st.lists(st.lists(st.integers(0, 10**9), min_size=4, max_size=4), min_size=1, max_size=60))
def test_bars_stay_in_the_drawing_and_do_not_overlap(numbers: list[list[int]]) -> None:
    columns = [[("kind", number, "said") for number in column] for column in numbers]

    bars = stacked(columns, linear([sum(column) for column in numbers]))

    for bar in bars:
        assert 0 <= float(bar.x) <= float(bar.x) + float(bar.width) <= WIDTH + 0.2
        assert float(bar.y) >= 0
        assert float(bar.y) + float(bar.height) <= HEIGHT + 8


def test_a_line_has_gaps_where_nothing_was_and_dots_where_one_was_alone() -> None:
    made = line("p50", "p50", [1.0, 2.0, None, 3.0, None], linear([3.0]))

    assert len(made.pieces) == len(made.dots) == 1
    assert len(made.pieces[0].split()) == 2


def test_every_chart_has_the_same_numbers_as_a_table() -> None:
    made = charts(figures(now=Tally(succeeded=3, failed=1, cancelled=2)))

    states, rate, *_ = made
    assert len(states.rows) == len(rate.rows) == 24
    assert states.rows[-2][1:5] == ["3", "2", "0", "1"]
    assert rate.rows[-2][1] == "25 %"
    assert sum(1 for bar in states.bars) == 3
    assert "3 succeeded, 2 cancelled, 0 timed out, 1 failed" in states.said


def test_a_chart_of_nothing_says_so() -> None:
    assert by_state(figures(now=Tally())).empty == "No executions ended in this period."


@pytest.mark.parametrize(
    ("now", "before", "said"),
    [
        (0, 0, "none in the previous 24 hours either"),
        (5, 0, "none in the previous 24 hours"),
        (94, 96, "same as the previous 24 hours"),
        (188, 96, "2.0 times the rate of the previous 24 hours"),
        (47, 96, "50 % less than in the previous 24 hours"),
        (0, 10, "100 % less than in the previous 24 hours"),
    ],
)  # fmt: skip
def test_failures_are_compared_by_rate(now: int, before: int, said: str) -> None:
    """Failures are compared by rate: 23.5 hours of the range have passed, and 24 of the period
    before it.
    """
    assert change(figures(now=Tally(failed=now), before=Tally(failed=before))) == said


def test_throughput_is_by_the_hour_or_the_minute() -> None:
    assert throughput(figures(now=Tally(succeeded=235))) == "10 per hour"
    assert throughput(figures(now=Tally(succeeded=23_500 * 60))) == "1,000 per minute"
    assert throughput(figures(now=Tally(succeeded=2))) == "0.085 per hour"


@pytest.mark.parametrize(
    ("length", "said"),
    [
        (timedelta(milliseconds=1), "1 ms"), (timedelta(milliseconds=100), "100 ms"),
        (timedelta(seconds=1), "1 s"), (timedelta(seconds=100), "100 s"),
        (timedelta(seconds=1_000), "17 min"),
        (timedelta(seconds=10_000), "2.8 h"),
    ],
)  # fmt: skip
def test_powers_of_ten_have_short_words(length: timedelta, said: str) -> None:
    assert decade(length / timedelta(milliseconds=1)) == said


@pytest.mark.parametrize(
    ("since", "until", "slots"),
    [
        ("2026-11-22T10:00Z", "2026-11-22T12:00Z", (19, 20)),
        ("2026-11-22T11:00:00+01:00", "2026-11-22T12:00Z", (19, 20)),
        ("2026-11-22T10:00", "2026-11-22T12:00", (19, 20)),
        ("2026-11-22T10:20Z", "2026-11-22T10:25Z", (19, 19)),
        ("2026-11-22T14:50Z", "2026-11-23T10:00Z", (23, 23)),
        ("2026-11-01T00:00Z", "2026-11-21T16:00Z", (0, 0)),
        ("2026-11-01T00:00Z", "2026-11-21T15:00Z", None),
        ("2026-11-23T00:00Z", "2026-11-24T00:00Z", None),
        ("2026-11-22T12:00Z", "2026-11-22T10:00Z", None),
        ("today", "2026-11-22T10:00Z", None),
        (None, None, None),
    ],
)
def test_a_part_of_a_range_has_whole_slots(
    since: str | None, until: str | None, slots: tuple[int, int] | None
) -> None:
    """A part of a range has whole slots: the window is that of 24 hours, from 21 November,
    15:00.
    """
    part = RANGES["24h"].window(NOW).part(since, until)

    assert (part and (part.first, part.last)) == slots


def test_numbers_are_those_of_the_selected_part_and_charts_show_all() -> None:
    of = figures(now=Tally(succeeded=3, failed=1))
    last = of.window.part("2026-11-22T13:00Z", "2026-11-22T14:00Z")
    other = of.window.part("2026-11-22T02:00Z", "2026-11-22T04:00Z")
    assert last is not None
    assert other is not None

    states, rate, *_ = charts(of.within(last))
    assert (states.note, rate.note) == ("4 per hour on average", "25 %")
    assert of.within(other).total.ended == 0
    assert charts(of.within(other))[0].bars == charts(of)[0].bars != []
    shown = axis(of.within(other))
    assert (shown.before, shown.after) == (("0", "275.0"), ("325.0", "275.0"))
    assert shown.period == "02:00 – 04:00 UTC"
