"""The ledger's figures: effects, which of them were repeated and why, and what the auditor says."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection

from executions.models import WorkflowExecution
from tests.support.auditor import Audit

MARKS = """
SELECT m.run, m.token, m.pid, r.lease_token, r.state, r.superseded
  FROM test_effects m LEFT JOIN runners_run r ON r.id = m.run
 WHERE m.execution = ANY(%s)
"""
# Why an effect was done more than once.
RETRY = "retry after a failure"
CRASH = "take-over after a crash"
LEASE = "take-over after a lease ran out"
SAME_LEASE = "twice under one lease"


@dataclass
class Ledger:
    """Figures of some executions."""

    effects: int = 0
    repeats: Counter[str] = field(default_factory=Counter)
    ended: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


def read(accepted: Collection[UUID], ids: Collection[UUID], injured: Collection[int]) -> Ledger:
    """Audit the executions; `injured` are processes that were killed, with their children."""
    ledger = Ledger()
    found = WorkflowExecution.objects.filter(pk__in=list(ids))
    states = dict(found.values_list("pk", "state"))
    lost = [pk for pk in accepted if pk not in states]
    ledger.problems += [f"execution {pk} was accepted and is not there" for pk in lost]
    ledger.ended = Counter(states.values())
    ledger.problems += Audit(ids).problems
    _effects(ledger, _marks(ids), injured)
    return ledger


def _marks(ids: Collection[UUID]) -> Sequence[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(MARKS, [list(ids)])
        return cursor.fetchall()


def _effects(ledger: Ledger, marks: Sequence[tuple[Any, ...]], injured: Collection[int]) -> None:
    once: set[tuple[Any, int]] = set()
    for run, token, pid, newest, state, superseded in marks:
        ledger.effects += 1
        if (run, token) in once:
            ledger.repeats[SAME_LEASE] += 1
            ledger.problems.append(f"run {run} did its effect twice under the token {token}")
        once.add((run, token))
        if superseded:
            continue
        if newest is not None and token < newest:
            ledger.repeats[CRASH if pid in injured else LEASE] += 1
        elif state == "FAILED":
            ledger.repeats[RETRY] += 1
