"""Ids that sort by time, created faster than the clock's milliseconds."""

import time
from types import SimpleNamespace

import pytest

from executions.database import ids


def test_twenty_thousand_at_once_sort_and_are_not_ahead_of_the_clock() -> None:
    first = time.time_ns() // 10**6
    made = [ids.uuid7() for _ in range(20_000)]
    last = time.time_ns() // 10**6
    assert made == sorted(set(made))
    assert {(made_id.version, made_id.variant) for made_id in made} == {
        (7, "specified in RFC 4122")
    }
    assert first <= made[0].int >> 80
    assert made[-1].int >> 80 <= last + 1


def test_they_follow_a_clock_that_is_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    ids.uuid7()
    back = time.time_ns() - 3600 * 10**9
    monkeypatch.setattr(ids, "time", SimpleNamespace(time_ns=lambda: back))
    assert ids.uuid7().int >> 80 == back // 10**6
