"""The ledger's figures: effects, repeated effects with reasons, and the auditor's findings."""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from executions.models import WorkflowExecution
from tests.support.auditor import Audit
from tests.support.id_arrays import among

MARKS = """
SELECT m.run, m.token, m.pid, coalesce(r.state, '')
  FROM test_effects m LEFT JOIN runners_run r ON r.id = m.run
 WHERE m.execution = ANY(%s)
"""
# Why an effect was repeated.
RETRY = "retry after a failure"
CRASH = "take-over after a crash"
LEASE = "take-over after a lease ran out"
SAME_LEASE = "twice under one lease"


class Mark(NamedTuple):
    """One effect: its lease, its process, and the end of its run."""

    run: UUID
    token: int
    pid: int
    state: str


@dataclass
class Ledger:
    """The figures of some executions."""

    effects: int = 0
    repeats: Counter[str] = field(default_factory=Counter)
    ended: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


def read(accepted: Collection[UUID], ids: Collection[UUID], injured: Collection[int]) -> Ledger:
    """Audit the executions; `injured` are processes that were killed, with their children."""
    ledger = Ledger()
    found = WorkflowExecution.objects.filter(pk__in=among(ids))
    states = dict(found.values_list("pk", "state"))
    lost = [pk for pk in accepted if pk not in states]
    ledger.problems += [f"execution {pk} was accepted and is not there" for pk in lost]
    ledger.ended = Counter(states.values())
    ledger.problems += Audit(ids).problems
    _effects(ledger, _marks(ids), injured)
    return ledger


def _marks(ids: Collection[UUID]) -> list[Mark]:
    with connection.cursor() as cursor:
        cursor.execute(MARKS, [list(ids)])
        return [Mark(*row) for row in cursor.fetchall()]


def _effects(ledger: Ledger, marks: Sequence[Mark], injured: Collection[int]) -> None:
    """Count repeats: for each run, the effects before its newest, and those of failed attempts."""
    of_run: dict[Any, list[Mark]] = defaultdict(list)
    for mark in marks:
        of_run[mark.run].append(mark)
    for own in of_run.values():
        _of_run(ledger, sorted(own, key=lambda mark: mark.token), injured)
    ledger.effects = len(marks)


def _of_run(ledger: Ledger, marks: Sequence[Mark], injured: Collection[int]) -> None:
    for earlier, later in pairwise(marks):
        if earlier.token == later.token:
            ledger.repeats[SAME_LEASE] += 1
            ledger.problems.append(
                f"run {later.run} did its effect twice under the token {later.token}"
            )
        else:
            ledger.repeats[CRASH if earlier.pid in injured else LEASE] += 1
    if marks[-1].state == "FAILED":
        ledger.repeats[RETRY] += 1
