"""A process's cache of circuits reads at most once a second, and only failing circuits."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from runners.targets.rules import TargetLimits, TargetRule
from valkyr_plugins.circuits.breaker import Caller, Circuit, Entry
from valkyr_plugins.circuits.memory import Key, Memory, Picture

NOW = datetime(2026, 1, 1, tzinfo=UTC)
BASE = TargetLimits(failures=3, window=60, recovery=30)
ME = Caller(UUID(int=1), 1, 10)
PROVEN = Circuit(proven_at=NOW - timedelta(hours=1))
OPEN = Circuit(state="OPEN", failures=3, next_retry_at=NOW + timedelta(seconds=30), opened_at=NOW)


def key(number: int = 1) -> Key:
    return Key(UUID(int=9), f"test.call:{number}")


class Watch:
    """A clock that the test sets, and the rows that each look reads."""

    def __init__(self, **options: int) -> None:
        self.seconds = 0.0
        self.looks = 0
        self.unclean: dict[Key, Circuit] = {}
        self.rules: tuple[TargetRule, ...] = ()
        self.whole = True
        self.memory = Memory(self.read, BASE, lambda: self.seconds, **options)
        self.memory.refresh()

    def read(self) -> Picture:
        self.looks += 1
        at = NOW + timedelta(seconds=self.seconds)
        return Picture(at, dict(self.unclean), self.rules, self.whole)

    def later(self, seconds: float) -> None:
        self.seconds += seconds
        self.memory.refresh()


def test_it_reads_once_a_second_at_most() -> None:
    watch = Watch()
    for _ in range(10):
        watch.later(0.25)

    assert watch.looks == 3


def test_a_target_that_was_seen_to_answer_needs_no_question() -> None:
    watch = Watch()
    assert watch.memory.entry(key(), ME) is None

    watch.memory.note(key(), PROVEN, NOW)

    assert watch.memory.entry(key(), ME) is Entry.FREE


def test_it_learns_from_others_that_a_target_rests_and_asks_when_it_is_clean_again() -> None:
    watch = Watch()
    watch.memory.note(key(), PROVEN, NOW)
    watch.unclean = {key(): OPEN}
    watch.later(1)
    assert watch.memory.entry(key(), ME) is Entry.HELD

    watch.unclean = {}
    watch.later(1)

    assert watch.memory.entry(key(), ME) is None


def test_a_rest_that_is_over_is_asked_about() -> None:
    watch = Watch()
    watch.unclean = {key(): OPEN}
    watch.later(29)
    assert watch.memory.entry(key(), ME) is Entry.HELD

    watch.seconds += 1.5  # not read again: the time passes all the same

    assert watch.memory.entry(key(), ME) is None


def test_a_target_that_failed_and_answered_since_is_free() -> None:
    watch = Watch()
    failed = Circuit(
        failures=2,
        window_until=NOW + timedelta(seconds=60),
        last_failure_at=NOW - timedelta(seconds=2),
        proven_at=NOW - timedelta(seconds=1),
    )
    watch.unclean = {key(): failed}
    watch.later(1)

    assert watch.memory.entry(key(), ME) is Entry.FREE


def test_when_there_are_too_many_to_be_read_each_is_asked_about() -> None:
    watch = Watch()
    watch.memory.note(key(), PROVEN, NOW)
    watch.whole = False
    watch.later(1)

    assert watch.memory.entry(key(), ME) is None


def test_it_forgets_those_that_were_not_used_for_longest() -> None:
    watch = Watch(kept=3)
    for number in (1, 2, 3, 1, 4):
        watch.memory.note(key(number), PROVEN, NOW)

    known = [n for n in (1, 2, 3, 4) if watch.memory.entry(key(n), ME) is Entry.FREE]

    assert known == [1, 3, 4]


def test_rules_that_change_hold_within_a_second() -> None:
    watch = Watch()
    assert watch.memory.limits("test.call:1").failures == 3

    watch.rules = (TargetRule("test.call:*", failures=7),)
    watch.later(1)

    assert watch.memory.limits("test.call:1").failures == 7
