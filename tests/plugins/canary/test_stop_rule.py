"""The rules by which a canary stops: the plain limit, the sequential test, durations, new
groups.
"""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valkyr_plugins.canary.stop_rule import (
    ERROR_RATE,
    NewGroup,
    SideFigures,
    StopRule,
    evidence,
    may_promote,
    reason_to_stop,
)

RULE = StopRule(at_least=50, failure_rate=10, slower=2.0, new_group=3)
NOTHING = SideFigures()


def reason(canary: SideFigures, latest: SideFigures = NOTHING, *groups: NewGroup) -> str | None:
    return reason_to_stop(RULE, canary, latest, groups)


def of(started: int, failed: int, ended: int | None = None) -> SideFigures:
    return SideFigures(started=started, ended=started if ended is None else ended, failed=failed)


def test_a_version_over_its_limit_stops_once_enough_executions_ended() -> None:
    assert reason(of(50, 5)) is None
    assert reason(of(50, 6)) == "6 of 50 ended executions failed; the limit is 10 %."


def test_a_version_that_always_fails_stops_after_three() -> None:
    assert reason(of(2, 2)) is None
    assert reason(of(3, 3)) is not None


def test_running_executions_count_as_good_before_enough_ended() -> None:
    assert reason(of(3, 3)) is not None
    assert reason(of(started=40, failed=3, ended=3)) is None


def test_one_early_failure_stops_nothing() -> None:
    assert reason(of(1, 1)) is None
    assert reason(of(20, 2)) is None


def test_a_version_that_fails_each_fifth_time_is_stopped_within_50_executions() -> None:
    stopped = next(n for n in range(1, 100) if reason(of(n, n // 5)))

    assert stopped <= 50


def _stops(rate: float, random: Random, most: int) -> bool:
    """Return whether one canary of this failure rate stops within `most` executions, checked after
    each.
    """
    failed = 0
    for number in range(1, most + 1):
        failed += random.random() < rate
        if reason(of(number, failed)):
            return True
    return False


def test_nearly_all_versions_that_fail_20_percent_of_the_time_stop_within_50() -> None:
    random = Random(26)
    stopped = sum(_stops(0.20, random, 50) for _ in range(2_000))

    assert stopped >= 0.95 * 2_000


def test_the_sequential_test_stops_few_versions_within_their_limit() -> None:
    random = Random(26)
    # Below the number of ended executions at which the plain limit applies.
    stopped = sum(_stops(0.10, random, 49) for _ in range(5_000))

    assert stopped <= ERROR_RATE * 5_000


@pytest.mark.parametrize(("tried", "bad"), [(1, 0), (4, 4), (30, 9), (200, 31), (5_000, 700)])
@pytest.mark.parametrize("limit", [0.01, 0.1, 0.5])
def test_the_closed_form_equals_the_integral(tried: int, bad: int, limit: float) -> None:
    steps = 200_000
    width = (1 - limit) / steps

    def log_ratio(rate: float) -> float:
        return bad * math.log(rate / limit) + (tried - bad) * math.log((1 - rate) / (1 - limit))

    logs = [log_ratio(limit + (n + 0.5) * width) for n in range(steps)]
    largest = max(logs)
    integral = largest + math.log(sum(math.exp(one - largest) for one in logs) / steps)

    assert evidence(tried, bad, limit) == pytest.approx(integral, rel=1e-4, abs=1e-4)


@given(tried=st.integers(1, 300), data=st.data())
def test_more_failures_are_more_evidence(tried: int, data: st.DataObject) -> None:
    bad = data.draw(st.integers(0, tried - 1))

    assert evidence(tried, bad + 1, 0.1) > evidence(tried, bad, 0.1)


def test_a_version_is_too_slow_by_its_95th_percentile() -> None:
    latest = SideFigures(started=900, ended=900, p95=1.0)
    canary = SideFigures(started=60, ended=60, p95=1.9, slow=0)

    assert reason(canary, latest) is None
    slow = SideFigures(started=60, ended=60, p95=2.5, slow=7)
    assert "7 of 60 executions took longer than 2 s" in str(reason(slow, latest))


def test_without_enough_executions_of_the_latest_version_no_version_is_slow() -> None:
    latest = SideFigures(started=49, ended=49, p95=0.1)

    assert reason(SideFigures(started=60, ended=60, p95=99, slow=60), latest) is None


def test_executions_that_hang_are_slow_before_they_end() -> None:
    latest = SideFigures(started=900, ended=900, p95=1.0)

    assert reason(SideFigures(started=5, slow=5), latest) is not None


def test_a_failure_that_only_this_version_has_stops_it() -> None:
    assert reason(NOTHING, NOTHING, NewGroup("charge: KeyError", 2)) is None
    assert reason(NOTHING, NOTHING, NewGroup("charge: KeyError", 3)) == (
        "Dead letters in a failure group that only this version has: 3 (charge: KeyError)."
    )


def test_each_part_can_be_switched_off() -> None:
    off = StopRule(failure_rate=None, slower=None, new_group=None)
    bad = SideFigures(started=90, ended=90, failed=90, slow=90, p95=99)

    assert reason_to_stop(off, bad, SideFigures(ended=90, p95=1), [NewGroup("x", 9)]) is None


def test_a_promotion_by_time_needs_enough_executions() -> None:
    assert not may_promote(RULE, of(49, 0))
    assert may_promote(RULE, of(50, 0))
    assert may_promote(None, of(1, 0))
