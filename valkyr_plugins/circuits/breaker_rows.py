"""Read and change the rows of breakers, one decision at a time under the row's lock.

`gate` deletes old failures and rows. No lock is held while a target is called. Locks are taken in
the order workspace, execution, run, breaker.
"""

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

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
OPEN = "CIRCUIT_OPEN"  # the condition that alerts report for an open circuit
_NAMES = tuple(field.name for field in fields(Circuit))
_ENGINE = Actor.system("circuit breaker")
Move = Callable[[Circuit, datetime], Circuit]


@dataclass(frozen=True, slots=True)
class Change:
    """A breaker's row before and after a decision, and the database's time of the decision."""

    id: UUID
    before: Circuit
    after: Circuit
    now: datetime


def picture() -> Picture:
    """Return the circuits that are not closed or have failures (at most 5,000), and the rules."""
    unclean = CircuitBreaker.objects.raw(
        statements.statement("open_or_failing_circuits"), {"most": MOST_UNCLEAN}
    )
    known = {Key(row.workspace_id, row.target): circuit_of(row) for row in unclean}
    at, rules = _rules()
    return Picture(at=at, unclean=known, rules=rules, whole=len(known) < MOST_UNCLEAN)


def rules() -> tuple[TargetRule, ...]:
    """Return the administrators' rules, at most 1,000."""
    return _rules()[1]


def _rules() -> tuple[datetime, tuple[TargetRule, ...]]:
    """Return the database's time, and the rules."""
    found = statements.fetch("rules", {"most": MOST_RULES})
    return found[0][0], tuple(TargetRule(*said) for _, *said in found if said[0] is not None)


def look(key: Key) -> tuple[Circuit, datetime]:
    """Return the circuit and the database's time. Uses at most two queries and no lock."""
    row = _rows(key).annotate(now=ClockTimestamp()).first()
    return (Circuit(), database_now()) if row is None else (circuit_of(row), row.now)


def change(key: Key, move: Move) -> Change:
    """Change a circuit with a pure decision, under its lock; return the change.

    If a closed circuit opens, the same transaction reports the condition and writes an audit entry.
    """
    with transaction.atomic():
        done = _changed(_locked(key) or _made(key), key, move)
    _log(key, done)
    return done


def look_all(keys: Collection[Key]) -> tuple[dict[Key, Circuit], datetime]:
    """Return the circuits of the targets that have a row, and the database's time.

    Uses two queries.
    """
    found = {Key(row.workspace_id, row.target): circuit_of(row) for row in _rows_of(keys)}
    return found, database_now()


def change_all(moves: Mapping[Key, Move]) -> dict[Key, Change]:
    """Change several circuits, each as `change` does, in one transaction.

    Missing rows are created first and all are locked in one order, which prevents deadlocks.
    """
    keys = sorted(moves, key=lambda key: (key.workspace_id, key.target))
    if not keys:
        return {}
    with transaction.atomic():
        known = {Key(row.workspace_id, row.target) for row in _rows_of(keys)}
        CircuitBreaker.objects.bulk_create(
            [
                CircuitBreaker(workspace_id=key.workspace_id, target=key.target)
                for key in keys
                if key not in known
            ],
            ignore_conflicts=True,
        )
        locked = _rows_of(keys).order_by("workspace_id", "target").select_for_update(no_key=True)
        rows = list(locked.annotate(now=ClockTimestamp()))
        done = {}
        for row in rows:
            key = Key(row.workspace_id, row.target)
            done[key] = _moved(row, moves[key])
        CircuitBreaker.objects.bulk_update(rows, _NAMES)
        for key, change in done.items():
            if _opens(change):
                _tell(key, change)
    for key, change in done.items():
        _log(key, change)
    return done


def _changed(row: CircuitBreaker, key: Key, move: Move) -> Change:
    before = circuit_of(row)
    done = _moved(row, move)
    changed = {
        name: getattr(done.after, name)
        for name in _NAMES
        if getattr(done.after, name) != getattr(before, name)
    }
    if changed:
        CircuitBreaker.objects.filter(pk=row.pk).update(**changed)
    if _opens(done):
        _tell(key, done)
    return done


def _moved(row: Any, move: Move) -> Change:
    """Apply a decision to a locked row's fields without saving the row; return the change."""
    before = circuit_of(row)
    after = move(before, row.now)
    for name in _NAMES:
        setattr(row, name, getattr(after, name))
    return Change(row.pk, before, after, row.now)


def _log(key: Key, done: Change) -> None:
    if done.before.state != done.after.state:
        log.warning(
            "circuit of %s (workspace %s) went from %s to %s; last error: %s",
            key.target, key.workspace_id, done.before.state, done.after.state,
            done.after.last_error or "none",
        )  # fmt: skip


def _rows_of(keys: Collection[Key]) -> QuerySet[CircuitBreaker]:
    named = (Q(workspace_id=key.workspace_id, target=key.target) for key in keys)
    return CircuitBreaker.objects.filter(reduce(or_, named))


def circuit_of(row: CircuitBreaker) -> Circuit:
    """Return the `Circuit` that a row stores, for decisions."""
    return Circuit(**{name: getattr(row, name) for name in _NAMES})


def _rows(key: Key) -> Any:
    return CircuitBreaker.objects.filter(workspace_id=key.workspace_id, target=key.target)


def _locked(key: Key) -> Any:
    return _rows(key).select_for_update(no_key=True).annotate(now=ClockTimestamp()).first()


def _made(key: Key) -> Any:
    """Create and return the row of a new target; of two concurrent callers, one waits."""
    CircuitBreaker.objects.bulk_create(
        [CircuitBreaker(workspace_id=key.workspace_id, target=key.target)], ignore_conflicts=True
    )
    return _locked(key)


def _opens(done: Change) -> bool:
    return (done.before.state, done.after.state) == (CircuitState.CLOSED, CircuitState.OPEN)


def _tell(key: Key, done: Change) -> None:
    """Record that a circuit opened, with its last error, and report the condition."""
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
            f"The circuit of {key.target} opened: its steps wait until the target answers.",
            addresses.page("valkyr_circuits_circuitbreaker", done.id),
            {"circuitId": str(done.id), "target": key.target},
        ),
    )
