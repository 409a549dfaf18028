"""The state machine of a circuit: a call is requested, fails or succeeds. This module is pure.

The pattern is Michael Nygard's (Release It!, "Circuit Breaker"), with one addition: a target that
has never answered, or has failed since its last answer, is *guarded*. Its number of concurrent
calls is limited to the failures that remain until the threshold. So all workers together call a
target that never answers at most as many times as the threshold says before its circuit opens.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from runners.public.targets import TargetLimits


class CircuitState(StrEnum):
    """The state of a circuit: it allows calls (CLOSED), no calls (OPEN) or a probe (HALF_OPEN)."""

    CLOSED = "CLOSED"
    OPEN = "OPEN"
    HALF_OPEN = "HALF_OPEN"


_S = CircuitState
MOVES: Mapping[str, frozenset[str]] = {
    _S.CLOSED: frozenset({_S.OPEN}),
    _S.OPEN: frozenset({_S.HALF_OPEN, _S.CLOSED}),
    _S.HALF_OPEN: frozenset({_S.OPEN, _S.CLOSED, _S.HALF_OPEN}),
}


@dataclass(frozen=True, slots=True)
class Circuit:
    """The circuit of one target, as stored in its row (`CircuitBreaker` explains the fields)."""

    state: str = _S.CLOSED
    failures: int = 0
    answers: int = 0
    window_until: datetime | None = None
    last_failure_at: datetime | None = None
    last_error: str = ""
    proven_at: datetime | None = None
    trials: int = 0
    trials_until: datetime | None = None
    opened_at: datetime | None = None
    times_opened: int = 0
    next_retry_at: datetime | None = None
    probe_run_id: UUID | None = None
    probe_token: int | None = None
    probe_until: datetime | None = None
    called_until: datetime | None = None


class Entry(StrEnum):
    """The permission for a call: free, a counted trial, the only probe, or none (held)."""

    FREE = "free"
    TRIAL = "trial"
    PROBE = "probe"
    HELD = "held"


@dataclass(frozen=True, slots=True)
class Caller:
    """The run that wants to call, its lease's token, and the call's time limit in seconds."""

    run_id: UUID
    token: int
    seconds: float


def guarded(circuit: Circuit, now: datetime) -> bool:
    """Return whether a closed circuit's target never answered, or failed since its last answer.

    A failure counts until its window is over.
    """
    if circuit.state != _S.CLOSED:
        return False
    if circuit.proven_at is None:
        return True
    failed = circuit.last_failure_at
    return counted(circuit, now) > 0 and failed is not None and failed >= circuit.proven_at


def free(circuit: Circuit, now: datetime) -> bool:
    """Return whether calls need no permission from the breaker."""
    return circuit.state == _S.CLOSED and not guarded(circuit, now)


def counted(circuit: Circuit, now: datetime) -> int:
    """Return the number of failures in the current window; 0 after the window has ended."""
    running = circuit.window_until is not None and circuit.window_until > now
    return circuit.failures if running else 0


def due(circuit: Circuit, now: datetime) -> bool:
    """Return whether a probe may call: the recovery time is over, or the last probe was lost."""
    if circuit.state == _S.OPEN:
        return circuit.next_retry_at is None or circuit.next_retry_at <= now
    return circuit.state == _S.HALF_OPEN and (
        circuit.probe_until is None or circuit.probe_until <= now
    )


def enter(
    circuit: Circuit, caller: Caller, limits: TargetLimits, now: datetime
) -> tuple[Circuit, Entry]:
    """Decide whether this call may be made now; return the new circuit and the decision."""
    if free(circuit, now):
        return circuit, Entry.FREE
    if circuit.state == _S.CLOSED:
        return _try(circuit, caller, limits, now)
    if not due(circuit, now):
        return circuit, Entry.HELD
    probing = replace(
        circuit,
        state=_S.HALF_OPEN,
        probe_run_id=caller.run_id,
        probe_token=caller.token,
        probe_until=now + timedelta(seconds=caller.seconds),
        called_until=None,
    )
    return probing, Entry.PROBE


def failed(
    circuit: Circuit,
    entry: Entry,
    caller: Caller,
    error: str,
    limits: TargetLimits,
    now: datetime,
    *,
    answers: int = 0,
) -> Circuit:
    """Return the circuit after an allowed call, whose permission was `entry`, failed with `error`.

    `answers` is the number of answered calls that are not yet counted; they keep the circuit of a
    busy target with occasional failures closed. An abandoned probe changes nothing. A trial or a
    free call changes only a closed circuit.
    """
    if entry is Entry.PROBE:
        return _again(circuit, error, limits, now) if _probes(circuit, caller) else circuit
    if circuit.state != _S.CLOSED:
        return circuit
    fresh = _without_old(circuit, now)
    noted = replace(
        _given_back(fresh, entry),
        failures=fresh.failures + 1,
        answers=fresh.answers + answers,
        window_until=fresh.window_until or now + timedelta(seconds=limits.window),
        last_failure_at=now,
        last_error=error,
        called_until=None,
    )
    return _opened(noted, limits, now) if _fails(noted, limits) else noted


def answered(circuit: Circuit, entry: Entry, caller: Caller, now: datetime) -> Circuit:
    """Return the circuit after the target answered a call, even with a rejection."""
    if entry is Entry.PROBE:
        if not _probes(circuit, caller):
            return circuit
        return replace(closed(circuit), proven_at=now)
    if circuit.state != _S.CLOSED:
        return circuit
    fresh = _given_back(_without_old(circuit, now), entry)
    answers = fresh.answers + 1 if fresh.failures else 0
    return replace(fresh, answers=answers, proven_at=now, called_until=None)


def undone(circuit: Circuit, entry: Entry, caller: Caller, now: datetime) -> Circuit:
    """Return the circuit after an allowed call was not made."""
    if entry is Entry.TRIAL and circuit.state == _S.CLOSED:
        return _given_back(_without_old(circuit, now), entry)
    if entry is Entry.PROBE and _probes(circuit, caller):
        return replace(_unprobed(circuit), state=_S.OPEN, next_retry_at=now)
    return circuit


def closed(circuit: Circuit) -> Circuit:
    """Return the circuit in the state CLOSED, without its failures and answers."""
    return replace(
        _unprobed(circuit),
        state=_S.CLOSED,
        failures=0,
        answers=0,
        window_until=None,
        proven_at=None,
        trials=0,
        trials_until=None,
        opened_at=None,
        next_retry_at=None,
        called_until=None,
    )


def room(circuit: Circuit, limits: TargetLimits, now: datetime) -> int | None:
    """Return the number of held runs that may be woken now; None if the number is not limited.

    The number is 0 until `called_until`. The next call to the target, or the end of a call, clears
    that time.
    """
    if free(circuit, now):
        return None
    if circuit.called_until is not None and circuit.called_until > now:
        return 0
    if circuit.state == _S.CLOSED:
        fresh = _without_old(circuit, now)
        return max(0, _at_once(fresh, limits) - fresh.trials)
    return int(due(circuit, now))


def called(circuit: Circuit, until: datetime, now: datetime) -> Circuit:
    """Return the circuit after waking held runs, which should call the target before `until`."""
    return circuit if free(circuit, now) else replace(circuit, called_until=until)


def _try(
    circuit: Circuit, caller: Caller, limits: TargetLimits, now: datetime
) -> tuple[Circuit, Entry]:
    fresh = _without_old(circuit, now)
    if fresh.trials >= _at_once(fresh, limits):
        return circuit, Entry.HELD
    until = now + timedelta(seconds=caller.seconds)
    latest = until if fresh.trials_until is None else max(fresh.trials_until, until)
    trying = replace(fresh, trials=fresh.trials + 1, trials_until=latest, called_until=None)
    return trying, Entry.TRIAL


def _at_once(circuit: Circuit, limits: TargetLimits) -> int:
    """Return how many concurrent calls a guarded target may get: the failures left before opening.

    The number is 0 if the circuit must open, and otherwise at least 1.
    """
    return 0 if _fails(circuit, limits) else max(1, limits.failures - circuit.failures)


def _fails(circuit: Circuit, limits: TargetLimits) -> bool:
    """Return whether the threshold is reached, and at least half of the window's calls failed."""
    return circuit.failures >= max(limits.failures, circuit.answers)


