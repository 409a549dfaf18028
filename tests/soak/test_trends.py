"""Trends: the series that count as growth."""

from random import Random

from tests.soak.trends import Trend, trend

SECONDS = range(0, 3600, 10)


def _line(an_hour: float, noise: float, warm_up: float = 0.0) -> Trend:
    random = Random(7)
    made = [
        (
            float(at),
            100 + warm_up * min(1.0, at / 900) + an_hour * at / 3600 + random.gauss(0, noise),
        )
        for at in SECONDS
    ]
    found = trend(made)
    assert found is not None
    return found


def test_a_level_with_noise_does_not_grow() -> None:
    assert not _line(0, 5).grows


def test_what_is_added_at_the_beginning_is_no_growth() -> None:
    found = _line(0, 1, warm_up=300)

    assert not found.grows
    assert abs(found.level - 400) < 2


def test_two_percent_an_hour_are_growth() -> None:
    found = _line(2, 0.1)

    assert found.grows
    assert abs(found.growth - 2) < 0.2


def test_half_a_percent_an_hour_is_none() -> None:
    assert not _line(0.5, 0.1).grows


def test_growth_within_the_noise_is_not_told() -> None:
    assert not _line(2, 5).grows


def test_few_readings_make_no_trend() -> None:
    assert trend([(float(at), 1.0) for at in range(5)]) is None
    assert trend([]) is None
