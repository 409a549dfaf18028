"""The states of a run and the classes of failure; a diagram in the docs shows the transitions."""

from enum import StrEnum


class RunState(StrEnum):
    """The state of one attempt of one step."""

    PENDING = "PENDING"
    LEASED = "LEASED"
    RUNNING = "RUNNING"
    WAITING = "WAITING"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    DLQ = "DLQ"
    CANCELLED = "CANCELLED"
    SKIPPED = "SKIPPED"


class WaitKind(StrEnum):
    """The kind of a WAITING run's wait; BODY is the wait of a container for its iterations."""

    BODY = "body"
    TIMER = "timer"
    APPROVAL = "approval"
    EVENT = "event"
    CALLBACK = "callback"
    CHILD = "child"
    CIRCUIT = "circuit"  # the circuit of the step's target is open, and the step has not run yet
    QUOTA = "quota"  # the step would exceed a quota, and has not run yet


class ErrorType(StrEnum):
    """The four classes of failure; only TRANSIENT and TIMEOUT are retried."""

    TRANSIENT = "TRANSIENT"
    PERMANENT = "PERMANENT"
    TIMEOUT = "TIMEOUT"
    CIRCUIT_OPEN = "CIRCUIT_OPEN"


_S = RunState

LIVE: frozenset[str] = frozenset({_S.PENDING, _S.LEASED, _S.RUNNING, _S.WAITING})
HELD: frozenset[str] = frozenset({_S.LEASED, _S.RUNNING})
# Waits that hold a step before its module runs. After such a wait, the step is run, not woken.
HOLDS: frozenset[str] = frozenset({WaitKind.CIRCUIT, WaitKind.QUOTA})
FINAL: frozenset[str] = frozenset({_S.SUCCESS, _S.FAILED, _S.DLQ, _S.CANCELLED, _S.SKIPPED})
# A step has at most one run in these states (enforced by a partial unique index).
IDENTITY: frozenset[str] = LIVE | {_S.SUCCESS, _S.SKIPPED}

MOVES: dict[str, frozenset[str]] = {
    _S.PENDING: frozenset({_S.LEASED, _S.RUNNING, _S.CANCELLED, _S.DLQ}),
    _S.LEASED: frozenset({_S.RUNNING, _S.PENDING, _S.SUCCESS, _S.FAILED, _S.DLQ, _S.CANCELLED}),
    _S.RUNNING: frozenset(
        {_S.PENDING, _S.RUNNING, _S.WAITING, _S.SUCCESS, _S.FAILED, _S.DLQ, _S.CANCELLED}
    ),
    _S.WAITING: frozenset({_S.PENDING, _S.SUCCESS, _S.FAILED, _S.DLQ, _S.CANCELLED}),
    _S.SUCCESS: frozenset(),
    _S.FAILED: frozenset(),
    _S.DLQ: frozenset(),
    _S.CANCELLED: frozenset(),
    _S.SKIPPED: frozenset(),
}
