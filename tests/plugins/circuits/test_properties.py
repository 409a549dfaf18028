"""Circuits keep their guarantees under any sequence of calls."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from runners.targets.rules import TargetLimits
from valkyr_plugins.circuits.breaker import (
    MOVES,
    Caller,
    Circuit,
    Entry,
    answered,
    closed,
    enter,
    failed,
    free,
    room,
    undone,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECONDS = 10.0  # the possible duration of a call
limits = st.builds(
    TargetLimits,
    failures=st.integers(1, 6),
    window=st.floats(1, 100),
    recovery=st.floats(1, 100),
    timeout=st.none(),
)
# The next event, the affected call, and the time since the previous event.
events = st.tuples(
    st.sampled_from(["ask", "ask", "ask", "fail", "answer", "undo", "die", "reset"]),
    st.integers(0, 20),
    st.floats(0, 40),
)


@settings(deadline=None)
@given(limits, st.lists(events, max_size=60))
def test_states_move_as_drawn_and_one_call_at_a_time_probes(limits, happenings):
    circuit, now, under_way, number = Circuit(), NOW, [], 0
    for what, which, passed in happenings:
        now += timedelta(seconds=passed)
        under_way = [call for call in under_way if call[2] > now]  # no calls for longer
        before = circuit
        if what == "ask":
            number += 1
            caller = Caller(UUID(int=number), 1, SECONDS)
            circuit, entry = enter(circuit, caller, limits, now)
            if entry is not Entry.HELD:
                under_way.append((caller, entry, now + timedelta(seconds=SECONDS)))
        elif what == "reset":
            circuit = closed(circuit)
        elif under_way:
            caller, entry, _ = under_way.pop(which % len(under_way))
            if what == "fail":
                circuit = failed(circuit, entry, caller, "down", limits, now)
            elif what == "answer":
                circuit = answered(circuit, entry, caller, now)
            elif what == "undo":
                circuit = undone(circuit, entry, caller, now)
        assert circuit.state == before.state or (
            circuit.state in MOVES[before.state] or what == "reset"
        )
        probes = [
            caller
            for caller, entry, _ in under_way
            if entry is Entry.PROBE
            and (circuit.probe_run_id, circuit.probe_token) == (caller.run_id, caller.token)
        ]
        assert len(probes) <= 1
        assert (circuit.state == "CLOSED") or circuit.next_retry_at is not None
        assert (circuit.state == "HALF_OPEN") == (circuit.probe_run_id is not None)
        assert circuit.trials >= 0
        assert (room(circuit, limits, now) is None) == free(circuit, now)


@settings(deadline=None)
@given(limits, st.integers(1, 40), st.data())
def test_a_target_that_is_dead_gets_its_threshold_and_then_one_call_a_rest(limits, callers, data):
    """A dead target gets the threshold's number of calls, and then one call per pause.

    This holds for any number of concurrent callers, and for any order of their failures, within one
    window.
    """
    circuit, now, trials, probes = Circuit(), NOW, 0, 0
    step = timedelta(seconds=limits.window / (callers * 4 + 4))
    under_way: list[Caller] = []
    for number in range(callers * 2):
        now += step
        caller = Caller(UUID(int=number), 1, 1000)
        circuit, entry = enter(circuit, caller, limits, now)
        if entry is Entry.TRIAL:
            trials += 1
            under_way.append(caller)
        elif entry is Entry.PROBE:
            probes += 1
            circuit = failed(circuit, entry, caller, "down", limits, now)
        assert entry is not Entry.FREE
        if under_way and data.draw(st.booleans()):
            lost = under_way.pop(data.draw(st.integers(0, len(under_way) - 1)))
            circuit = failed(circuit, Entry.TRIAL, lost, "down", limits, now)
    rests = 1 + int((now - NOW).total_seconds() / limits.recovery)
    assert trials <= limits.failures
    assert probes <= rests
