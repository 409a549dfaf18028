"""Tests of the time at which a message is tried again."""

from datetime import UTC, datetime, timedelta

import pytest

from valkyr_plugins.alerts.decisions import next_attempt

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def after(attempts: int, *, asked: float | None = None, age: float = 0) -> float | None:
    at = next_attempt(
        attempts,
        queued_at=NOW - timedelta(seconds=age),
        now=NOW,
        first=5,
        give_up=86_400,
        asked=asked,
    )
    return None if at is None else (at - NOW).total_seconds()


def test_the_wait_triples_up_to_an_hour() -> None:
    waits = [after(n) for n in (1, 2, 3, 4, 5, 6, 7, 8, 1_000_000)]

    assert waits == [5, 15, 45, 135, 405, 1215, 3600, 3600, 3600]


@pytest.mark.parametrize(("asked", "wait"), [(1, 5), (60, 60), (1e9, 3600)])
def test_a_receiver_may_ask_for_more_up_to_an_hour(asked: float, wait: float) -> None:
    assert after(1, asked=asked) == wait


def test_after_a_day_it_is_given_up() -> None:
    assert after(1, age=86_394) == 5
    assert after(1, age=86_396) is None


def test_a_message_is_tried_some_thirty_times() -> None:
    at, attempts = NOW, 0
    while at is not None:
        attempts += 1
        at = next_attempt(attempts, queued_at=NOW, now=at, first=5, give_up=86_400)

    assert 25 < attempts < 35
