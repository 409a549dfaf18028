"""The breakers' rows: read, and changed by one decision at a time under the row's lock.

Nobody else writes them. No lock is held while a target is called, and the gate that comes here
holds none of an execution or a run. Lock order: workspace, execution, run, breaker.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from executions.public import addresses
from executions.public.access import Actor, record
from executions.public.conditions import ReportedCondition, condition_began
from executions.public.database import ClockTimestamp, database_now, transaction
from runners.public.targets import TargetRule
from valkyr_plugins.circuits import statements
from valkyr_plugins.circuits.breaker import Circuit, CircuitState
from valkyr_plugins.circuits.memory import Key, Picture
from valkyr_plugins.circuits.models import CircuitBreaker

log = logging.getLogger(__name__)

MOST_UNCLEAN = 5_000
MOST_RULES = 1_000
OPEN = "CIRCUIT_OPEN"  # the condition of an open circuit
_NAMES = tuple(field.name for field in fields(Circuit))
_ENGINE = Actor.system("circuit breaker")
Move = Callable[[Circuit, datetime], Circuit]


@dataclass(frozen=True, slots=True)
class Change:
    """A breaker's row before and after a decision, and the database's time of it."""

    id: UUID
    before: Circuit
    after: Circuit
    now: datetime


def picture() -> Picture:
    """All circuits that are not clean (at most 5,000, those that rest first), and the rules."""
    unclean = CircuitBreaker.objects.raw(statements.statement("unclean"), {"most": MOST_UNCLEAN})
    known = {Key(row.workspace_id, row.target): circuit_of(row) for row in unclean}
    at, rules = _rules()
    return Picture(at=at, unclean=known, rules=rules, whole=len(known) < MOST_UNCLEAN)


def rules() -> tuple[TargetRule, ...]:
    """The administrators' rules, at most 1,000."""
    return _rules()[1]


def _rules() -> tuple[datetime, tuple[TargetRule, ...]]:
    """The database's time, and the rules."""
    found = statements.fetch("rules", {"most": MOST_RULES})
    return found[0][0], tuple(TargetRule(*said) for _, *said in found if said[0] is not None)


def look(key: Key) -> tuple[Circuit, datetime]:
    """The circuit as it is, and the database's time; one query, no lock."""
    row = _rows(key).annotate(now=ClockTimestamp()).first()
    return (Circuit(), database_now()) if row is None else (circuit_of(row), row.now)


def change(key: Key, move: Move) -> Change:
    """Change a circuit by a pure decision, under its lock.

    Opening is told within the transaction: the condition, and a line of the audit trail.
    """
    with transaction.atomic():
        row = _locked(key) or _made(key)
        before, now = circuit_of(row), row.now
        after = move(before, now)
        changed = {
            name: getattr(after, name)
            for name in _NAMES
            if getattr(after, name) != getattr(before, name)
        }
        if changed:
            CircuitBreaker.objects.filter(pk=row.pk).update(**changed)
        done = Change(row.pk, before, after, now)
        if _opens(done):
            _tell(key, done)
    if before.state != after.state:
        log.warning(
            "circuit of %s (workspace %s) went from %s to %s; last error: %s",
            key.target, key.workspace_id, before.state, after.state, after.last_error or "none",
        )  # fmt: skip
    return done


def circuit_of(row: CircuitBreaker) -> Circuit:
    """A row as decisions take it."""
    return Circuit(**{name: getattr(row, name) for name in _NAMES})


def _rows(key: Key) -> Any:
    return CircuitBreaker.objects.filter(workspace_id=key.workspace_id, target=key.target)


def _locked(key: Key) -> Any:
    return _rows(key).select_for_update(no_key=True).annotate(now=ClockTimestamp()).first()


def _made(key: Key) -> Any:
    """The row of a target that had none; of two who make it at once, one waits for the other."""
    CircuitBreaker.objects.bulk_create(
        [CircuitBreaker(workspace_id=key.workspace_id, target=key.target)], ignore_conflicts=True
    )
    return _locked(key)


def _opens(done: Change) -> bool:
    return (done.before.state, done.after.state) == (CircuitState.CLOSED, CircuitState.OPEN)


def _tell(key: Key, done: Change) -> None:
    """That a target rests; what its calls said is kept, no payload is."""
    record(
        _ENGINE,
        "circuit.open",
        workspace_id=key.workspace_id,
        object_type="CircuitBreaker",
        object_id=done.id,
        before={"state": done.before.state},
        after={"state": done.after.state},
        details={
            "target": key.target,
            "failures": done.after.failures,
            "lastError": done.after.last_error[:500],
            "nextRetryAt": done.after.next_retry_at and done.after.next_retry_at.isoformat(),
        },
    )
    condition_began.send(
        CircuitBreaker,
        condition=ReportedCondition(
            OPEN,
            "circuit",
            done.id,
            key.workspace_id,
            f"The circuit of {key.target} opened: its steps wait until it answers.",
            addresses.page("valkyr_circuits_circuitbreaker", done.id),
            {"circuitId": str(done.id), "target": key.target},
        ),
    )
