"""Tests of the pure functions for the pace, the capacity and the rules by which a redrive stops."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from valkyr_plugins.redrive import rules
from valkyr_plugins.redrive.rules import Pace, Standing, due, reason_to_stop, remembered, room

T0 = datetime(2026, 11, 22, tzinfo=UTC)
rates = st.floats(0.05, 5_000)
gaps = st.lists(st.floats(0.001, 3.0), min_size=1, max_size=60)


def at(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


def standing(**changes: object) -> Standing:
    given_: dict[str, object] = {
        "sent": 0, "running": 0, "canary": 0, "max_in_flight": None, "stop_above": None,
        "stop_window": 100, "recent": "",
    }  # fmt: skip
    return Standing(**(given_ | changes))  # type: ignore[arg-type]


@given(rates, gaps)
def test_whoever_looks_often_enough_sends_at_the_rate(rate: float, looks: list[float]) -> None:
    number, pace = due(Pace(None, 0), rate, T0)
    sent = number
    pace = Pace(pace.since, pace.sent + number)
    clock = 0.0
    for gap in looks:
        clock += gap
        number, pace = due(pace, rate, at(clock))
        sent += number
        pace = Pace(pace.since, pace.sent + number)
        # The first is sent at once; the debt is always less than one entry below a whole number.
        assert sent <= clock * rate + 1.01
        assert sent > clock * rate - 1.01 or gap > rules.CATCH_UP


@given(rates, st.floats(0, 1e6))
def test_a_long_gap_is_not_caught_up_in_one_burst(rate: float, gap: float) -> None:
    number, pace = due(Pace(T0, 0), rate, at(gap))

    assert number <= max(1, rules.CATCH_UP * rate)
    again, _ = due(Pace(pace.since, number), rate, at(gap))
    assert again <= 1


@given(
    st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.none() | st.integers(1, 50),
    st.none() | st.floats(0, 100),
)  # fmt: skip
def test_no_more_are_in_flight_than_may_be(
    sent: int, running: int, canary: int, most: int | None, above: float | None
) -> None:
    free = room(
        standing(
            sent=max(sent, running), running=running, canary=canary, max_in_flight=most,
            stop_above=above, stop_window=20,
        )
    )  # fmt: skip

    if most is not None and free:
        assert running + free <= most
    if above is not None and free:
        assert running + free <= 20
    if most is None and above is None and sent >= canary and not running:
        assert free is None


@given(st.integers(1, 20), st.integers(0, 19))
def test_nobody_follows_before_the_last_canary_has_ended(canary: int, ended: int) -> None:
    running = max(0, canary - ended)

    free = room(standing(sent=canary, running=running, canary=canary))

    assert free == (0 if running else None)
    assert room(standing(sent=0, canary=canary)) == canary


@given(st.text("SF", max_size=30), st.floats(0, 100), st.integers(1, 30))
def test_it_stops_when_and_only_when_more_than_the_share_failed(
    recent: str, above: float, window: int
) -> None:
    last = recent[-window:]
    enough = len(last) >= min(rules.SAMPLE, window)
    too_many = enough and 100 * last.count("F") / len(last) > above

    reason = reason_to_stop(standing(stop_above=above, stop_window=window, recent=recent))

    assert (reason is not None) == too_many


def test_one_failed_canary_stops_it_unless_a_share_of_failures_is_allowed() -> None:
    gate = {"sent": 4, "canary": 4, "recent": "SSSF"}

    assert reason_to_stop(standing(**gate)) is not None
    assert reason_to_stop(standing(**gate, stop_above=25)) is None
    assert reason_to_stop(standing(**gate, stop_above=24)) is not None
    assert reason_to_stop(standing(**(gate | {"running": 1}))) is None
    assert reason_to_stop(standing(**(gate | {"sent": 5}))) is None
    assert reason_to_stop(standing(**(gate | {"recent": ""}))) is None


@given(st.text("SF", max_size=50), st.text("SF", max_size=50), st.integers(1, 30))
def test_what_is_remembered_is_bounded_and_the_newest(old: str, new: str, window: int) -> None:
    kept = remembered(old, new, standing(stop_window=window))

    assert len(kept) <= window
    assert (old + new).endswith(kept)
    assert len(kept) == min(window, len(old + new))