def _again(circuit: Circuit, error: str, limits: TargetLimits, now: datetime) -> Circuit:
    """Return the circuit after a failed probe, open again for the recovery time."""
    return replace(
        _unprobed(circuit),
        state=_S.OPEN,
        last_failure_at=now,
        last_error=error,
        next_retry_at=now + timedelta(seconds=limits.recovery),
    )


def _opened(circuit: Circuit, limits: TargetLimits, now: datetime) -> Circuit:
    return replace(
        circuit,
        state=_S.OPEN,
        trials=0,
        trials_until=None,
        opened_at=now,
        times_opened=circuit.times_opened + 1,
        next_retry_at=now + timedelta(seconds=limits.recovery),
    )


def _probes(circuit: Circuit, caller: Caller) -> bool:
    """Return whether this caller still holds the probe."""
    named = (circuit.probe_run_id, circuit.probe_token)
    return circuit.state == _S.HALF_OPEN and named == (caller.run_id, caller.token)


def _unprobed(circuit: Circuit) -> Circuit:
    return replace(
        circuit, probe_run_id=None, probe_token=None, probe_until=None, called_until=None
    )


def _given_back(circuit: Circuit, entry: Entry) -> Circuit:
    trials = max(0, circuit.trials - (entry is Entry.TRIAL))
    return replace(circuit, trials=trials, trials_until=circuit.trials_until if trials else None)


def _trying(circuit: Circuit, now: datetime) -> int:
    """Return the number of running trials; 0 if they have expired."""
    running = circuit.trials_until is not None and circuit.trials_until > now
    return circuit.trials if running else 0


def _without_old(circuit: Circuit, now: datetime) -> Circuit:
    """Return the circuit without expired failures and lost trials."""
    failures, trials = counted(circuit, now), _trying(circuit, now)
    return replace(
        circuit,
        failures=failures,
        answers=circuit.answers if failures else 0,
        window_until=circuit.window_until if failures else None,
        trials=trials,
        trials_until=circuit.trials_until if trials else None,
    )
