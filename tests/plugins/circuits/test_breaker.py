"""Tests of a circuit's state after a call is requested, fails, succeeds, or is not made."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from runners.targets.rules import TargetLimits
from valkyr_plugins.circuits.breaker import (
    Caller,
    Circuit,
    Entry,
    answered,
    called,
    closed,
    counted,
    enter,
    failed,
    free,
    guarded,
    room,
    undone,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LIMITS = TargetLimits(failures=3, window=60, recovery=30)
PROVEN = Circuit(proven_at=NOW - timedelta(days=1))


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def caller(number: int = 1, token: int = 1) -> Caller:
    return Caller(UUID(int=number), token, 10)


def failing(circuit: Circuit, times: Iterable[float], entry: Entry = Entry.FREE) -> Circuit:
    for seconds in times:
        circuit = failed(circuit, entry, caller(), f"down {seconds}", LIMITS, at(seconds))
    return circuit


def opened() -> Circuit:
    return failing(PROVEN, [0, 1, 2])


def probing(number: int = 1, seconds: float = 32) -> Circuit:
    circuit, entry = enter(opened(), caller(number), LIMITS, at(seconds))
    assert entry is Entry.PROBE
    return circuit


def test_a_target_that_answers_lets_everybody_through_and_changes_nothing() -> None:
    assert enter(PROVEN, caller(), LIMITS, NOW) == (PROVEN, Entry.FREE)


def test_a_new_target_is_let_as_many_calls_as_it_may_fail() -> None:
    circuit, entries = Circuit(), []
    for number in range(5):
        circuit, entry = enter(circuit, caller(number), LIMITS, NOW)
        entries.append(entry)

    assert entries == [Entry.TRIAL] * 3 + [Entry.HELD] * 2
    assert circuit.trials == 3


def test_a_failed_call_takes_its_place_and_an_answered_one_frees_all() -> None:
    circuit = enter(Circuit(), caller(), LIMITS, NOW)[0]
    circuit = failed(circuit, Entry.TRIAL, caller(), "down", LIMITS, at(1))
    assert (circuit.failures, circuit.trials) == (1, 0)

    circuit = enter(circuit, caller(2), LIMITS, at(2))[0]
    circuit = answered(circuit, Entry.TRIAL, caller(2), at(3))

    assert free(circuit, at(3))
    assert circuit.failures == 1


def test_a_proven_target_is_guarded_from_its_failure_until_it_answers_again() -> None:
    circuit = failing(PROVEN, [0])
    assert guarded(circuit, at(1))

    circuit = answered(circuit, Entry.FREE, caller(), at(2))

    assert free(circuit, at(2))


def test_it_opens_at_the_threshold_within_a_window() -> None:
    circuit = opened()

    assert circuit.state == "OPEN"
    assert circuit.next_retry_at == at(32)
    assert (circuit.opened_at, circuit.times_opened) == (at(2), 1)
    assert circuit.last_error == "down 2"


def test_failures_are_forgotten_when_their_window_is_over() -> None:
    circuit = failing(PROVEN, [0, 1])
    assert counted(circuit, at(59)) == 2
    assert counted(circuit, at(60)) == 0
    assert free(circuit, at(60))

    circuit = failing(circuit, [60])

    assert (circuit.state, circuit.failures, circuit.window_until) == ("CLOSED", 1, at(120))


def test_the_window_begins_with_its_first_failure_and_does_not_slide() -> None:
    assert failing(PROVEN, [0, 59]).window_until == at(60)


def test_trials_that_were_lost_are_void_after_their_time() -> None:
    circuit = Circuit()
    for number in range(3):
        circuit = enter(circuit, caller(number), LIMITS, NOW)[0]
    assert enter(circuit, caller(9), LIMITS, at(9))[1] is Entry.HELD

    circuit, entry = enter(circuit, caller(9), LIMITS, at(10))

    assert (entry, circuit.trials) == (Entry.TRIAL, 1)


def test_an_open_circuit_holds_everybody_until_its_rest_is_over() -> None:
    circuit = opened()

    assert enter(circuit, caller(), LIMITS, at(31))[1] is Entry.HELD
    assert enter(circuit, caller(), LIMITS, at(32))[1] is Entry.PROBE


def test_one_probe_at_a_time_is_let_through() -> None:
    circuit = probing(seconds=32)

    assert circuit.state == "HALF_OPEN"
    assert (circuit.probe_run_id, circuit.probe_token) == (UUID(int=1), 1)
    assert enter(circuit, caller(2), LIMITS, at(33))[1] is Entry.HELD


def test_a_probe_that_died_makes_way_for_another() -> None:
    circuit, entry = enter(probing(seconds=32), caller(2, 7), LIMITS, at(42))

    assert entry is Entry.PROBE
    assert (circuit.probe_run_id, circuit.probe_token) == (UUID(int=2), 7)


def test_a_probe_that_is_answered_closes_the_circuit() -> None:
    circuit = answered(probing(), Entry.PROBE, caller(), at(33))

    assert free(circuit, at(33))
    assert (circuit.failures, circuit.next_retry_at, circuit.probe_run_id) == (0, None, None)
    assert circuit.times_opened == 1


def test_a_probe_that_fails_lets_it_rest_again_as_long() -> None:
    circuit = failed(probing(), Entry.PROBE, caller(), "still down", LIMITS, at(33))

    assert (circuit.state, circuit.next_retry_at) == ("OPEN", at(63))
    assert (circuit.opened_at, circuit.times_opened) == (at(2), 1)
    assert circuit.last_error == "still down"


@pytest.mark.parametrize("token", [1, 2])
def test_a_probe_that_was_given_up_changes_nothing_any_more(token: int) -> None:
    circuit = enter(probing(), caller(1 if token == 2 else 2, token), LIMITS, at(50))[0]

    assert answered(circuit, Entry.PROBE, caller(1, 1), at(51)) == circuit
    assert failed(circuit, Entry.PROBE, caller(1, 1), "late", LIMITS, at(51)) == circuit


def test_calls_from_before_it_opened_change_nothing_when_they_end() -> None:
    circuit = opened()

    assert answered(circuit, Entry.FREE, caller(), at(3)) == circuit
    assert failed(circuit, Entry.TRIAL, caller(), "late", LIMITS, at(3)) == circuit


def test_a_call_that_was_not_made_gives_back_what_it_took() -> None:
    trial = enter(Circuit(), caller(), LIMITS, NOW)[0]
    probe = undone(probing(), Entry.PROBE, caller(), at(33))

    assert undone(trial, Entry.TRIAL, caller(), at(1)) == Circuit()
    assert enter(probe, caller(2), LIMITS, at(33))[1] is Entry.PROBE


def test_a_circuit_closed_by_hand_is_guarded_until_it_answers() -> None:
    circuit = closed(opened())

    assert guarded(circuit, at(3))
    assert room(circuit, LIMITS, at(3)) == 3
    assert circuit.times_opened == 1


def test_as_many_held_steps_are_woken_as_may_call() -> None:
    assert room(PROVEN, LIMITS, NOW) is None
    assert room(failing(PROVEN, [0]), LIMITS, at(1)) == 2
    assert room(opened(), LIMITS, at(3)) == 0
    assert room(opened(), LIMITS, at(32)) == 1
    assert room(probing(seconds=32), LIMITS, at(33)) == 0


def test_those_that_were_woken_are_waited_for_before_more_are() -> None:
    circuit = called(opened(), at(42), at(32))
    assert room(circuit, LIMITS, at(33)) == 0
    assert room(circuit, LIMITS, at(42)) == 1

    came = enter(circuit, caller(), LIMITS, at(33))[0]

    assert came.called_until is None


def test_a_busy_target_of_which_few_calls_fail_goes_on_being_called() -> None:
    circuit = PROVEN
    for second in range(10):
        circuit = failed(circuit, Entry.FREE, caller(), "busy", LIMITS, at(second), answers=4)
        assert circuit.state == "CLOSED"
        circuit = answered(circuit, Entry.FREE, caller(), at(second + 0.5))

    assert (circuit.failures, circuit.answers) == (10, 50)
    assert enter(circuit, caller(), LIMITS, at(10))[1] is Entry.FREE


def test_a_busy_target_rests_once_half_of_its_calls_fail() -> None:
    circuit = failed(PROVEN, Entry.FREE, caller(), "busy", LIMITS, at(0), answers=4)

    circuit = failing(circuit, [1, 2, 3][:2])
    assert circuit.state == "CLOSED"
    assert enter(circuit, caller(), LIMITS, at(2))[1] is Entry.TRIAL

    assert failing(circuit, [3]).state == "OPEN"


def test_what_was_answered_before_the_window_does_not_count() -> None:
    circuit = failed(PROVEN, Entry.FREE, caller(), "busy", LIMITS, at(0), answers=1_000)

    assert failing(circuit, [61, 62, 63]).state == "OPEN"


def test_a_threshold_lowered_meanwhile_does_not_let_more_through() -> None:
    circuit = failing(PROVEN, [0, 1])

    assert enter(circuit, caller(), replace(LIMITS, failures=1), at(2))[1] is Entry.HELD
    assert room(circuit, replace(LIMITS, failures=1), at(2)) == 0
